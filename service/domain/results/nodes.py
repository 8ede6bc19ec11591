"""Nodes listed, and nodes whole."""

from typing import Any, Literal

from pydantic import Field

from service.domain.results.result import Result


class NodeSummary(Result):
    uid: str
    locale: str
    kind: str
    title: str
    type: str | None
    url: str | None
    summary: str | None
    docset: str
    content_hash: str | None = None


class ListResult(Result):
    nodes: list[NodeSummary]
    total: int
    total_is: Literal["estate"] = "estate"
    facets: dict[str, dict[str, int]] = Field(default_factory=dict)
    degraded: list[str] = Field(default_factory=list)
    notices: list[str] = Field(default_factory=list)
    next_cursor: str | None
    truncated: bool = Field(default=False, description="The page is cut at `result_bytes`: `nextCursor` has the rest.")
    content_root: str
    took_ms: float


class SectionResult(Result):
    heading: str
    anchor: str
    level: int
    text: str
    moniker_range: str | None


class EdgeResult(Result):
    type: str
    uid: str
    locale: str
    title: str
    kind: str
    direction: Literal["out", "in"]


class CutResult(Result):
    """What there was no room for, and how to go on: the same request with `nextCursor` as its `cursor`."""

    tokens: int = Field(description="Tokens shown, as the sentence model counts them; 0 when nobody counted.")
    sections_left: int = Field(description="Sections left out, whole or in part.")
    next_section: str = Field(description="Anchor of the section where the text goes on.")
    next_cursor: str


class NodeResult(Result):
    """One node whole: its properties, its text by section, and its edges to nodes that the caller may see."""

    uid: str
    locale: str
    kind: str
    title: str
    url: str | None
    properties: dict[str, Any]
    sections: list[SectionResult]
    edges: list[EdgeResult]
    edges_truncated: bool
    other_locales: list[str]
    content_hash: str | None
    content_root: str
    cut: CutResult | None = Field(default=None, description="Null when all of the text is here.")


class FetchRefusal(Result):
    """Why one node of several was not fetched."""

    code: str
    message: str
    suggestion: str | None


class FetchedNode(Result):
    """What became of one uid: the node, or the refusal."""

    asked: str
    node: NodeResult | None = None
    refusal: FetchRefusal | None = None


class NodesResult(Result):
    """In the order asked for."""

    nodes: list[FetchedNode]
    content_root: str
    took_ms: float
