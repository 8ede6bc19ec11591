"""While nothing is published yet: an empty answer must not pass for one."""

import asyncio
from pathlib import Path

import pytest

from service.domain.errors import FirstPublishUnderWay
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest, SchemaRequest, SearchRequest
from service.domain.results import ReadinessResult
from service.tools import catalogue
from tests.application import running, write_estate


def test_what_is_asked_during_the_first_publish_is_told_so(tmp_path: Path) -> None:
    estate = write_estate(tmp_path / "estate")
    with running(tmp_path / "data") as application:
        tools = application.tools
        seen: dict[str, ReadinessResult] = {}
        answers: list[object] = []

        async def publish() -> None:
            asking: list[asyncio.Task[None]] = []

            async def ask(stage: str) -> None:
                seen[stage] = await tools.readiness()
                search = tools.call(catalogue.SEARCH, SearchRequest(text="install"), ANONYMOUS)
                answers.extend(await asyncio.gather(search, return_exceptions=True))

            def progress(stage: str, _done: int, _total: int) -> None:
                if stage == "lexical" or stage not in seen:
                    loop.call_soon_threadsafe(lambda: asking.append(asyncio.ensure_future(ask(stage))))

            loop = asyncio.get_running_loop()
            await tools.publish(PublishRequest(paths=[str(estate)]), progress)
            await asyncio.gather(*asking)

        before = application.run(tools.readiness())
        assert (before.publishing, before.under_way) == (False, None)
        assert application.search("install").hits == []  # nobody publishes: nothing is there, which is said
        application.run(publish())
        first = seen["reading"]
        assert first.publishing
        assert first.under_way is not None
        assert first.under_way.is_first
        assert str(first.under_way).startswith("reading")
        refusals = [answer for answer in answers if isinstance(answer, FirstPublishUnderWay)]
        assert refusals
        assert "first publish is under way" in refusals[0].message
        after = application.run(tools.readiness())
        assert (after.publishing, after.under_way) == (False, None)
        assert application.search("install").hits


def test_a_later_publish_lets_everybody_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    estate = write_estate(tmp_path / "estate")
    with running(tmp_path / "data") as application:
        application.publish(estate)
        monkeypatch.setattr(application.tools.publisher.activity, "stage", "reading")
        readiness = application.run(application.tools.readiness())
        assert readiness.publishing
        assert readiness.under_way is not None
        assert not readiness.under_way.is_first
        assert not readiness.between_snapshots
        assert application.search("install").hits


def test_what_needs_no_content_is_answered_before_there_is_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path / "data") as application:
        monkeypatch.setattr(application.tools.publisher.activity, "stage", "reading")
        schema = application.run(application.tools.call(catalogue.SCHEMA, SchemaRequest(), ANONYMOUS))
        assert schema.content_root == ""
