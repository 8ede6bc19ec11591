"""Random well-typed expressions over the names that a query has in sight."""

from __future__ import annotations

from collections.abc import Callable

from tests.hostile.patterns import write_pattern
from tests.hostile.vocabulary import NUMBERS, PROPERTIES, TEXTS, WORDS
from tests.hostile.writing import Writing


def write_condition(here: Writing, depth: int) -> str:
    leaves: list[Callable[[], str]] = [
        lambda: f"{write_number(here, 1)} {here.one_of('=', '<>', '<', '<=', '>', '>=')} {write_number(here, 1)}",
        lambda: f"{write_text(here, 1)} {here.one_of('=', '<>', '<', '>=')} {write_text(here, 1)}",
        lambda: f"{write_text(here, 1)} {here.one_of('STARTS WITH', 'ENDS WITH', 'CONTAINS')} {write_word(here)}",
        lambda: f"{write_text(here, 1)} IN {write_texts(here, 1)}",
        lambda: f"{write_number(here, 1)} IN [{here.random.randint(0, 3)}, 2]",
        lambda: f"{write_text(here, 0)} {here.one_of('IS NULL', 'IS NOT NULL')}",
    ]
    if here.known_node():
        leaves += [
            lambda: f"{here.known_node()}.featured",
            lambda: f"{here.known_node()}{here.one_of(':Page', ':Module', ':Page|Skill', ':!Product')}",
            lambda: f"{here.known_node()} {here.one_of('=', '<>')} {here.known_node()}",
        ]
    if here.scope.get("path"):
        leaves.append(
            lambda: (
                f"{here.one_of('all', 'none', 'any', 'single')}(z IN "
                f"nodes({here.random.choice(here.scope['path'])}) WHERE z.level > 1)"
            )
        )
    if depth <= 0:
        return here.random.choice(leaves)()
    branches: list[Callable[[], str]] = [
        lambda: (
            f"{write_condition(here, depth - 1)} {here.one_of('AND', 'OR', 'XOR')} {write_condition(here, depth - 1)}"
        ),
        lambda: f"({write_condition(here, depth - 1)} OR {write_condition(here, depth - 1)})",
        lambda: f"NOT ({write_condition(here, depth - 1)})",
        lambda: (
            f"{here.one_of('any', 'all', 'none', 'single')}(x IN {write_texts(here, 1)} WHERE x <> {write_word(here)})"
        ),
        lambda: (
            f"CASE WHEN {write_condition(here, 0)} THEN {write_condition(here, 0)} ELSE {write_condition(here, 0)} END"
        ),
    ]
    if here.known_node() and here.hops > 0:
        branches += [
            lambda: f"EXISTS {write_subquery(here)}",
            lambda: f"NOT EXISTS {write_subquery(here)}",
            lambda: f"COUNT {write_subquery(here)} {here.one_of('=', '>', '<')} {here.random.randint(0, 3)}",
            lambda: write_pattern_predicate(here),
            lambda: f"NOT {write_pattern_predicate(here)}",
        ]
    return here.random.choice(leaves + branches * 2)()


def write_pattern_predicate(here: Writing) -> str:
    pattern = write_pattern(here, named=False, start=here.known_node())
    return pattern if here.bare_patterns else f"exists({pattern})"


def write_subquery(here: Writing) -> str:
    """`{ … }` of EXISTS or COUNT; what it introduces stays inside."""
    outer = {kind: list(names) for kind, names in here.scope.items()}
    body = write_pattern(here, named=True, start=here.known_node())
    full = here.random.random() < 0.5
    if here.random.random() < 0.5:
        body += f" WHERE {write_condition(here, 1)}"
    here.scope = outer
    return f"{{ {'MATCH ' if full else ''}{body} }}"


def write_number(here: Writing, depth: int) -> str:
    leaves: list[Callable[[], str]] = [lambda: here.one_of("0", "1", "2", "3", "0x2", "0o3", "1_0", "-1", "- -2")]
    node, relationship = here.known_node(), here.some("relationship")
    if node:
        leaves += [lambda: f"{node}.{here.random.choice(NUMBERS)}"] * 4
    if relationship:
        leaves.append(lambda: f"{relationship}.ordinal")
    if here.scope.get("number"):
        leaves += [lambda: str(here.some("number"))] * 2
    if here.scope.get("path"):
        leaves.append(lambda: f"length({here.some('path')})")
    if here.scope.get("relationships"):
        leaves.append(lambda: f"size({here.some('relationships')})")
    if depth <= 0:
        return here.random.choice(leaves)()
    branches: list[Callable[[], str]] = [
        lambda: (
            f"{write_number(here, depth - 1)} {here.random.choice(['+', '-', '*'])} {write_number(here, depth - 1)}"
        ),
        lambda: f"({write_number(here, depth - 1)} + {write_number(here, depth - 1)}) * 2",
        lambda: f"abs({write_number(here, depth - 1)})",
        lambda: f"size({write_texts(here, depth - 1)})",
        lambda: f"size({write_text(here, depth - 1)})",
        lambda: f"coalesce({write_number(here, depth - 1)}, 7)",
        lambda: "toInteger('12')",
        lambda: f"CASE WHEN {write_condition(here, 0)} THEN {write_number(here, 0)} ELSE {write_number(here, 0)} END",
        lambda: f"CASE {write_number(here, 0)} WHEN 1 THEN 5 WHEN 2 THEN 6 END",
    ]
    if node and here.hops > 0:
        branches.append(lambda: f"COUNT {write_subquery(here)}")
        branches.append(lambda: f"size({write_pattern_comprehension(here)})")
    return here.random.choice(leaves * 2 + branches)()


def write_text(here: Writing, depth: int) -> str:
    leaves: list[Callable[[], str]] = [lambda: write_word(here)]
    node, relationship = here.known_node(), here.some("relationship")
    if node:
        leaves += [lambda: f"{node}.{here.random.choice(TEXTS)}"] * 5
    if relationship:
        leaves += [lambda: f"type({relationship})", lambda: f"{relationship}.via"]
    if here.scope.get("text"):
        leaves += [lambda: str(here.some("text"))] * 3
    if depth <= 0:
        return here.random.choice(leaves)()
    branches: list[Callable[[], str]] = [
        lambda: f"{here.one_of('toUpper', 'toLower', 'trim')}({write_text(here, depth - 1)})",
        lambda: f"left({write_text(here, depth - 1)}, 2)",
        lambda: f"substring({write_text(here, depth - 1)}, 0, 3)",
        lambda: f"{write_text(here, depth - 1)} + {write_text(here, depth - 1)}",
        lambda: f"coalesce({write_text(here, depth - 1)}, 'none')",
        lambda: f"toString({write_number(here, depth - 1)})",
        lambda: f"head({write_texts(here, 0)})",
        lambda: f"{write_texts(here, 0)}[0]",
        lambda: f"split({write_text(here, depth - 1)}, '-')[0]",
        lambda: f"CASE WHEN {write_condition(here, 0)} THEN {write_text(here, 0)} ELSE {write_text(here, 0)} END",
    ]
    return here.random.choice(leaves * 2 + branches)()


def write_texts(here: Writing, depth: int) -> str:
    """A list of texts whose order is the data's own."""
    node = here.known_node()
    leaves: list[Callable[[], str]] = [lambda: f"[{write_word(here)}, {write_word(here)}]"]
    if node:
        leaves += [lambda: f"{node}.tags"] * 3
    if depth <= 0:
        return here.random.choice(leaves)()
    branches: list[Callable[[], str]] = [
        lambda: f"[x IN {write_texts(here, depth - 1)} WHERE x <> {write_word(here)} | toUpper(x)]",
        lambda: f"[x IN {write_texts(here, depth - 1)} | x + '!']",
        lambda: f"{write_texts(here, 0)} + {write_texts(here, 0)}",
        lambda: f"{write_texts(here, 0)}[0..1]",
        lambda: f"{write_texts(here, 0)}[..-1]",
        lambda: f"reverse({write_texts(here, 0)})",
        lambda: f"tail({write_texts(here, 0)})",
    ]
    return here.random.choice(leaves + branches)()


def write_pattern_comprehension(here: Writing) -> str:
    outer = {kind: list(names) for kind, names in here.scope.items()}
    start = here.known_node()
    here.hops -= 1
    far = here.fresh("n")
    kind = here.one_of("", ":xref", ":partOf", ":xref|dependsOn")
    body = f"({start})-[{kind}]-({far}{here.one_of('', ':Page', ':Module')})"
    here.scope.setdefault("node", []).append(far)
    condition = f" WHERE {write_condition(here, 0)}" if here.random.random() < 0.4 else ""
    here.scope = outer
    return f"[{body}{condition} | {far}.{here.random.choice(PROPERTIES[:5])}]"


def write_word(here: Writing) -> str:
    word = here.random.choice(WORDS)
    if "'" in word:
        return here.one_of(f'"{word}"', "'" + word.replace("'", "\\'") + "'")
    return here.one_of(f"'{word}'", f'"{word}"')
