"""MATCH and OPTIONAL MATCH, and the subqueries that are made of them."""

from cypher_guard.cursor import Cursor
from cypher_guard.pattern_parser import read_paths
from cypher_guard.tree import Expression, Match, Subquery
from cypher_guard.violation import Refusal
from cypher_guard.vocabulary import LEFT_OUT, WRITING


def read_match(cursor: Cursor) -> Match:
    """One MATCH or OPTIONAL MATCH with its WHERE."""
    position = cursor.position
    optional = cursor.accept("OPTIONAL")
    if cursor.kind != "MATCH":
        raise Refusal("unsupported_clause", "OPTIONAL may stand before MATCH only", position)
    cursor.advance()
    paths = read_paths(cursor)
    if cursor.kind == "USING":
        raise Refusal("unsupported_clause", "planner hints (USING) are left out", cursor.position)
    where = cursor.read_expression(cursor) if cursor.accept("WHERE") else None
    return Match(optional, paths, where, position)


def read_subquery(cursor: Cursor) -> Subquery:
    """`EXISTS {…}`, `COUNT {…}` or `COLLECT {…}`: a pattern, or MATCH clauses, with WHERE.

    A plain RETURN changes neither a count nor an existence, so it is read and dropped there.
    """
    position = cursor.position
    kind = cursor.kind
    cursor.advance()
    cursor.advance()
    cursor.enter()
    cursor.subqueries += 1
    if cursor.subqueries > cursor.max_subqueries:
        raise Refusal("too_large", f"subqueries nest deeper than {cursor.max_subqueries} levels", position)
    clauses: list[Match] = []
    if cursor.kind in ("MATCH", "OPTIONAL"):
        while cursor.kind in ("MATCH", "OPTIONAL"):
            if cursor.kind == "OPTIONAL":
                raise Refusal("unsupported_clause", "OPTIONAL MATCH cannot stand in a subquery", cursor.position)
            clauses.append(read_match(cursor))
    elif cursor.kind == "(" or cursor.ahead(1) == "=":
        at = cursor.position
        paths = read_paths(cursor)
        where = cursor.read_expression(cursor) if cursor.accept("WHERE") else None
        clauses.append(Match(False, paths, where, at))
    else:
        raise refuse_clause(cursor) or cursor.unexpected("MATCH or a pattern")
    result = _read_result(cursor, kind)
    if cursor.kind != "}":
        raise refuse_clause(cursor) or cursor.unexpected("} that closes the subquery")
    cursor.advance()
    cursor.subqueries -= 1
    cursor.leave()
    return Subquery(kind, tuple(clauses), result, position)


def _read_result(cursor: Cursor, kind: str) -> Expression | None:
    if not cursor.accept("RETURN"):
        if kind == "COLLECT":
            raise cursor.unexpected("RETURN with one value")
        return None
    at = cursor.position
    if cursor.kind == "DISTINCT":
        raise Refusal(
            "unsupported_clause",
            "DISTINCT cannot stand in a subquery here",
            at,
            "Match the pattern outside and use count(DISTINCT x) or collect(DISTINCT x).",
        )
    if kind != "COLLECT" and cursor.accept("*"):
        return None
    result = cursor.read_expression(cursor)
    if cursor.accept("AS"):
        cursor.variable()
    if kind == "COLLECT":
        return result
    while cursor.accept(","):
        cursor.read_expression(cursor)
        if cursor.accept("AS"):
            cursor.variable()
    return None


def refuse_clause(cursor: Cursor) -> Refusal | None:
    """The refusal of the clause that starts here, by its name; None if no clause does."""
    kind = cursor.kind
    if kind in WRITING:
        return Refusal("read_only", f"{kind} is refused: queries may only read", cursor.position)
    if kind in LEFT_OUT:
        return Refusal("unsupported_clause", f"{kind} cannot stand here", cursor.position)
    return None
