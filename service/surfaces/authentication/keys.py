"""API keys as they come in with requests: looked up once in a while, compared every time."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from service.domain.deadline import Deadline
from service.domain.errors import Unavailable
from service.domain.keys import ApiKey, opens_nothing, split
from service.ports import KeyStore
from service.settings import Settings
from service.surfaces.problems import CredentialsInvalid


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class _Known:
    """What the store said of an id, and when, on the monotonic clock."""

    key: ApiKey | None
    at: float


class KeyRing:
    """Keys by id, each as the store had it at most `key_staleness` ago: so long may a revoked key still be let in.

    While the store can't be asked, a key that it knew goes on being valid for `key_outage`: searches answer without
    the graph, and so must the question who asks. Nobody can revoke a key in a store that is down anyhow.
    """

    def __init__(self, store: KeyStore, settings: Settings, clock: Callable[[], datetime] = utc_now) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._asking: dict[str, asyncio.Task[_Known]] = {}
        self._noting: dict[str, asyncio.Task[None]] = {}

    async def key_of(self, text: str) -> ApiKey:
        """The valid key that this text is. Raises CredentialsInvalid, or Unavailable when nobody can say."""
        parts = split(text)
        if parts is None:
            raise CredentialsInvalid
        id, secret = parts
        key = await self.find(id)
        if key is None:
            opens_nothing(secret)
            raise CredentialsInvalid
        now = self._clock()
        if not key.opens(secret, now):
            raise CredentialsInvalid
        self._note_use(key, now)
        return key

    async def find(self, id: str) -> ApiKey | None:
        """The key of this id, if there is one, valid or not."""
        known = self._known.get(id)
        if known is None or time.monotonic() - known.at > self._settings.key_staleness / 1000:
            known = await self._ask(id, known)
        return known.key

    async def close(self) -> None:
        tasks = [*self._asking.values(), *self._noting.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, id: str, known: _Known | None) -> _Known:
        """However many wait for one key, the store is asked once; a caller who leaves takes no answer from others."""
        task = self._asking.get(id)
        if task is None:
            task = self._asking[id] = asyncio.create_task(self._load(id))
            task.add_done_callback(lambda done: self._answered(id, done))
        try:
            return await asyncio.shield(task)
        except Unavailable:
            if known is None or known.key is None or time.monotonic() - known.at > self._settings.key_outage:
                raise
            return known

    def _answered(self, id: str, done: "asyncio.Task[_Known]") -> None:
        self._asking.pop(id, None)
        if not done.cancelled():
            done.exception()  # whoever waited has it, and somebody who left needs none

    async def _load(self, id: str) -> _Known:
        key = await self._store.find(id, deadline=Deadline.after(self._settings.key_deadline))
        known = _Known(key, time.monotonic())
        if key is None:  # not remembered: whoever makes ids up would push out those that there are
            self._known.pop(id, None)
            return known
        self._known[id] = known
        self._known.move_to_end(id)
        while len(self._known) > self._settings.key_cache:
            self._known.popitem(last=False)
        return known

    def _note_use(self, key: ApiKey, now: datetime) -> None:
        """Written behind the request's back, and not for every request."""
        pause = timedelta(seconds=self._settings.key_use_interval)
        if key.id in self._noting or (key.last_used_at is not None and now - key.last_used_at < pause):
            return
        task = self._noting[key.id] = asyncio.create_task(self._write_use(key.id, now))
        task.add_done_callback(lambda _: self._noting.pop(key.id, None))

    async def _write_use(self, id: str, now: datetime) -> None:
        try:
            await self._store.used(id, now, deadline=Deadline.after(self._settings.key_deadline))
            await self._load(id)
        except Unavailable as error:
            structlog.get_logger(__name__).warning("the use of a key was not noted", key=id, reason=error.message)
