import asyncio
import json

import pytest

from service.domain.errors import EstateUnreadable, PublishFailed, PublishInProgress
from service.domain.requests import PublishRequest
from service.domain.results import PublishResult
from service.surfaces.problems import ProblemResponses
from service.surfaces.progress_stream import progress_stream
from tests.surfaces.fake_toolbox import FakeToolbox

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(20)]

REQUEST = PublishRequest(paths=["/estate"])
PROBLEMS = ProblemResponses(retry_after=1)


class StepwisePublisher(FakeToolbox):
    """Publishes as far as the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self.end: Exception | None = None

    async def publish(self, request, progress=lambda *_: None):
        progress("embed", 32, 512)
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.stopped.set()
            raise
        if self.end is not None:
            raise self.end
        return await super().publish(request, progress)


def publishing(toolbox):
    return lambda progress: toolbox.publish(REQUEST, progress)


async def lines(response):
    async for line in response.body_iterator:
        yield json.loads(line)


async def test_what_is_wrong_before_any_work_is_raised(settings):
    for failure in (EstateUnreadable("There is no folder /estate."), PublishInProgress("Another publish is at work.")):
        with pytest.raises(type(failure)):
            await progress_stream(publishing(FakeToolbox(failure=failure)), settings, PROBLEMS)


async def test_progress_is_repeated_while_nothing_moves(settings):
    publisher = StepwisePublisher()
    stream = lines(await progress_stream(publishing(publisher), settings, PROBLEMS))
    for _ in range(3):
        assert await anext(stream) == {"progress": {"stage": "embed", "done": 32, "total": 512}}
    publisher.go_on.set()
    rest = [line async for line in stream]
    assert PublishResult.model_validate(rest[-1]["result"]).added == 2


async def test_a_failure_under_way_is_the_last_line(settings):
    publisher = StepwisePublisher()
    seen = []
    problems = ProblemResponses(retry_after=1, seen=seen.append)
    stream = lines(await progress_stream(publishing(publisher), settings, problems))
    assert "progress" in await anext(stream)
    publisher.end = PublishFailed("The disk is full.")
    publisher.go_on.set()
    *_, last = [line async for line in stream]
    assert (last["problem"]["code"], last["problem"]["detail"]) == ("publish_failed", "The disk is full.")
    assert [problem.code for problem in seen] == ["publish_failed"]


async def test_who_leaves_stops_the_publish(settings):
    publisher = StepwisePublisher()
    response = await progress_stream(publishing(publisher), settings, PROBLEMS)
    stream = response.body_iterator
    await anext(stream)
    await stream.aclose()
    assert publisher.stopped.is_set()
