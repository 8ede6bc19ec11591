"""What a caller may ask for, as every surface reads it. Field names are camelCase on the wire."""

from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from service.domain.errors import LevelUnknown, QueryMalformed
from service.domain.graph import DEFAULT_WORKSPACE


def well_formed(text: str) -> str:
    """The text itself. Raises QueryMalformed for what no engine can hold."""
    if "\0" in text:
        raise QueryMalformed("The request holds a NUL character; send text.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise QueryMalformed("The request holds half of a surrogate pair; send well-formed Unicode.") from None
    return text


LEVELS = ("beginner", "intermediate", "advanced")


def known_level(text: str) -> str:
    """In lower case. Raises LevelUnknown."""
    level = text.casefold()
    if level not in LEVELS:
        nearest = get_close_matches(level, LEVELS, n=1)
        raise LevelUnknown(
            f"There is no level '{text[:100]}'. Levels: {', '.join(LEVELS)}.",
            suggestion=nearest[0] if nearest else None,
        )
    return level


Text = Annotated[str, AfterValidator(well_formed)]

Level = Annotated[Text, AfterValidator(known_level)]

FilterValues = dict[Text, list[Text]]
"""Filter name → values, any of which suffices."""


class Request(BaseModel):
    """Unknown fields are refused: a misspelt filter must not silently widen a search. So are other types: `"10"`."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)


class CallerProfile(Request):
    """What the caller is like. A profile only ranks; to exclude, use a filter."""

    role: Text | None = None
    level: Level | None = None
    audience: Text | None = None
    region: Text | None = None
    locale: Text | None = None
    monikers: list[Text] = Field(default_factory=list, description="Product versions in use, e.g. net-maui-8.0.")
    skills: list[Text] = Field(default_factory=list, description="Uids of skills the caller has.")


class SearchRequest(Request):
    """A question over the estate."""

    text: Annotated[Text, Field(description="The question, in words; no query syntax.")]
    limit: int | None = Field(default=None, description="Hits on a page.")
    filter: FilterValues = Field(default_factory=dict, description="Excludes all that does not match.")
    profile: CallerProfile = Field(default_factory=CallerProfile)
    current_document: Text | None = Field(default=None, description="Uid of the page that the caller is reading.")
    products: list[Text] = Field(default_factory=list, description="Products that the question is about.")
    skills: list[Text] = Field(default_factory=list, description="Skills that the question is about.")
    facets: list[Text] = Field(default_factory=list, description="Facets to count over the filtered estate.")
    without_signals: list[Text] = Field(default_factory=list, description="Signals to switch off, `prior` among them.")
    without_tuning: bool = Field(default=False, description="Leave pinned results and synonyms out.")
    cursor: Text | None = Field(default=None, description="The `nextCursor` of the page before.")
    explain: bool = Field(default=False, description="Say for each hit why it ranks where it does.")
    logged: bool = Field(default=True, description="Keep the run; false for a text that is still being typed.")
    max_tokens: int | None = Field(
        default=None, ge=1, description="Most tokens of passages; the best hits' come first, what is beyond is cut."
    )


class WhyNotRequest(Request):
    """Why a node is not among a search's hits."""

    search: SearchRequest
    uid: Text
    locale: Text | None = None


class ListRequest(Request):
    """The filtered estate itself, by identity: no text, no ranking."""

    limit: int | None = None
    filter: FilterValues = Field(default_factory=dict)
    facets: list[Text] = Field(default_factory=list, description="Facets to count over the filtered estate.")
    cursor: Text | None = None


class FetchRequest(Request):
    """One node by uid or by url; without a locale the address's, then the estate's default, then the first there is."""

    uid: Text | None = None
    url: Text | None = Field(
        default=None, description="Address of a page, as a browser shows it; host, locale and query may be there."
    )
    locale: Text | None = None
    section: Text | None = Field(default=None, description="Anchor or heading of a section; those below come along.")
    max_tokens: int | None = Field(
        default=None, ge=1, description="Most tokens of text and edges; what is left out is told in `cut`."
    )
    cursor: Text | None = Field(default=None, description="The `nextCursor` of a `cut`: the text goes on there.")

    @model_validator(mode="after")
    def _is_named_once(self) -> "FetchRequest":
        if (self.uid is None) == (self.url is None):
            raise ValueError("Name the node by its uid or by its url, by one of the two.")
        return self


class NodeRequest(FetchRequest):
    """One node by uid."""

    uid: Text


class NodesRequest(Request):
    """Several nodes by uid."""

    uids: list[Text] = Field(min_length=1)
    locale: Text | None = None
    max_tokens: int | None = Field(default=None, ge=1, description="Most tokens of text and edges of all together.")


class RelatedRequest(Request):
    """What lies around a node."""

    uid: Text
    locale: Text | None = None
    limit: int | None = None


class LearningPathRequest(Request):
    """The way from what a learner knows to a goal: a skill, a module, a learning path, a unit or a page."""

    goal: Text = Field(description="Uid of the goal; of a skill its title will do.")
    locale: Text | None = None
    known_skills: list[Text] = Field(default_factory=list, description="Uids of skills, modules or pages known.")
    level: Level | None = Field(default=None, description="The learner's own level.")
    minutes: int | None = Field(default=None, ge=1, description="Time that there is.")


class XrefRequest(Request):
    """Uids to resolve, each as a writer would put it: exact, an alias, a redirected one, an overload with `*`."""

    uids: list[Text] = Field(min_length=1)
    locale: Text | None = None
    moniker: Text | None = Field(default=None, description="The product version that the reader uses.")


class SampleRequest(Request):
    """A search over code samples."""

    text: Annotated[Text, Field(description="What the code is about, or an identifier in it.")]
    language: Text | None = Field(default=None, description="c#, csharp and cs are one language.")
    limit: int | None = None
    filter: FilterValues = Field(default_factory=dict)
    cursor: Text | None = None
    explain: bool = False


class SuggestRequest(Request):
    """The beginning, or a misspelling, of a title, a uid or an identifier."""

    text: Annotated[Text, Field(description="What has been typed so far.")]
    limit: int | None = Field(default=None, description="Most suggestions.")


class SnapshotRequest(Request):
    """What answers now."""

    workspace: Text = Field(default=DEFAULT_WORKSPACE, description="Whose tuning counts.")


class CatalogRequest(Request):
    """The filtered estate as a catalog. `uids` narrow it further; `since` and `before` bound `lastModified`."""

    filter: FilterValues = Field(default_factory=dict)
    uids: list[Text] = Field(default_factory=list)
    since: Text | None = Field(default=None, description="Not before this: an ISO 8601 date.")
    before: Text | None = Field(default=None, description="Before this: an ISO 8601 date.")
    entries: bool = Field(default=True, description="List the nodes themselves.")
    vocabularies: list[Text] = Field(default_factory=list, description="Facets whose values are listed with counts.")
    limit: int | None = Field(default=None, description="Entries on a page; as many as fit by default.")
    cursor: Text | None = None


class EstateRequest(Request):
    """The filtered estate page after page, by identity; the size of a page is the service's to choose."""

    filter: FilterValues = Field(default_factory=dict)
    cursor: Text | None = None


class SchemaRequest(Request):
    """Nothing: the schema is described whole."""


class GraphQueryRequest(Request):
    """Cypher for the guard."""

    cypher: Text
    parameters: dict[Text, object] = Field(default_factory=dict)


class PublishRequest(Request):
    """Estates to read and publish. Docsets of the store that no path names stay as they are."""

    paths: list[Text] = Field(min_length=1, description="Folders, each an estate.")
    strict: bool = Field(default=False, description="Publish nothing when there is a warning.")
    dry_run: bool = Field(default=False, description="Say what would change, and change nothing.")


class RollbackRequest(Request):
    """A snapshot to publish back."""

    content_root: Text = Field(description="Of a kept snapshot, whole.")


class RunsRequest(Request):
    """Answered searches, newest first."""

    limit: int = Field(default=20, ge=1, le=1_000, description="Most runs.")


class RunRequest(Request):
    """One answered search."""

    run_id: Text


class ReplayRequest(Request):
    """A kept run's search again."""

    run_id: Text
    text: Text | None = Field(default=None, description="The run's words, where they were not kept.")


class DoctorRequest(Request):
    """An examination of the stores."""

    repair: bool = Field(default=False, description="Make the text engines hold what the graph says.")
