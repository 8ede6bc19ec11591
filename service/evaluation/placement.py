"""A set's documents found in an estate: by uid, or by the source path that stands below the estates' folders."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from service.domain.filters import READ_KINDS
from service.domain.graph import NodeKind
from service.evaluation.sets import EvaluationSet, Query

Rows = Sequence[Sequence[object]]
Look = Callable[[str, dict[str, object]], Awaitable[Rows]]
"""Runs a guarded graph query and gives its rows."""

_BY_UID = "MATCH (n:Node) WHERE n.uid IN $names RETURN DISTINCT n.uid LIMIT 1000"
_BY_PATH = (
    "MATCH (n:Node) WHERE n.path IN $names AND n.docset IN $docsets AND n.kind IN $kinds "
    "RETURN DISTINCT n.docset, n.path, n.uid ORDER BY n.uid LIMIT 1000"
)
_READ = [kind for kind in READ_KINDS if kind != NodeKind.RETIRED]
"""A page's code samples have its path as well, and a path that was redirected is nowhere any more."""
_AT_ONCE = 100


@dataclass(frozen=True)
class Placed:
    """A set as the estate can answer it. `missing` names what was judged relevant and isn't there; `left_out` counts
    the queries that have nothing relevant left."""

    judged: EvaluationSet
    missing: tuple[str, ...]
    left_out: int


async def place(judged: EvaluationSet, look: Look) -> Placed:
    """Every document by the uid that the estate has for it."""
    named = {document for gains in judged.judgments.values() for document in gains}
    stood_on = {at for query in judged.queries for at in (query.current_document, query.wrong_document) if at}
    uids = await _uids(sorted(named | stood_on), look)
    judgments = {
        query: {uids[document]: gain for document, gain in gains.items() if document in uids}
        for query, gains in judged.judgments.items()
    }
    relevant = {
        document for gains in judged.judgments.values() for document, gain in gains.items() if gain > 0
    }  # what nobody calls relevant is no loss
    kept = tuple(_moved(query, uids) for query in judged.queries if any(g > 0 for g in judgments[query.id].values()))
    return Placed(
        replace(judged, queries=kept, judgments={query.id: judgments[query.id] for query in kept}),
        missing=tuple(sorted(relevant - uids.keys())),
        left_out=len(judged.queries) - len(kept),
    )


def _moved(query: Query, uids: dict[str, str]) -> Query:
    return replace(
        query,
        current_document=uids.get(query.current_document or ""),
        wrong_document=uids.get(query.wrong_document or ""),
    )


async def _uids(names: Sequence[str], look: Look) -> dict[str, str]:
    """Judged name → uid; a name that is both a uid and a path is the uid."""
    found: dict[str, str] = {}
    for some in _parts(names):
        for (uid,) in await look(_BY_UID, {"names": list(some)}):
            found[str(uid)] = str(uid)
    paths = [name for name in names if name not in found and "/" in name]
    for some in _parts(paths):
        split = [name.partition("/") for name in some]
        parameters: dict[str, object] = {
            "names": sorted({path for _, _, path in split}),
            "docsets": sorted({docset for docset, _, _ in split}),
            "kinds": _READ,
        }
        for docset, path, uid in await look(_BY_PATH, parameters):
            found.setdefault(f"{docset}/{path}", str(uid))
    return {name: found[name] for name in names if name in found}


def _parts(names: Sequence[str]) -> Iterable[Sequence[str]]:
    return (names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE))
