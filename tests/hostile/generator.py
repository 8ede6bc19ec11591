"""Random honest queries over a small vocabulary, as an agent might write them.

Every query is valid Cypher 5, well typed (it raises on no graph that `graphs` builds) and says what it means without
depending on an engine's row order: no LIMIT, no slice of a collected list. So the same query can be asked twice and the
answers compared as bags.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from tests.hostile.expressions import (
    write_condition,
    write_number,
    write_pattern_comprehension,
    write_text,
    write_texts,
)
from tests.hostile.patterns import write_pattern
from tests.hostile.writing import Writing

STRING_OR_WORD = re.compile(r"""'(?:\\.|[^'])*'|"(?:\\.|[^"])*"|\b[A-Z]{2,}\b|[ ]""")
GAPS = ("\n", "\t", " /* 'note */ ", "  ", " // it's\n", "\r\n")


def honest_query(seed: int) -> str:
    """One query; the same seed gives the same query."""
    random = Random(seed)
    return restyled(write_query(Writing(random)), random)


def restyled(text: str, random: Random) -> str:
    """The same query in someone's handwriting: the case of its keywords, its white space and comments, its end."""
    keyword = random.choice([str, str, str.lower, str.title])
    gap_odds = random.choice([0.0, 0.0, 0.0, 0.2])

    def rewrite(match: re.Match[str]) -> str:
        piece = match.group()
        if piece == " ":
            return random.choice(GAPS) if random.random() < gap_odds else " "
        return piece if piece[0] in "'\"" else keyword(piece)

    return STRING_OR_WORD.sub(rewrite, text) + random.choice(["", "", "", ";", " ;", "\n// done"])


def write_query(here: Writing) -> str:
    clauses = [write_match(here, optional=False)]
    while here.random.random() < 0.2:
        clauses.append(write_match(here, optional=here.random.random() < 0.7))
    if here.random.random() < 0.35:
        clauses.append(write_unwind(here) if here.random.random() < 0.3 else write_with(here))
        if here.random.random() < 0.5 and here.scope.get("node"):
            clauses.append(write_match(here, optional=here.random.random() < 0.5))
    clauses.append(write_return(here))
    return join(*clauses)


def write_match(here: Writing, *, optional: bool) -> str:
    patterns = [write_pattern(here, named=True, start=here.known_node())]
    if here.random.random() < 0.15 and here.hops > 0:
        patterns.append(write_pattern(here, named=True, start=here.known_node()))
    head = "OPTIONAL MATCH" if optional else "MATCH"
    parts = [head, ", ".join(patterns)]
    if here.random.random() < 0.5:
        parts += ["WHERE", write_condition(here, 2)]
    return join(*parts)


def write_with(here: Writing) -> str:
    kept: dict[str, list[str]] = {}
    items = []
    for kind in ("node", "relationship"):
        for name in here.scope.get(kind, []):
            if here.random.random() < 0.6:
                items.append(name)
                kept.setdefault(kind, []).append(name)
    here.bare_patterns = False
    if here.random.random() < 0.5 or not items:
        grouped = here.random.random() < 0.5
        name = here.fresh("k")
        items.append(f"{write_aggregate(here) if grouped else write_number(here, 1)} AS {name}")
        kept.setdefault("number", []).append(name)
    here.scope = kept
    parts = ["WITH", "DISTINCT" if here.random.random() < 0.2 else "", ", ".join(items)]
    if here.random.random() < 0.4:
        parts += ["WHERE", write_condition(here, 1)]
    return join(*parts)


def write_unwind(here: Writing) -> str:
    here.bare_patterns = False
    source = write_texts(here, 1)
    here.bare_patterns = True
    name = here.fresh("u")
    here.scope.setdefault("text", []).append(name)
    return join("UNWIND", source, "AS", name)


def write_return(here: Writing) -> str:
    here.bare_patterns = False
    grouped = here.random.random() < 0.3
    distinct = "DISTINCT" if here.random.random() < 0.25 else ""
    items = []
    for _ in range(here.random.randint(1, 3)):
        items.append(
            (
                here.one_of(write_text, write_number)(here, 2)
                if grouped
                else write_column(here, ordered=bool(distinct)),
                here.fresh("c"),
            )
        )
    if grouped:
        items.append((write_aggregate(here), here.fresh("c")))
    parts = [
        "RETURN",
        distinct,
        ", ".join(f"{expression} AS {name}" for expression, name in items),
    ]
    if here.random.random() < 0.4:
        orders = [f"{name}{here.one_of('', ' DESC', ' ASC')}" for _, name in items]
        if not distinct and not grouped and here.random.random() < 0.3:
            orders.append(write_number(here, 1))
        parts += ["ORDER BY", ", ".join(orders)]
    return join(*parts)


def write_column(here: Writing, *, ordered: bool) -> str:
    """Anything that may be returned without grouping; `ordered`: no list in an engine's own order."""
    options: list[Callable[[], str]] = [
        lambda: write_text(here, 2),
        lambda: write_number(here, 2),
        lambda: write_texts(here, 2),
        lambda: write_condition(here, 1),
        lambda: f"[{write_number(here, 1)}, {write_text(here, 1)}]",
        lambda: f"{{a: {write_number(here, 1)}, b: {write_text(here, 1)}}}",
    ]
    node = here.known_node()
    if node:
        options += [
            lambda: node,
            lambda: f"{node} {{.uid, .level, extra: {write_number(here, 1)}}}",
            lambda: f"{node} {{.*}}",
        ]
        if not ordered:
            options.append(lambda: f"labels({node})")
        if here.hops > 0 and not ordered:
            options.append(lambda: write_pattern_comprehension(here))
    if here.scope.get("path"):
        options.append(lambda: f"[z IN nodes({here.some('path')}) | z.uid]")
        options.append(lambda: f"nodes({here.some('path')})")
    if here.scope.get("relationships"):
        options.append(lambda: f"[z IN {here.some('relationships')} | type(z)]")
    return here.random.choice(options)()


def write_aggregate(here: Writing) -> str:
    distinct = here.one_of("", "", "DISTINCT ")
    options: list[Callable[[], str]] = [
        lambda: "count(*)",
        lambda: f"count({distinct}{write_text(here, 1)})",
        lambda: f"sum({write_number(here, 1)})",
        lambda: f"{here.one_of('min', 'max')}({write_number(here, 1)})",
        lambda: f"avg({write_number(here, 1)})",
        lambda: f"size(collect({distinct}{write_text(here, 1)}))",
    ]
    if here.known_node():
        options += [lambda: f"count({distinct}{here.known_node()})"] * 2
    return here.random.choice(options)()


def join(*parts: str) -> str:
    return " ".join(part for part in parts if part)
