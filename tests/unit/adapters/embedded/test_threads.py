import asyncio
import errno
import threading
from collections.abc import Callable

import pytest

from adapters.embedded.threads import EngineThreads
from service.domain.deadline import Deadline
from service.domain.errors import DataFolderUnwritable, EngineLate, EngineUnavailable

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def threads(workers: int = 1, waiting: int = 1) -> EngineThreads:
    return EngineThreads("engine", workers=workers, waiting=waiting, is_own=lambda error: isinstance(error, ValueError))


def raising(error: Exception) -> Callable[[], None]:
    def work() -> None:
        raise error

    return work


async def test_the_answer_comes_back() -> None:
    pool = threads()
    assert await pool.run(lambda: 42, Deadline.after(10_000)) == 42
    assert await pool.run(lambda: 43) == 43
    await pool.close()


async def test_a_late_answer_is_not_waited_for() -> None:
    pool, go_on = threads(), threading.Event()
    with pytest.raises(EngineLate):
        await pool.run(lambda: go_on.wait(30), Deadline.after(20))
    go_on.set()
    assert await pool.run(lambda: 1, Deadline.after(10_000)) == 1
    await pool.close()


async def test_work_that_is_late_before_it_starts_never_starts() -> None:
    pool, done = threads(), []
    with pytest.raises(EngineLate):
        await pool.run(lambda: done.append(1), Deadline.after(-1))
    await pool.close()
    assert done == []


async def test_the_queue_has_a_bound_that_late_work_counts_against() -> None:
    pool, go_on = threads(workers=1, waiting=1), threading.Event()
    running = asyncio.create_task(pool.run(lambda: go_on.wait(30)))
    waiting = asyncio.create_task(pool.run(lambda: 2))
    await asyncio.sleep(0)
    with pytest.raises(EngineUnavailable, match="waiting"):
        await pool.run(lambda: 3)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    with pytest.raises(EngineUnavailable, match="waiting"):
        await pool.run(lambda: 4)
    go_on.set()
    assert await waiting == 2
    assert await pool.run(lambda: 5) == 5
    await pool.close()


async def test_the_engines_own_errors_become_the_services() -> None:
    pool = threads()
    with pytest.raises(EngineUnavailable, match=r"engine: ValueError: broken"):
        await pool.run(raising(ValueError("broken")))
    await pool.close()


@pytest.mark.parametrize("text", ["No space left on device", "database or disk is full", "Read-only file system"])
async def test_a_disk_that_takes_no_more_is_told_apart(text: str) -> None:
    pool = threads()
    with pytest.raises(DataFolderUnwritable):
        await pool.run(raising(ValueError(f"io error: {text}")))
    await pool.close()


async def test_an_error_number_tells_as_well() -> None:
    pool = EngineThreads("engine", workers=1, waiting=0, is_own=lambda error: isinstance(error, OSError))
    with pytest.raises(DataFolderUnwritable):
        await pool.run(raising(OSError(errno.ENOSPC, "voll")))
    with pytest.raises(EngineUnavailable):
        await pool.run(raising(OSError(errno.EIO, "broken disk")))
    await pool.close()


async def test_our_own_mistakes_stay_what_they_are() -> None:
    pool = threads()
    with pytest.raises(KeyError):
        await pool.run(raising(KeyError("unknown")))
    await pool.close()


async def test_closed_is_closed() -> None:
    pool = threads()
    await pool.close()
    with pytest.raises(EngineUnavailable, match="closed"):
        await pool.run(lambda: 1)
