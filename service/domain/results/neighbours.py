"""What the graph knows around a node: related nodes with their paths, and paths to learn by."""

from typing import Literal

from pydantic import Field

from service.domain.results.result import Result


class PathStep(Result):
    """One edge of a path, and the node that it leads to."""

    type: str
    direction: Literal["out", "in"]
    uid: str
    locale: str
    title: str


class RelatedNode(Result):
    uid: str
    locale: str
    kind: str
    title: str
    url: str | None
    summary: str | None
    prior: float
    path: list[PathStep] = Field(description="From the node asked about to this one.")


class RelatedResult(Result):
    uid: str
    locale: str
    related: list[RelatedNode]
    truncated: bool
    degraded: list[str]
    content_root: str
    took_ms: float


class LearningStep(Result):
    """One thing to learn, after all that it requires."""

    uid: str
    locale: str
    kind: str
    title: str
    url: str | None
    level: str | None
    minutes: int | None
    teaches: list[str]
    required_by: list[str]
    alternatives: list[str] = Field(description="Uids that teach the same and were not chosen.")


class MissingPrerequisite(Result):
    """Something that a step requires and nothing in the estate teaches."""

    uid: str
    title: str
    required_by: str = Field(description="The step's uid; the goal's own where nothing teaches the goal.")


class LearningPathResult(Result):
    goal: str
    reachable: bool
    steps: list[LearningStep]
    minutes: int
    within_budget: bool | None
    missing: list[MissingPrerequisite]
    cycles: list[list[str]] = Field(description="Prerequisites that go round in a circle; each was broken at its end.")
    notices: list[str]
    truncated: bool = Field(default=False, description="The last steps are cut at `result_bytes`.")
    content_root: str
    took_ms: float
