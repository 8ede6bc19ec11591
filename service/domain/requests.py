"""What a caller may ask for, as every surface reads it. Field names are camelCase on the wire."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

FilterValues = dict[str, list[str]]
"""Filter name → values, any of which suffices."""


class Request(BaseModel):
    """Unknown fields are refused: a misspelt filter must not silently widen a search. So are other types: `"10"`."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)


class CallerProfile(Request):
    """What the caller is like. A profile only ranks; to exclude, use a filter."""

    role: str | None = None
    level: str | None = None
    audience: str | None = None
    region: str | None = None
    locale: str | None = None
    monikers: list[str] = Field(default_factory=list, description="Product versions in use, e.g. net-maui-8.0.")
    skills: list[str] = Field(default_factory=list, description="Uids of skills the caller has.")


class SearchRequest(Request):
    """A question over the estate."""

    text: Annotated[str, Field(description="The question, in words; no query syntax.")]
    limit: int | None = Field(default=None, description="Hits on a page.")
    filter: FilterValues = Field(default_factory=dict, description="Excludes all that does not match.")
    profile: CallerProfile = Field(default_factory=CallerProfile)
    current_document: str | None = Field(default=None, description="Uid of the page that the caller is reading.")
    products: list[str] = Field(default_factory=list, description="Products that the question is about.")
    skills: list[str] = Field(default_factory=list, description="Skills that the question is about.")
    facets: list[str] = Field(default_factory=list, description="Facets to count over the filtered estate.")
    without_signals: list[str] = Field(default_factory=list, description="Signals to switch off, `prior` among them.")
    cursor: str | None = Field(default=None, description="The `nextCursor` of the page before.")
    explain: bool = Field(default=False, description="Say for each hit why it ranks where it does.")


class WhyNotRequest(Request):
    """Why a node is not among a search's hits."""

    search: SearchRequest
    uid: str
    locale: str | None = None


class ListRequest(Request):
    """The filtered estate itself, by identity: no text, no ranking."""

    limit: int | None = None
    filter: FilterValues = Field(default_factory=dict)
    facets: list[str] = Field(default_factory=list, description="Facets to count over the filtered estate.")
    cursor: str | None = None


class NodeRequest(Request):
    """One node by uid; without a locale, the caller's, then the estate's default, then the first there is."""

    uid: str
    locale: str | None = None


class GraphQueryRequest(Request):
    """Cypher for the guard."""

    cypher: str
    parameters: dict[str, object] = Field(default_factory=dict)


class PublishRequest(Request):
    """Estates to read and publish. Docsets of the store that no path names stay as they are."""

    paths: list[str] = Field(min_length=1, description="Folders, each an estate.")
    strict: bool = Field(default=False, description="Publish nothing when there is a warning.")
    dry_run: bool = Field(default=False, description="Say what would change, and change nothing.")
