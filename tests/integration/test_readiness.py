"""Readiness tells which engine is down and why, and is lost only with what no search can do without."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.results import ReadinessResult
from tests.application import Application, running, write_estate


@dataclass(frozen=True)
class Down:
    """Any engine, out of reach."""

    engine: str

    async def check(self, deadline: Deadline) -> None:
        raise EngineUnavailable(self.engine, "connection refused")

    async def count(self, generation: int) -> int:
        raise EngineUnavailable(self.engine, "connection refused")


def readiness(application: Application, *down: str) -> ReadinessResult:
    tools = application.tools
    parts = {name: Down(f"{name} engine") for name in down}
    return application.run(replace(tools, retrieval=replace(tools.retrieval, **parts)).readiness())


@pytest.mark.parametrize(
    ("down", "ready"),
    [
        ((), True),
        (("vectors",), True),
        (("lexical",), True),
        (("graph",), False),
        (("lexical", "vectors"), False),
        (("lexical", "vectors", "graph"), False),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else None,
)
def test_a_search_needs_the_graph_and_a_text_engine(tmp_path: Path, down: tuple[str, ...], ready: bool) -> None:
    with running(tmp_path / "data") as application:
        application.publish(write_estate(tmp_path / "estate"))
        result = readiness(application, *down)
    assert result.ready is ready
    reasons = {report.engine: report.reason for report in result.engines if not report.ready}
    assert reasons.keys() == {f"{name} engine" for name in down}
    assert all("connection refused" in (reason or "") for reason in reasons.values())
    assert result.passages > 0
    assert result.vectors == (0 if "vectors" in down else result.passages)
