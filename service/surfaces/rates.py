"""Requests a minute by name, counted in memory, or in a Redis that several servers share."""

import asyncio
import math
import time
from typing import TYPE_CHECKING

import structlog
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage, RedisStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from service.domain.errors import SettingInvalid
from service.settings import Settings

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool

_LONGEST_WAIT_SECONDS = 60


class Rates:
    """A sliding window of a minute. A Redis that does not answer is left alone for `breaker_pause`; meanwhile each
    server counts for itself, so that nobody is refused for it, and nobody let through without end."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._alone = SlidingWindowCounterRateLimiter(MemoryStorage())
        address = settings.redis_url.get_secret_value()
        self._pool = _open(address, settings) if address else None
        self._together = None if self._pool is None else _limiter(address, self._pool)
        self._left_alone_until = float("-inf")

    async def wait(self, name: str, a_minute: int) -> int | None:
        """Count one request of `name`. None: it may go on; else the seconds after which another may be tried."""
        item = RateLimitItemPerMinute(a_minute)
        if self._together is not None and time.monotonic() >= self._left_alone_until:
            try:
                async with asyncio.timeout(self._settings.redis_deadline / 1000):
                    return await _wait(self._together, item, name)
            except Exception as error:  # what a client of Redis raises is of no one family
                self._left_alone_until = time.monotonic() + self._settings.breaker_pause / 1000
                reason = type(error).__name__  # its words may hold the address, and a password in it
                structlog.get_logger(__name__).warning("redis is left alone: each server counts alone", reason=reason)
        return await _wait(self._alone, item, name)

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.disconnect()


async def _wait(limiter: SlidingWindowCounterRateLimiter, item: RateLimitItemPerMinute, name: str) -> int | None:
    if await limiter.hit(item, name):
        return None
    window = await limiter.get_window_stats(item, name)
    return min(_LONGEST_WAIT_SECONDS, max(1, math.ceil(window.reset_time - time.time())))


def _limiter(address: str, pool: "ConnectionPool") -> SlidingWindowCounterRateLimiter:
    storage = RedisStorage(
        f"async+{address}",
        implementation="redispy",
        key_prefix="cogitave-query",
        connection_pool=pool,  # type: ignore[arg-type]
    )
    return SlidingWindowCounterRateLimiter(storage)


def _open(address: str, settings: Settings) -> "ConnectionPool":
    """Connects when first asked. Raises SettingInvalid."""
    try:
        from redis.asyncio import BlockingConnectionPool
    except ImportError:
        raise SettingInvalid("redis_url: it needs Redis' client: pip install 'cogitave-query[redis]'.") from None
    seconds = settings.redis_deadline / 1000
    try:
        return BlockingConnectionPool.from_url(
            address,
            max_connections=settings.engine_connections,
            timeout=seconds,
            socket_timeout=seconds,
            socket_connect_timeout=seconds,
        )
    except ValueError:
        raise SettingInvalid("redis_url: it is no URL of a Redis, such as redis://host:6379.") from None
