"""Code samples, each once, with the page that shows it."""

from typing import Literal

from pydantic import Field

from service.domain.results.result import Result
from service.domain.results.search import HitExplanation


class CodeSample(Result):
    uid: str
    locale: str
    title: str
    language: str | None
    code: str
    highlights: list[tuple[int, int]]
    owner_uid: str | None
    owner_title: str | None
    owner_url: str | None
    score: float
    explain: HitExplanation | None = None


class SampleResult(Result):
    samples: list[CodeSample]
    total: int
    total_is: Literal["window"] = "window"
    languages: dict[str, int]
    next_cursor: str | None
    truncated: bool = Field(default=False, description="The page is cut at `result_bytes`: `nextCursor` has the rest.")
    degraded: list[str]
    notices: list[str] = Field(default_factory=list)
    content_root: str
    took_ms: float
