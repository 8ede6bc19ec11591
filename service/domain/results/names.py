"""What a name stands for, and what a name begun may become."""

from typing import Literal

from pydantic import Field

from service.domain.results.result import Result


class XrefResolution(Result):
    """What one uid stands for. `via`: exact, case, alias, redirect, overload; or none, and then see `suggestions`."""

    asked: str
    found: bool
    via: Literal["exact", "case", "alias", "address", "redirect", "overload", "none"]
    uid: str | None = None
    locale: str | None = None
    kind: str | None = None
    title: str | None = None
    url: str | None = None
    external: bool = Field(default=False, description="Documented outside this estate: known by its uid alone.")
    redirects: list[str] = Field(default_factory=list)
    suggestions: list[str] = Field(default_factory=list)


class XrefResult(Result):
    resolutions: list[XrefResolution]
    truncated: bool = Field(default=False, description="Cut at `result_bytes`: resolve the rest by itself.")
    content_root: str
    took_ms: float


class Suggestion(Result):
    """A node, and which of its names the typed text may become."""

    uid: str
    locale: str
    kind: str
    title: str
    url: str | None
    text: str = Field(description="The name that matched, whole.")
    matched: Literal["title", "uid", "alias"]


class SuggestResult(Result):
    suggestions: list[Suggestion]
    content_root: str
    took_ms: float
