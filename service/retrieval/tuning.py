"""The tuning of a workspace as searches use it: looked up by a question's terms, and known by heart for a while."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.filters import NodeFilter
from service.domain.graph import DEFAULT_WORKSPACE
from service.domain.tuning import PinnedResult, TuningResult
from service.ports import TuningStore
from service.settings import Settings

Entry = TypeVar("Entry")

Analysis = Callable[[str], tuple[str, ...]]
"""A text's terms, as LexicalIndex.terms gives them."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """A synonym that a question met: by `of`, as its editor wrote it, and what is looked for besides."""

    of: str
    alternatives: tuple[str, ...]


@dataclass(frozen=True)
class Tuned:
    """One version, ready to be asked: what it says of a question is found by the question's own terms, however much
    else it says. Each entry lies under the one of its terms that the fewest others have."""

    workspace: str
    version: int
    _pins: Mapping[str, Sequence[tuple[frozenset[str], PinnedResult]]] = field(default_factory=dict, repr=False)
    _synonyms: Mapping[str, Sequence[tuple[frozenset[str], Expanded]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, tuning: TuningResult, analyse: Analysis) -> "Tuned":
        pins = [(frozenset(analyse(pin.words)), pin) for pin in tuning.pins]
        return cls(tuning.workspace, tuning.version, _by_rarest_term(pins), _by_rarest_term(_expanded(tuning, analyse)))

    def pins(self, terms: Collection[str], day: str, most: int) -> list[PinnedResult]:
        """What a question of these terms has pinned on an ISO day, best place first."""
        asked = frozenset(terms)
        found = [
            pin
            for words, pin in _under(self._pins, asked)
            if (words == asked if pin.match == "exact" else words <= asked) and (pin.until is None or day <= pin.until)
        ]
        return sorted(found, key=lambda pin: pin.place)[:most]

    def expansions(self, terms: Collection[str], analyse: Analysis, most: int) -> tuple[Expanded, ...]:
        """The synonyms of what a question holds, without what it says itself."""
        asked = frozenset(terms)
        found = []
        for words, met in _under(self._synonyms, asked):
            besides = tuple(other for other in met.alternatives if not asked.issuperset(analyse(other)))
            if words <= asked and besides:
                found.append(Expanded(met.of, besides))
        return tuple(found[:most])


def workspace_of(narrowed: NodeFilter) -> str:
    """Whose tuning counts: that of the one workspace that a request is narrowed to, else the default one's."""
    return narrowed.workspace[0] if len(narrowed.workspace) == 1 else DEFAULT_WORKSPACE


def _expanded(tuning: TuningResult, analyse: Analysis) -> Iterable[tuple[frozenset[str], Expanded]]:
    """Each term with what stands for it; what several synonyms say of one term is said once."""
    said: dict[frozenset[str], tuple[str, dict[tuple[str, ...], str]]] = {}
    for synonym in tuning.synonyms:
        for term in [synonym.of] if synonym.of is not None else synonym.terms:
            key = frozenset(analyse(term))
            _, others = said.setdefault(key, (term, {}))
            for other in synonym.terms:
                terms = analyse(other)
                if terms and frozenset(terms) != key:
                    others.setdefault(terms, other)
    return [(key, Expanded(term, tuple(others.values()))) for key, (term, others) in said.items() if key and others]


def _by_rarest_term(
    entries: Iterable[tuple[frozenset[str], Entry]],
) -> dict[str, list[tuple[frozenset[str], Entry]]]:
    held = [entry for entry in entries if entry[0]]
    frequency: dict[str, int] = {}
    for words, _ in held:
        for term in words:
            frequency[term] = frequency.get(term, 0) + 1
    found: dict[str, list[tuple[frozenset[str], Entry]]] = {}
    for words, entry in held:
        found.setdefault(min(words, key=lambda term: (frequency[term], term)), []).append((words, entry))
    return found


def _under(
    entries: Mapping[str, Sequence[tuple[frozenset[str], Entry]]], asked: Collection[str]
) -> Iterable[tuple[frozenset[str], Entry]]:
    """In an order of the terms' own, so that equal questions are answered alike."""
    return (entry for term in sorted(asked) for entry in entries.get(term, ()))


@dataclass(slots=True)
class _Known:
    tuned: Tuned
    at: float
    failure: str | None


class KnownTunings:
    """The workspaces' tunings, each as the store had it at most `tuning_staleness` ago; a change of this process's own
    counts at once. While the store can't be asked, what was known last goes on counting, and the answer says so."""

    def __init__(
        self, store: TuningStore, analyse: Analysis, settings: Settings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.store = store
        self.analyse = analyse
        self._settings = settings
        self._clock = clock
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._versions: OrderedDict[tuple[str, int], Tuned] = OrderedDict()

    async def current(self, workspace: str, deadline: Deadline) -> tuple[Tuned, str | None]:
        """The tuning that counts, and why it may not be the newest."""
        known = self._known.get(workspace)
        now = self._clock()
        if known is not None:
            if now - known.at <= self._settings.tuning_staleness / 1000:
                return known.tuned, known.failure
            known.at = now  # one asks, and the others go on with what is known
        due = deadline.at_most(self._settings.tuning_deadline)
        tuned, failure = known.tuned if known else Tuned(workspace, 0), None
        try:
            newest = await self.store.newest(workspace, deadline=due)
            if newest != tuned.version:
                tuned = await self.version(workspace, newest, due) or tuned
        except EngineUnavailable as error:
            failure = error.reason
        return self._remember(tuned, failure), failure

    async def version(self, workspace: str, number: int, deadline: Deadline) -> Tuned | None:
        """One version; None where it is not kept any more. Raises EngineUnavailable."""
        tuned = self._versions.get((workspace, number))
        if tuned is None:
            due = deadline.at_most(self._settings.tuning_deadline)
            tuning = await self.store.find(workspace, number, deadline=due)
            if tuning is None:
                return None
            tuned = await asyncio.to_thread(Tuned.of, tuning, self.analyse)
            self._versions[workspace, number] = tuned
            while len(self._versions) > self._settings.tuning_workspaces:
                self._versions.popitem(last=False)
        return tuned

    async def changed(self, workspace: str, number: int, deadline: Deadline) -> None:
        """A version was made here: it counts from now on."""
        tuned = await self.version(workspace, number, deadline)
        if tuned is not None:
            self._remember(tuned, None)

    def _remember(self, tuned: Tuned, failure: str | None) -> Tuned:
        known = self._known.get(tuned.workspace)
        if known is not None and known.tuned.version > tuned.version:
            tuned = known.tuned  # changed here while the store was asked
        self._known[tuned.workspace] = _Known(tuned, self._clock(), failure)
        self._known.move_to_end(tuned.workspace)
        while len(self._known) > self._settings.tuning_workspaces:
            self._known.popitem(last=False)
        return tuned
