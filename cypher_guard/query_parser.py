"""The whole query: its clauses in order, and nothing before, between or after them."""

from contextlib import suppress

from cypher_guard.cursor import Cursor
from cypher_guard.expression_parser import read_expression
from cypher_guard.lexer import read_tokens
from cypher_guard.match_parser import read_match, refuse_clause
from cypher_guard.tree import Clause, Expression, Item, Order, Projection, Query, Unwind, Variable
from cypher_guard.violation import Refusal

_COLUMN_NAME_LIMIT = 120
# Each clause nests the rest of the query in a database's planner.
MOST_CLAUSES = 64


def parse(text: str, *, extended: bool, max_nesting: int, max_subqueries: int) -> tuple[Query, int]:
    """The tree of `text` and the number of steps it took; raises Refusal.

    extended: whether WITH and UNWIND may stand.
    """
    tokens = read_tokens(text, max_nesting=max_nesting)
    cursor = Cursor(tokens, read_expression, max_nesting=max_nesting, max_subqueries=max_subqueries)
    query = _read_query(cursor, extended)
    while cursor.accept(";"):
        pass
    if cursor.kind != "end":
        raise Refusal("unsupported_clause", "one query at a time: nothing may follow it", cursor.position)
    return query, cursor.steps + len(tokens.kinds)


def count_steps(text: str, *, max_nesting: int, max_subqueries: int) -> int:
    """The steps that reading a text takes, whether it is refused or not; raises Refusal where tokens fail already."""
    tokens = read_tokens(text, max_nesting=max_nesting)
    cursor = Cursor(tokens, read_expression, max_nesting=max_nesting, max_subqueries=max_subqueries)
    with suppress(Refusal):
        _read_query(cursor, extended=True)
    return cursor.steps + len(tokens.kinds)


def _read_query(cursor: Cursor, extended: bool) -> Query:
    clauses: list[Clause] = []
    while True:
        kind = cursor.kind
        if len(clauses) >= MOST_CLAUSES:
            raise Refusal("too_large", f"a query may have at most {MOST_CLAUSES} clauses", cursor.position)
        if kind == "MATCH" or kind == "OPTIONAL":
            clauses.append(read_match(cursor))
        elif kind == "RETURN":
            clauses.append(_read_projection(cursor, final=True))
            break
        elif kind == "WITH" or kind == "UNWIND":
            if not extended:
                raise Refusal(
                    "unsupported_clause",
                    f"{kind} is left out of this profile",
                    cursor.position,
                    "Aggregate and order in RETURN, and test with WHERE, EXISTS {} or COUNT {}.",
                )
            clauses.append(_read_projection(cursor, final=False) if kind == "WITH" else _read_unwind(cursor))
        else:
            refusal = refuse_clause(cursor)
            if refusal is not None:
                raise refusal
            if kind == "end" and clauses:
                raise Refusal("syntax", "the query ends without RETURN", cursor.position, "Add RETURN.")
            raise cursor.unexpected("MATCH, OPTIONAL MATCH or RETURN")
    if cursor.kind not in ("end", ";"):
        raise refuse_clause(cursor) or cursor.unexpected("the end of the query")
    return Query(tuple(clauses))


def _read_unwind(cursor: Cursor) -> Unwind:
    position = cursor.position
    cursor.advance()
    source = read_expression(cursor)
    cursor.expect("AS", "after UNWIND's list")
    return Unwind(source, cursor.variable(), position)


def _read_projection(cursor: Cursor, *, final: bool) -> Projection:
    position = cursor.position
    cursor.advance()
    distinct = cursor.accept("DISTINCT")
    everything = cursor.accept("*")
    items: list[Item] = []
    if not everything or cursor.accept(","):
        items.append(_read_item(cursor, final))
        while cursor.accept(","):
            items.append(_read_item(cursor, final))
    order = _read_order(cursor)
    skip = read_expression(cursor) if cursor.accept("SKIP") or cursor.accept("OFFSET") else None
    limit = read_expression(cursor) if cursor.accept("LIMIT") else None
    where = None
    if not final and cursor.accept("WHERE"):
        where = read_expression(cursor)
    return Projection(distinct, everything, tuple(items), order, skip, limit, where, final, position)


def _read_item(cursor: Cursor, final: bool) -> Item:
    position = cursor.position
    first = cursor.index
    expression = read_expression(cursor)
    if cursor.accept("AS"):
        return Item(expression, cursor.variable("a column's name"), True, position)
    if isinstance(expression, Variable):
        return Item(expression, expression.name, False, position)
    if not final:
        raise Refusal("syntax", "an expression in WITH needs a name", position, "Add AS and a name.")
    return Item(expression, _column_name(cursor, first), False, position)


def _column_name(cursor: Cursor, first: int) -> str:
    """An unnamed column is called by its text, as in Neo4j; the text of what was read, white space folded."""
    start, end = cursor.starts[first], cursor.ends[cursor.index - 1]
    name = " ".join(cursor.text[start:end].split())
    if len(name) > _COLUMN_NAME_LIMIT or "\\" in name or "`" in name or "//" in name or not name.isprintable():
        return ""
    return name


def _read_order(cursor: Cursor) -> tuple[Order, ...]:
    if not cursor.accept("ORDER"):
        return ()
    cursor.expect("BY", "after ORDER")
    keys = [_read_order_key(cursor)]
    while cursor.accept(","):
        keys.append(_read_order_key(cursor))
    return tuple(keys)


def _read_order_key(cursor: Cursor) -> Order:
    position = cursor.position
    expression: Expression = read_expression(cursor)
    descending = cursor.kind in ("DESC", "DESCENDING")
    if descending or cursor.kind in ("ASC", "ASCENDING"):
        cursor.advance()
    return Order(expression, descending, position)
