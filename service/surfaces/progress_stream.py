"""Long work of the owner's as it goes, one JSON object a line: progress, then the result or the problem."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from pydantic import BaseModel, SerializeAsAny
from starlette.responses import Response, StreamingResponse

from service.domain.progress import Progress
from service.domain.results import Result
from service.settings import Settings
from service.surfaces.encoding import encode
from service.surfaces.problems import Problem, ProblemResponses, problem_of

MEDIA_TYPE = "application/x-ndjson"


class ProgressReport(BaseModel):
    stage: str
    done: int
    total: int


class Line(BaseModel):
    """One line: exactly one of the three is there."""

    progress: ProgressReport | None = None
    result: SerializeAsAny[Result] | None = None
    problem: Problem | None = None


async def progress_stream(
    begin: Callable[[Progress], Coroutine[Any, Any, Result]], settings: Settings, problems: ProblemResponses
) -> Response:
    """Do the work, and answer while it goes on. What is refused before any progress keeps its own status."""
    latest = _Latest()
    work = asyncio.create_task(begin(latest.tell))
    work.add_done_callback(latest.wake)
    heartbeat = settings.publish_heartbeat / 1000
    try:
        await latest.news(heartbeat)
    except asyncio.CancelledError:
        await _stop(work)
        raise
    if work.done() and (error := work.exception()) is not None:
        raise error
    return StreamingResponse(_lines(work, latest, heartbeat, problems), media_type=MEDIA_TYPE)


class _Latest:
    """The newest progress only: a slow reader misses steps and holds nothing up. Told from any thread."""

    def __init__(self) -> None:
        self.report = ProgressReport(stage="start", done=0, total=0)
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()

    def tell(self, stage: str, done: int, total: int) -> None:
        self.report = ProgressReport(stage=stage, done=done, total=total)
        self._loop.call_soon_threadsafe(self._news.set)

    def wake(self, _work: object) -> None:
        self._news.set()

    async def news(self, seconds: float) -> None:
        """Returns at the next report, at the end of the work, or after `seconds` in any case."""
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return
        self._news.clear()


async def _lines(
    work: "asyncio.Task[Result]", latest: _Latest, heartbeat: float, problems: ProblemResponses
) -> AsyncIterator[bytes]:
    try:
        while not work.done():
            yield _line(Line(progress=latest.report))
            await latest.news(heartbeat)
        error = work.exception()
        if error is None:
            yield _line(Line(result=work.result()))
        elif isinstance(error, Exception):
            problem = problem_of(error)
            problems.seen(problem)
            yield _line(Line(problem=problem))
    finally:
        await _stop(work)


async def _stop(work: "asyncio.Task[Result]") -> None:
    work.cancel()
    await asyncio.wait({work})


def _line(line: Line) -> bytes:
    return encode(line, leave_out_none=True) + b"\n"
