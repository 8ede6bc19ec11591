"""Tuning by people: pinned results and synonyms of one workspace, as immutable numbered versions.

A version is replaced as a whole and never changed; going back to an earlier one makes a new one of its content. Version
0 is what a workspace has before anyone tuned it: nothing.
"""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field

from service.domain.graph import DEFAULT_WORKSPACE
from service.domain.requests import Request, Text
from service.domain.results import Result

Entry = TypeVar("Entry", bound=Request)


def _iso_day(text: str) -> str:
    return date.fromisoformat(text).isoformat()


Day = Annotated[str, AfterValidator(_iso_day)]


class PinnedResult(Request):
    """A node that stands at a place of its own wherever a question matches.

    Nothing is shown by it that the caller could not see, or that the request's filters leave out.
    """

    words: Text = Field(description="Words of the question, compared as the text index analyses them.")
    match: Literal["all", "exact"] = Field(
        default="all", description="`all`: a question that holds all the words; `exact`: one that holds no other."
    )
    uid: Text
    locale: Text | None = Field(default=None, description="None: the caller's own, else the estate's default.")
    place: int = Field(default=1, ge=1, description="Place among the hits, from 1.")
    until: Day | None = Field(default=None, description="Last day on which it holds, such as 2026-12-31.")
    note: Text = Field(default="", description="Why; shown to whoever asks to explain.")


class Synonym(Request):
    """Terms that stand for each other; with `of`, what questions with that one term are about besides."""

    terms: list[Text] = Field(min_length=1)
    of: Text | None = Field(default=None, description="One way: only questions with this term are expanded.")


class TuningVersion(Result):
    """Who made a version of a workspace's tuning, when and why. `pins` and `synonyms` are how many it has."""

    workspace: str = DEFAULT_WORKSPACE
    version: int = 0
    at: str = Field(default="", description="ISO 8601, of UTC.")
    by: str = ""
    reason: str = ""
    restored: int | None = Field(default=None, description="The earlier version that it brought back.")
    pin_count: int = 0
    synonym_count: int = 0


class TuningResult(TuningVersion):
    """One version of a workspace's tuning, whole."""

    pins: list[PinnedResult] = Field(default_factory=list)
    synonyms: list[Synonym] = Field(default_factory=list)

    @property
    def about(self) -> TuningVersion:
        """The version without its content."""
        return TuningVersion.model_validate(self.model_dump(include=set(TuningVersion.model_fields)))


class TuningHistoryResult(Result):
    """The kept versions of a workspace, newest first."""

    versions: list[TuningVersion]


class TuningDifferenceResult(Result):
    """What one version has that another has not. A changed entry is among both."""

    workspace: str
    before: int
    after: int
    added_pins: list[PinnedResult]
    removed_pins: list[PinnedResult]
    added_synonyms: list[Synonym]
    removed_synonyms: list[Synonym]


class TuningRequest(Request):
    """One version of a workspace's tuning."""

    workspace: Text = DEFAULT_WORKSPACE
    version: int | None = Field(default=None, ge=0, description="The current one by default.")


class TuningHistoryRequest(Request):
    """The kept versions of a workspace."""

    workspace: Text = DEFAULT_WORKSPACE
    limit: int = Field(default=50, ge=1, le=1_000, description="Most versions.")


class TuningDifferenceRequest(Request):
    """Two versions of a workspace; without `after` the current one, without `before` the one before `after`."""

    workspace: Text = DEFAULT_WORKSPACE
    before: int | None = Field(default=None, ge=0)
    after: int | None = Field(default=None, ge=0)


class TuningContent(Request):
    """What a version says."""

    pins: list[PinnedResult] = Field(default_factory=list)
    synonyms: list[Synonym] = Field(default_factory=list)


class ReplaceTuningRequest(TuningContent):
    """A new version in place of the current one, which is named, so that nobody's edit is lost."""

    workspace: Text = DEFAULT_WORKSPACE
    version: int = Field(ge=0, description="The version that this one replaces.")
    reason: Text = Field(default="", description="Why, for the history.")


class RollbackTuningRequest(Request):
    """An earlier version's content as a new version."""

    workspace: Text = DEFAULT_WORKSPACE
    to: int = Field(ge=0, description="The version to bring back.")
    version: int = Field(ge=0, description="The version that is current.")
    reason: Text = Field(default="", description="Why, for the history.")


Edit = Callable[[TuningContent], TuningContent]
"""What an editor changes, told apart from the version that it is applied to: it can be applied to another."""


def content_of(tuning: TuningResult) -> TuningContent:
    return TuningContent(pins=tuning.pins, synonyms=tuning.synonyms)


def pin(entry: PinnedResult) -> Edit:
    """Pin a result; one of the same words, node and locale gives way."""

    def edit(content: TuningContent) -> TuningContent:
        others = [one for one in content.pins if _named(one) != _named(entry)]
        return content.model_copy(update={"pins": [*others, entry]})

    return edit


def unpin(uid: str, words: str | None = None) -> Edit:
    """Take the pins of a node away: those of these words, or all. What is not there is away already."""

    def edit(content: TuningContent) -> TuningContent:
        def stays(one: PinnedResult) -> bool:
            return one.uid != uid or (words is not None and _folded(one.words) != _folded(words))

        return content.model_copy(update={"pins": [one for one in content.pins if stays(one)]})

    return edit


def remove_pin(entry: PinnedResult) -> Edit:
    """Take this very pin away."""

    def edit(content: TuningContent) -> TuningContent:
        return content.model_copy(update={"pins": [one for one in content.pins if one != entry]})

    return edit


def add_synonym(entry: Synonym) -> Edit:
    """The same synonym twice is there once."""

    def edit(content: TuningContent) -> TuningContent:
        others = [one for one in content.synonyms if _said(one) != _said(entry)]
        return content.model_copy(update={"synonyms": [*others, entry]})

    return edit


def remove_synonym(entry: Synonym) -> Edit:
    def edit(content: TuningContent) -> TuningContent:
        return content.model_copy(update={"synonyms": [one for one in content.synonyms if _said(one) != _said(entry)]})

    return edit


def difference(before: TuningResult, after: TuningResult) -> TuningDifferenceResult:
    return TuningDifferenceResult(
        workspace=after.workspace,
        before=before.version,
        after=after.version,
        added_pins=_without(after.pins, before.pins),
        removed_pins=_without(before.pins, after.pins),
        added_synonyms=_without(after.synonyms, before.synonyms),
        removed_synonyms=_without(before.synonyms, after.synonyms),
    )


def _without(entries: Sequence[Entry], others: Sequence[Entry]) -> list[Entry]:
    known = {one.model_dump_json() for one in others}
    return [one for one in entries if one.model_dump_json() not in known]


def _folded(words: str) -> str:
    return " ".join(words.casefold().split())


def _named(entry: PinnedResult) -> tuple[Any, ...]:
    return _folded(entry.words), entry.match, entry.uid, entry.locale


def _said(entry: Synonym) -> tuple[Any, ...]:
    return entry.of and _folded(entry.of), frozenset(map(_folded, entry.terms))
