"""Queries whose answer the graph gives away: an edge joins it to the document that the reader stands on.

Where links were made into judgments, or the other way round, the graph prior is then told the answer that it is judged
by, and what it gains is no measure of what it gains where nobody has linked yet.
"""

from collections.abc import Mapping

from service.evaluation.placement import Look
from service.evaluation.sets import EvaluationSet

_JOINED = (
    "MATCH (n:Node)-[]-(m:Node) WHERE n.uid IN $here AND m.uid IN $relevant "
    "RETURN DISTINCT n.uid AS here, m.uid AS relevant LIMIT 1000"
)
_AT_ONCE = 20
"""Queries: few enough that what joins their documents fits an answer."""


async def given_away(judged: EvaluationSet, look: Look) -> frozenset[str]:
    """The ids of these queries. judged: by the estate's uids."""
    relevant: Mapping[str, frozenset[str]] = {
        query.id: frozenset(uid for uid, gain in judged.judgments[query.id].items() if gain > 0)
        for query in judged.queries
    }
    standing = [query for query in judged.queries if query.current_document]
    found: set[str] = set()
    for start in range(0, len(standing), _AT_ONCE):
        some = standing[start : start + _AT_ONCE]
        parameters: dict[str, object] = {
            "here": sorted({str(query.current_document) for query in some}),
            "relevant": sorted({uid for query in some for uid in relevant[query.id]}),
        }
        joined = {(str(here), str(uid)) for here, uid in await look(_JOINED, parameters)}
        found |= {q.id for q in some if any((q.current_document, uid) in joined for uid in relevant[q.id])}
    return frozenset(found)
