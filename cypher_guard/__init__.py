"""Untrusted Cypher in, a bounded read-only query out.

    from cypher_guard import BOUNDED, guard
    query = guard("MATCH (p:Page {uid: $uid}) RETURN p.title", {"uid": "a"}, BOUNDED)
    session.run(query.text, dict(query.params))

guard() parses the text by a grammar of what a query may be, checks it against a profile, rewrites it and renders
it anew; the text itself never goes further. It needs the standard library alone and does no I/O.
"""

from cypher_guard.guarded_query import LANGUAGE_PREFIX, GuardedQuery
from cypher_guard.guarding import explain, guard
from cypher_guard.profile import BOUNDED, EXTENDED, Profile
from cypher_guard.violation import CODES, Violation
from cypher_guard.visibility import Visibility

__all__ = [
    "BOUNDED",
    "CODES",
    "EXTENDED",
    "LANGUAGE_PREFIX",
    "GuardedQuery",
    "Profile",
    "Violation",
    "Visibility",
    "explain",
    "guard",
]
