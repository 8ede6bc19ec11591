"""suggest: what a text that is still being typed, or is misspelt, may be the name of."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from service.domain.errors import LimitOutOfRange
from service.domain.graph import NodeIdentity
from service.domain.names import edits_forgiven, edits_to_begin, folded, name_words, node_names, typed_words
from service.domain.principal import Principal
from service.domain.requests import SuggestRequest
from service.domain.results import Suggestion, SuggestResult
from service.domain.snapshots import Snapshot
from service.retrieval.consistent import of_one_snapshot
from service.retrieval.engines import Retrieval
from service.retrieval.question import check_text
from service.settings import Settings
from service.statements import nodes_by_name


async def suggest(request: SuggestRequest, principal: Principal, retrieval: Retrieval) -> SuggestResult:
    """Nodes whose title, alias or uid goes on as the text begins, closest first; a title that many share, once.

    Typing errors are forgiven only where too little is spelt as typed. Raises `Refused`, and EngineUnavailable.
    """
    started = time.perf_counter()
    settings = retrieval.settings
    text = check_text(request.text, settings)
    size = _size(request.limit, settings)
    deadline = retrieval.deadline()

    async def read(snapshot: Snapshot) -> SuggestResult:
        found: dict[str, _Candidate] = {}
        for typos in (False, True):
            if typed_words(text) and len(found) < size:
                statement = nodes_by_name(text, principal.audiences, settings.suggest_candidates, typos=typos)
                rows = await retrieval.graph.run(statement, deadline=deadline)
                held = {candidate.identity for candidate in found.values()}
                for candidate in sorted(_candidate(text, row, typos) for row in rows.by_column()):
                    if candidate.identity not in held:
                        found.setdefault(candidate.shown, candidate)
        return SuggestResult(
            suggestions=[candidate.suggestion() for candidate in sorted(found.values())[:size]],
            content_root=snapshot.content_root,
            took_ms=(time.perf_counter() - started) * 1000,
        )

    return await of_one_snapshot(retrieval.store, read)


def _size(limit: int | None, settings: Settings) -> int:
    if limit is None:
        return settings.suggest_limit
    if not 1 <= limit <= settings.suggest_limit_cap:
        raise LimitOutOfRange(f"The limit must lie between 1 and {settings.suggest_limit_cap}.")
    return limit


@dataclass(frozen=True, slots=True, order=True)
class _Candidate:
    """A node by its closest name; the fields are in the order that decides.

    distance: 0 the name is the text, 1 it begins with it, 2 a word of it does, 3 its words begin like the text's in any
    order; beyond that, its words are spread over several names, or the letters that are wrong.
    """

    distance: int
    length: int
    shown: str
    locale: str
    uid: str
    name: str = field(compare=False)
    matched: str = field(compare=False)
    row: Mapping[str, Any] = field(compare=False)

    @property
    def identity(self) -> NodeIdentity:
        return NodeIdentity(self.uid, self.locale)

    def suggestion(self) -> Suggestion:
        shown = {name: self.row[name] for name in ("kind", "title", "url")}
        named = {"uid": self.uid, "locale": self.locale, "text": self.name, "matched": self.matched}
        return Suggestion.model_validate(shown | named)


def _candidate(text: str, row: Mapping[str, Any], typos: bool) -> _Candidate:
    """`shown` is what two nodes may share and are then one suggestion: their title, or else each its own uid."""
    title, uid, aliases = row["title"], row["uid"], row["aliases"] or ()
    typed, words = folded(text), typed_words(text)
    names = (title, uid, *aliases)
    distance, length, number = min((_distance(typed, words, name, typos), len(name), n) for n, name in enumerate(names))
    matched = ("title", "uid")[number] if number < 2 else "alias"
    if typos and distance > _IN_ANY_ORDER:
        # Some of the words may be of the title, and others of the uid.
        every = name_words(node_names(row["kind"], uid, title, aliases))
        distance = min(distance, _IN_ANY_ORDER + _edits(words, every))
    return _Candidate(
        distance,
        length,
        folded(title) if matched == "title" else uid,
        row["locale"],
        uid,
        names[number],
        matched,
        row,
    )


_IN_ANY_ORDER = 3


def _distance(typed: str, words: Sequence[str], name: str, typos: bool) -> int:
    """How far a name is from the text; where no typing errors are in play, what was found has every word somewhere."""
    whole = folded(name)
    if whole == typed:
        return 0
    if whole.startswith(typed):
        return 1
    at = whole.find(typed)
    while at > 0:
        if not whole[at - 1].isalnum():
            return 2
        at = whole.find(typed, at + 1)
    held = name_words([name])
    if all(any(other.startswith(word) for other in held) for word in words):
        return _IN_ANY_ORDER
    return _IN_ANY_ORDER + (_edits(words, held) if typos else 1)


def _edits(words: Sequence[str], among: Sequence[str]) -> int:
    """Each typed word against the word that it is nearest to."""
    total = 0
    for word in words:
        most = edits_forgiven(word)
        total += min((edits_to_begin(word, other, most) for other in among), default=most + 1)
    return total
