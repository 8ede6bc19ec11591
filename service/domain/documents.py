"""The estate's own JSON: its nodes as documents and as entries of a catalog. Field names are camelCase on the wire."""

from pydantic import Field

from service.domain.results import NodeSummary, Result


class PartResult(Result):
    """A node that another is part of, or that is a part of it."""

    uid: str
    locale: str
    kind: str
    title: str
    href: str | None


class Entry(Result):
    """One node as a catalog lists it. What a node lacks is left out; a list may be empty."""

    uid: str
    locale: str
    kind: str
    title: str
    href: str | None = None
    type: str | None = None
    summary: str | None = None
    products: list[str]
    roles: list[str]
    levels: list[str]
    subjects: list[str]
    monikers: list[str]
    language: str | None = Field(default=None, description="Of a code sample.")
    last_modified: str | None = Field(default=None, description="ISO 8601.")
    duration_in_minutes: int | None = Field(default=None, description="Its own, else the sum of its parts'.")
    part_of: list[PartResult]
    parts: list[PartResult] = Field(description="In their order: a module's units, a learning path's modules.")
    parts_truncated: bool = Field(default=False, description="There are more than `node_edges` neighbours.")


class SourceResult(Result):
    """Where a node was published from."""

    docset: str
    path: str | None = Field(default=None, description="The source file, relative to the estate.")
    workspace: str


class HeadingResult(Result):
    text: str
    anchor: str
    level: int


class DocumentSection(Result):
    """The text under one heading, in Markdown."""

    heading: str
    anchor: str
    level: int
    text: str
    moniker_range: str | None = None


class ChoiceResult(Result):
    content: str
    is_correct: bool
    explanation: str


class QuestionResult(Result):
    content: str
    choices: list[ChoiceResult]


class QuizResult(Result):
    title: str
    questions: list[QuestionResult]


class Document(Entry):
    """One node whole, as the estate says it."""

    source: SourceResult
    audience: list[str]
    region: list[str]
    moniker_range: str | None = None
    headings: list[HeadingResult]
    sections: list[DocumentSection]
    quiz: QuizResult | None = None
    locales: list[str] = Field(description="Every locale that has the uid, this one too.")
    content_hash: str | None = Field(default=None, description="Of a node with a source of its own.")
    content_root: str
    truncated: bool = Field(default=False, description="The text is cut at `result_bytes`.")


class TermResult(Result):
    """A value of the estate's vocabulary, and how many nodes of the filtered estate have it."""

    id: str
    count: int


class CatalogResult(Result):
    """The filtered estate by kind; a list that was not asked for is left out."""

    learning_paths: list[Entry] | None = None
    modules: list[Entry] | None = None
    units: list[Entry] | None = None
    pages: list[Entry] | None = None
    levels: list[TermResult] | None = None
    roles: list[TermResult] | None = None
    products: list[TermResult] | None = None
    subjects: list[TermResult] | None = None
    truncated: bool = Field(default=False, description="Cut at `limit` or `result_bytes`: `nextCursor` has the rest.")
    next_cursor: str | None = None
    degraded: list[str] = Field(default_factory=list)
    content_root: str


class SnapshotResult(Result):
    """What answers now. While a large publish is applied in parts, `publishing`, it is of neither snapshot.

    degraded: what keeps an answer that is read now from being the snapshot's own word.
    """

    content_root: str
    generation: int
    ontology_hash: str
    nodes: int
    published_at: str
    publishing: bool
    degraded: list[str] = Field(default_factory=list)
    tuning_version: int = 0


class SummaryPage(Result):
    nodes: list[NodeSummary]
    next_cursor: str | None
    content_root: str


class DocumentPage(Result):
    documents: list[Document]
    next_cursor: str | None
    content_root: str
