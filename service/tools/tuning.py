"""Tuning by people: looking at the pinned results and synonyms of a workspace, and changing them."""

from collections.abc import Sequence
from datetime import UTC, datetime

from service.domain.deadline import Deadline
from service.domain.errors import TuningInvalid, TuningUnknown
from service.domain.principal import Principal
from service.domain.tuning import (
    PinnedResult,
    ReplaceTuningRequest,
    RollbackTuningRequest,
    Synonym,
    TuningContent,
    TuningDifferenceRequest,
    TuningDifferenceResult,
    TuningHistoryRequest,
    TuningHistoryResult,
    TuningRequest,
    TuningResult,
    content_of,
    difference,
)
from service.retrieval.engines import Retrieval
from service.retrieval.tuning import Analysis
from service.settings import Settings


async def show_tuning(request: TuningRequest, _principal: Principal, retrieval: Retrieval) -> TuningResult:
    """Raises TuningUnknown, EngineUnavailable."""
    return await _find(request.workspace, request.version, retrieval)


async def tuning_history(
    request: TuningHistoryRequest, _principal: Principal, retrieval: Retrieval
) -> TuningHistoryResult:
    """Raises EngineUnavailable."""
    kept = await retrieval.tunings.store.history(request.workspace, limit=request.limit, deadline=_due(retrieval))
    return TuningHistoryResult(versions=kept)


async def tuning_difference(
    request: TuningDifferenceRequest, _principal: Principal, retrieval: Retrieval
) -> TuningDifferenceResult:
    """Raises TuningUnknown, EngineUnavailable."""
    after = await _find(request.workspace, request.after, retrieval)
    before = max(0, after.version - 1) if request.before is None else request.before
    return difference(await _find(request.workspace, before, retrieval), after)


async def replace_tuning(request: ReplaceTuningRequest, principal: Principal, retrieval: Retrieval) -> TuningResult:
    """Raises TuningInvalid, TuningChanged, EngineUnavailable."""
    check(request, retrieval.settings, retrieval.lexical.terms)
    return await _append(request.workspace, request.version, request, request.reason, principal, retrieval)


async def rollback_tuning(request: RollbackTuningRequest, principal: Principal, retrieval: Retrieval) -> TuningResult:
    """Raises TuningUnknown, TuningInvalid, TuningChanged, EngineUnavailable."""
    earlier = await _find(request.workspace, request.to, retrieval)
    return await _append(
        request.workspace,
        request.version,
        content_of(earlier),
        request.reason,
        principal,
        retrieval,
        restored=request.to,
    )


def check(content: TuningContent, settings: Settings, analyse: Analysis) -> None:
    """Raises TuningInvalid for what is more than may be kept, or says nothing that a question could hold."""
    _at_most(len(content.pins), settings.tuning_pins, "pinned results")
    _at_most(len(content.synonyms), settings.tuning_synonyms, "synonyms")
    seen: set[tuple[object, ...]] = set()
    for pin in content.pins:
        _check_pin(pin, settings, analyse)
        key = (pin.match, frozenset(analyse(pin.words)), pin.uid, pin.locale)
        if key in seen:
            raise TuningInvalid(f"Two pins of '{_cut(pin.uid)}' match the same questions. Keep one of them.")
        seen.add(key)
    for synonym in content.synonyms:
        _check_synonym(synonym, settings, analyse)


def _check_pin(pin: PinnedResult, settings: Settings, analyse: Analysis) -> None:
    _check_texts((pin.words, pin.note), settings)
    if not pin.uid or len(pin.uid) > _LONGEST_UID:
        raise TuningInvalid(f"A pin names a node by its uid, of at most {_LONGEST_UID:,} characters.")
    if pin.place > settings.tuning_places:
        raise TuningInvalid(f"A result can be pinned to places 1 to {settings.tuning_places}, not to {pin.place}.")
    if not analyse(pin.words):
        raise TuningInvalid(f"'{_cut(pin.words)}' holds no word that a question is compared by. Name one.")


def _check_synonym(synonym: Synonym, settings: Settings, analyse: Analysis) -> None:
    told = [*synonym.terms, *([synonym.of] if synonym.of is not None else [])]
    _check_texts(told, settings)
    _at_most(len(synonym.terms), settings.tuning_terms, "terms of one synonym")
    meant = [frozenset(analyse(term)) for term in told]
    for term, words in zip(told, meant, strict=True):
        if not words:
            raise TuningInvalid(f"'{_cut(term)}' holds no word that is searched for. Leave it out.")
    if len(set(meant)) < len(meant):
        raise TuningInvalid(f"Two terms of the synonym '{_cut(', '.join(told))}' are the same word. Keep one of them.")
    if len(told) < _FEWEST:
        raise TuningInvalid("A synonym has two terms at least.")


_FEWEST = 2
_LONGEST_UID = 2_000


def _check_texts(texts: Sequence[str], settings: Settings) -> None:
    longest = max(texts, key=len)
    if len(longest) > settings.tuning_characters:
        raise TuningInvalid(f"'{_cut(longest)}' has more than {settings.tuning_characters} characters.")


def _at_most(count: int, most: int, what: str) -> None:
    if count > most:
        raise TuningInvalid(f"{count:,} {what} are more than the {most:,} that may be kept.")


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


_SHOWN = 60


async def _find(workspace: str, version: int | None, retrieval: Retrieval) -> TuningResult:
    found = await retrieval.tunings.store.find(workspace, version, deadline=_due(retrieval))
    if found is None:
        raise TuningUnknown(f"Version {version} of this tuning is not kept; the history lists those that are.")
    return found


async def _append(
    workspace: str,
    version: int,
    content: TuningContent,
    reason: str,
    principal: Principal,
    retrieval: Retrieval,
    restored: int | None = None,
) -> TuningResult:
    store, settings = retrieval.tunings.store, retrieval.settings
    _check_texts([workspace, reason], settings)
    if version == 0:
        others = {one.workspace for one in await store.workspaces(deadline=_due(retrieval))} - {workspace}
        _at_most(len(others) + 1, settings.tuning_workspaces, "tuned workspaces")
    made = TuningResult(
        workspace=workspace,
        version=version + 1,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        by=principal.name,
        reason=reason,
        restored=restored,
        pin_count=len(content.pins),
        synonym_count=len(content.synonyms),
        pins=content.pins,
        synonyms=content.synonyms,
    )
    await store.append(made, kept=settings.tuning_versions, deadline=_due(retrieval))
    await retrieval.tunings.changed(workspace, made.version, _due(retrieval))
    return made


def _due(retrieval: Retrieval) -> Deadline:
    return retrieval.deadline().at_most(retrieval.settings.tuning_deadline)
