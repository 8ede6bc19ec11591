"""A profile as text that a model reads before it writes a query."""

from cypher_guard.profile import Profile

_BOUNDED = """\
query   = match+ return
match   = [OPTIONAL] MATCH pattern {, pattern} [WHERE predicate]
return  = RETURN [DISTINCT] column {, column} [ORDER BY key [DESC], …] [SKIP n] [LIMIT n]
pattern = [p =] (n:Label {key: value}) -[r:TYPE|TYPE2*1..3]-> (m) …
"""
_EXTENDED = """\
query   = clause* return
clause  = [OPTIONAL] MATCH pattern {, pattern} [WHERE predicate] | UNWIND list AS x
        | WITH [DISTINCT] column {, column} [ORDER BY …] [SKIP n] [LIMIT n] [WHERE predicate]
return  = RETURN [DISTINCT] column {, column} [ORDER BY key [DESC], …] [SKIP n] [LIMIT n]
pattern = [p =] (n:Label {key: value}) -[r:TYPE|TYPE2*1..3]-> (m) …
"""
_PREDICATES = """\
Predicates: = <> < <= > >=, AND OR XOR NOT, IN, STARTS WITH, ENDS WITH, CONTAINS, IS [NOT] NULL, n:Label,
EXISTS { pattern [WHERE …] }, COUNT { pattern [WHERE …] } > n, any/all/none/single(x IN list WHERE …).
Values: $parameters, literals, n.key, lists, maps, n {.key}, CASE, [x IN list WHERE … | …], [pattern | value].
Refused: every write, CALL, UNION, LOAD CSV, USE, SHOW, shortestPath, several statements, computed property
names. A whole node, relationship or path comes back as a map of its properties."""
_WANTED_NAMES = 60


def describe(profile: Profile) -> str:
    """Grammar, vocabulary, limits and examples, in the order in which a query is written."""
    grammar = _EXTENDED if profile.clauses == "extended" else _BOUNDED
    return "\n".join([grammar + _predicates(profile), *_vocabulary(profile), *_limits(profile), *_examples(profile)])


def _predicates(profile: Profile) -> str:
    return _PREDICATES.replace("CONTAINS,", "CONTAINS, =~,", 1) if profile.allow_regex else _PREDICATES


def _vocabulary(profile: Profile) -> list[str]:
    return [
        f"Relationship types: {_names(profile.edge_types)}. -[r]-> means any of them.",
        f"Labels: {'any' if profile.labels is None else _names(profile.labels)}.",
        f"Properties: {'any' if profile.properties is None else _names(profile.properties)}.",
        f"Functions: {_names(profile.functions, 200)}.",
    ]


def _names(names: frozenset[str], wanted: int = _WANTED_NAMES) -> str:
    shown = sorted(names, key=str.lower)
    more = f" and {len(shown) - wanted} more" if len(shown) > wanted else ""
    return ", ".join(shown[:wanted]) + more if shown else "none"


def _limits(profile: Profile) -> list[str]:
    connected = "" if profile.allow_disconnected else " Patterns must share variables."
    return [
        f"Limits: a variable length needs an upper bound of at most {profile.max_hops}; the whole query crosses at "
        f"most {profile.max_total_hops} hops; {profile.default_rows} rows unless LIMIT says otherwise, "
        f"{profile.max_rows} at most; {profile.timeout_ms} ms.{connected}",
        "Give values as $parameters, each one used, each one given. Start from a node that you know.",
    ]


def _examples(profile: Profile) -> list[str]:
    if not profile.edge_types:
        return []
    edge = sorted(profile.edge_types)[0]
    label = "" if not profile.labels else ":" + sorted(profile.labels)[0]
    key = "name"
    if profile.properties:
        key = "title" if "title" in profile.properties else sorted(profile.properties)[0]
    examples = [
        f"MATCH (a{label} {{{key}: ${key}}})-[:{edge}]->(b) RETURN b.{key}, labels(b) LIMIT 20",
        f"MATCH (a{label})-[:{edge}]->(b) RETURN b.{key}, count(*) AS times ORDER BY times DESC",
        f"MATCH (a{label}) WHERE a.{key} STARTS WITH $start AND NOT EXISTS {{ (a)-[:{edge}]->() }} RETURN a.{key}",
    ]
    if profile.max_hops > 1:
        examples.append(f"MATCH p = (a {{{key}: ${key}}})-[:{edge}*1..2]->(b) RETURN b.{key}, length(p) AS hops")
    return ["Examples:", *examples]
