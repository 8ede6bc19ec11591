"""Blocking engine calls, off the event loop: a bounded pool, a bounded queue, and a deadline on every wait."""

import asyncio
import errno
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from service.domain.deadline import Deadline
from service.domain.errors import DataFolderUnwritable, EngineLate, EngineUnavailable
from service.observation import Reading

Answer = TypeVar("Answer")

_UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR})

# What the engines' native parts say where they hand us no errno.
_UNWRITABLE_WORDS = (
    "no space left",
    "disk is full",
    "disk full",
    "read-only file system",
    "readonly database",
    "permission denied",
    "quota exceeded",
)

_UNWRITTEN = frozenset({"SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE"})
"""What sqlite says in words that tell nothing: "disk I/O error"."""


def engine_failure(engine: str, error: BaseException) -> EngineUnavailable | DataFolderUnwritable:
    """The service's own error for what an engine raised: a disk that takes no more is told apart from the rest."""
    text = str(error)
    out_of_disk = isinstance(error, OSError) and error.errno in _UNWRITABLE
    unwritten = getattr(error, "sqlite_errorname", None) in _UNWRITTEN
    if out_of_disk or unwritten or any(words in text.lower() for words in _UNWRITABLE_WORDS):
        return DataFolderUnwritable(
            f"{engine} can't write to the data folder: {text}. Make room, or give it the right to."
        )
    return EngineUnavailable(engine, f"{type(error).__name__}: {text}")


class EngineThreads:
    """A pool for one engine. `is_own` tells the exceptions that the engine raises from mistakes of ours.

    Native code can't be interrupted from outside: a call that outlives its deadline goes on in its thread, its answer
    is dropped, and it counts against the bound until it ends.
    """

    def __init__(self, engine: str, *, workers: int, waiting: int, is_own: Callable[[Exception], bool]) -> None:
        self._engine = engine
        self._is_own = is_own
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix=engine)
        self._limit = workers + waiting
        self._inside = 0
        self._counting = threading.Lock()

    async def run(self, work: Callable[[], Answer], deadline: Deadline | None = None) -> Answer:
        """Run `work` in the pool. Raises EngineLate, EngineUnavailable (also when the queue is full), or
        DataFolderUnwritable."""
        if deadline is not None and deadline.has_passed:
            raise EngineLate(self._engine)
        with self._counting:
            if self._inside >= self._limit:
                raise EngineUnavailable(self._engine, "too many calls are waiting; try again later")
            self._inside += 1
        try:
            future = self._pool.submit(work)
        except RuntimeError:
            self._leave()
            raise EngineUnavailable(self._engine, "it is closed") from None
        future.add_done_callback(self._make_room)
        try:
            async with asyncio.timeout(None if deadline is None else deadline.seconds_left):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            raise EngineLate(self._engine) from None
        except BaseException as error:
            # A panic in an extension module derives from BaseException and has no importable name.
            panicked = type(error).__name__ == "PanicException"
            if panicked or (isinstance(error, Exception) and self._is_own(error)):
                raise engine_failure(self._engine, error) from error
            raise

    async def close(self) -> None:
        """Wait for the calls that run and refuse new ones."""
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)

    def readings(self, role: str) -> Iterator[Reading]:
        """How long the queue is. role: what the engine is asked for here, such as reading."""
        labels = ("engine", self._engine), ("role", role)
        yield Reading("cogitave_query_engine_queue_calls", self._inside, labels)
        yield Reading("cogitave_query_engine_queue_limit", self._limit, labels)

    def _make_room(self, _: Future[Answer]) -> None:
        self._leave()

    def _leave(self) -> None:
        with self._counting:
            self._inside -= 1
