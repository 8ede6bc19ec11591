"""Random honest queries over a small vocabulary, as an agent might write them.

Every query is valid Cypher 5, well typed (it raises on no graph that `graphs` builds) and says what it means without
depending on an engine's row order: no LIMIT, no slice of a collected list. So the same query can be asked twice and the
answers compared as bags.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

EDGE_TYPES = ("partOf", "dependsOn", "xref", "appliesTo")
LABELS = ("Page", "Module", "Skill", "Product")
TEXTS = ("uid", "caption")
NUMBERS = ("level", "minutes")
PROPERTIES = (*TEXTS, *NUMBERS, "featured", "tags", "weight", "ordinal", "via")
WORDS = ("p1", "p2", "m1", "alpha", "beta", "ga", "", "it's", "x", "DELETE")

PROFILE: dict[str, Any] = {
    "edge_types": list(EDGE_TYPES),
    "labels": list(LABELS),
    "properties": list(PROPERTIES),
    "clauses": "extended",
    "allow_bare_arrows": True,
    "max_rows": 1_000_000,
    "default_rows": 1_000_000,
    "cost_limit": 10**15,
}


STRING_OR_WORD = re.compile(r"""'(?:\\.|[^'])*'|"(?:\\.|[^"])*"|\b[A-Z]{2,}\b|[ ]""")
GAPS = ("\n", "\t", " /* 'note */ ", "  ", " // it's\n", "\r\n")


def honest_query(seed: int) -> str:
    """One query; the same seed gives the same query."""
    random = Random(seed)
    return restyled(QueryWriter(random).query(), random)


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


class QueryWriter:
    """Writes one query; `scope` holds the variables in sight by kind, `hops` what is left of the budget."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.scope: dict[str, list[str]] = {}
        self.hops = 6
        self.names = 0
        # Cypher does not mix `*1..2` and `{1,2}` in one query, nor takes a bare pattern for a column.
        self.quantified = random.random() < 0.5
        self.bare_patterns = True

    # --- the frame

    def query(self) -> str:
        clauses = [self.match(optional=False)]
        while self.random.random() < 0.2:
            clauses.append(self.match(optional=self.random.random() < 0.7))
        if self.random.random() < 0.35:
            clauses.append(self.unwind() if self.random.random() < 0.3 else self.with_())
            if self.random.random() < 0.5 and self.scope.get("node"):
                clauses.append(self.match(optional=self.random.random() < 0.5))
        clauses.append(self.return_())
        return join(*clauses)

    def match(self, *, optional: bool) -> str:
        patterns = [self.pattern(named=True, start=self.known_node())]
        if self.random.random() < 0.15 and self.hops > 0:
            patterns.append(self.pattern(named=True, start=self.known_node()))
        head = "OPTIONAL MATCH" if optional else "MATCH"
        parts = [head, ", ".join(patterns)]
        if self.random.random() < 0.5:
            parts += ["WHERE", self.condition(2)]
        return join(*parts)

    def with_(self) -> str:
        kept: dict[str, list[str]] = {}
        items = []
        for kind in ("node", "relationship"):
            for name in self.scope.get(kind, []):
                if self.random.random() < 0.6:
                    items.append(name)
                    kept.setdefault(kind, []).append(name)
        self.bare_patterns = False
        if self.random.random() < 0.5 or not items:
            grouped = self.random.random() < 0.5
            name = self.fresh("k")
            items.append(f"{self.aggregate() if grouped else self.number(1)} AS {name}")
            kept.setdefault("number", []).append(name)
        self.scope = kept
        parts = ["WITH", "DISTINCT" if self.random.random() < 0.2 else "", ", ".join(items)]
        if self.random.random() < 0.4:
            parts += ["WHERE", self.condition(1)]
        return join(*parts)

    def unwind(self) -> str:
        self.bare_patterns = False
        source = self.texts(1)
        self.bare_patterns = True
        name = self.fresh("u")
        self.scope.setdefault("text", []).append(name)
        return join("UNWIND", source, "AS", name)

    def return_(self) -> str:
        self.bare_patterns = False
        grouped = self.random.random() < 0.3
        distinct = "DISTINCT" if self.random.random() < 0.25 else ""
        items = []
        for _ in range(self.random.randint(1, 3)):
            items.append(
                (
                    self.random.choice([self.text, self.number])(2) if grouped else self.column(ordered=bool(distinct)),
                    self.fresh("c"),
                )
            )
        if grouped:
            items.append((self.aggregate(), self.fresh("c")))
        parts = [
            "RETURN",
            distinct,
            ", ".join(f"{expression} AS {name}" for expression, name in items),
        ]
        if self.random.random() < 0.4:
            orders = [f"{name}{self.random.choice(['', ' DESC', ' ASC'])}" for _, name in items]
            if not distinct and not grouped and self.random.random() < 0.3:
                orders.append(self.number(1))
            parts += ["ORDER BY", ", ".join(orders)]
        return join(*parts)

    # --- patterns

    def pattern(self, *, named: bool, start: str | None) -> str:
        """A chain; `named`: it may introduce variables (a pattern predicate may not)."""
        chain = [self.node(named, start)]
        path_name = self.fresh("path") if named and self.random.random() < 0.12 else None
        for _ in range(self.random.choice([0, 1, 1, 1, 1, 2, 2, 3]) if named else 1):
            if self.hops <= 0:
                break
            chain += [self.hop(named), self.node(named, self.known_node() if self.random.random() < 0.12 else None)]
        if path_name is None:
            return "".join(chain)
        self.scope.setdefault("path", []).append(path_name)
        return f"{path_name} = " + "".join(chain)

    def node(self, named: bool, known: str | None) -> str:
        if known is not None:
            return f"({known})"
        roll = self.random.random()
        label = self.label() if roll < 0.45 else ""
        name = ""
        if named and (not self.scope.get("node") or self.random.random() < 0.75):
            name = self.fresh("n")
            self.scope.setdefault("node", []).append(name)
        properties = ""
        if self.random.random() < 0.12:
            key = self.random.choice(NUMBERS)
            properties = f" {{{key}: {self.random.randint(0, 3)}}}"
        elif name and self.random.random() < 0.1:
            properties = f" WHERE {name}.{self.random.choice(NUMBERS)} > {self.random.randint(0, 2)}"
        return f"({name}{label}{properties})"

    def label(self) -> str:
        one, other = self.random.sample(LABELS, 2)
        return self.random.choice(
            [f":{one}"] * 8
            + [f":{one}|{other}", f":!{one}", f":{one}&!{other}", f":({one}|{other})&!{other}", ":%", f" IS {one}"]
        )

    def hop(self, named: bool) -> str:
        self.hops -= 1
        kinds = self.random.choice(
            ["", "", ":xref", ":partOf", ":dependsOn", ":appliesTo", ":xref|dependsOn", ":xref|partOf|appliesTo"]
        )
        left, right = self.random.choice([("-", "->"), ("-", "->"), ("<-", "-"), ("-", "-"), ("<-", "->")])
        roll = self.random.random()
        if roll < 0.15 and self.hops > 0 and not self.quantified:
            self.hops -= 1
            reach = self.random.choice(["*1..2", "*2", "*..2", "*0..1", "*0..2"])
            name = ""
            if named and self.random.random() < 0.3:
                name = self.fresh("rs")
                self.scope.setdefault("relationships", []).append(name)
            return f"{left}[{name}{kinds}{reach}]{right}"
        if roll < 0.12 and named and self.hops > 0 and self.quantified and (left, right) != ("<-", "->"):
            self.hops -= 1
            return f"{left}[{kinds}]{right}{self.random.choice(['{1,2}', '{2}', '{,2}'])}"
        if not kinds and self.random.random() < 0.5:
            return {"--": "--", "-->": "-->", "<--": "<--", "<-->": "<-->"}[left + right]
        name, condition = "", ""
        if named and self.random.random() < 0.35:
            name = self.fresh("r")
            self.scope.setdefault("relationship", []).append(name)
            if self.random.random() < 0.2:
                condition = f" WHERE {name}.ordinal > 1"
        elif self.random.random() < 0.1:
            condition = " {ordinal: 1}"
        return f"{left}[{name}{kinds}{condition}]{right}"

    # --- expressions, by type

    def condition(self, depth: int) -> str:
        leaves: list[Callable[[], str]] = [
            lambda: f"{self.number(1)} {self.random.choice(['=', '<>', '<', '<=', '>', '>='])} {self.number(1)}",
            lambda: f"{self.text(1)} {self.random.choice(['=', '<>', '<', '>='])} {self.text(1)}",
            lambda: f"{self.text(1)} {self.random.choice(['STARTS WITH', 'ENDS WITH', 'CONTAINS'])} {self.word()}",
            lambda: f"{self.text(1)} IN {self.texts(1)}",
            lambda: f"{self.number(1)} IN [{self.random.randint(0, 3)}, 2]",
            lambda: f"{self.text(0)} {self.random.choice(['IS NULL', 'IS NOT NULL'])}",
        ]
        if self.known_node():
            leaves += [
                lambda: f"{self.known_node()}.featured",
                lambda: f"{self.known_node()}{self.random.choice([':Page', ':Module', ':Page|Skill', ':!Product'])}",
                lambda: f"{self.known_node()} {self.random.choice(['=', '<>'])} {self.known_node()}",
            ]
        if self.scope.get("path"):
            leaves.append(
                lambda: (
                    f"{self.random.choice(['all', 'none', 'any', 'single'])}(z IN "
                    f"nodes({self.random.choice(self.scope['path'])}) WHERE z.level > 1)"
                )
            )
        if depth <= 0:
            return self.random.choice(leaves)()
        branches: list[Callable[[], str]] = [
            lambda: (
                f"{self.condition(depth - 1)} {self.random.choice(['AND', 'OR', 'XOR'])} {self.condition(depth - 1)}"
            ),
            lambda: f"({self.condition(depth - 1)} OR {self.condition(depth - 1)})",
            lambda: f"NOT ({self.condition(depth - 1)})",
            lambda: (
                f"{self.random.choice(['any', 'all', 'none', 'single'])}(x IN {self.texts(1)} WHERE x <> {self.word()})"
            ),
            lambda: f"CASE WHEN {self.condition(0)} THEN {self.condition(0)} ELSE {self.condition(0)} END",
        ]
        if self.known_node() and self.hops > 0:
            branches += [
                lambda: f"EXISTS {self.subquery()}",
                lambda: f"NOT EXISTS {self.subquery()}",
                lambda: f"COUNT {self.subquery()} {self.random.choice(['=', '>', '<'])} {self.random.randint(0, 3)}",
                self.pattern_predicate,
                lambda: f"NOT {self.pattern_predicate()}",
            ]
        return self.random.choice(leaves + branches * 2)()

    def pattern_predicate(self) -> str:
        pattern = self.pattern(named=False, start=self.known_node())
        return pattern if self.bare_patterns else f"exists({pattern})"

    def subquery(self) -> str:
        """`{ … }` of EXISTS or COUNT; what it introduces stays inside."""
        outer = {kind: list(names) for kind, names in self.scope.items()}
        body = self.pattern(named=True, start=self.known_node())
        full = self.random.random() < 0.5
        if self.random.random() < 0.5:
            body += f" WHERE {self.condition(1)}"
        self.scope = outer
        return f"{{ {'MATCH ' if full else ''}{body} }}"

    def number(self, depth: int) -> str:
        leaves: list[Callable[[], str]] = [
            lambda: self.random.choice(["0", "1", "2", "3", "0x2", "0o3", "1_0", "-1", "- -2"])
        ]
        node, relationship = self.known_node(), self.some("relationship")
        if node:
            leaves += [lambda: f"{node}.{self.random.choice(NUMBERS)}"] * 4
        if relationship:
            leaves.append(lambda: f"{relationship}.ordinal")
        if self.scope.get("number"):
            leaves += [lambda: str(self.some("number"))] * 2
        if self.scope.get("path"):
            leaves.append(lambda: f"length({self.some('path')})")
        if self.scope.get("relationships"):
            leaves.append(lambda: f"size({self.some('relationships')})")
        if depth <= 0:
            return self.random.choice(leaves)()
        branches: list[Callable[[], str]] = [
            lambda: f"{self.number(depth - 1)} {self.random.choice(['+', '-', '*'])} {self.number(depth - 1)}",
            lambda: f"({self.number(depth - 1)} + {self.number(depth - 1)}) * 2",
            lambda: f"abs({self.number(depth - 1)})",
            lambda: f"size({self.texts(depth - 1)})",
            lambda: f"size({self.text(depth - 1)})",
            lambda: f"coalesce({self.number(depth - 1)}, 7)",
            lambda: "toInteger('12')",
            lambda: f"CASE WHEN {self.condition(0)} THEN {self.number(0)} ELSE {self.number(0)} END",
            lambda: f"CASE {self.number(0)} WHEN 1 THEN 5 WHEN 2 THEN 6 END",
        ]
        if node and self.hops > 0:
            branches.append(lambda: f"COUNT {self.subquery()}")
            branches.append(lambda: f"size({self.pattern_comprehension()})")
        return self.random.choice(leaves * 2 + branches)()

    def text(self, depth: int) -> str:
        leaves: list[Callable[[], str]] = [self.word]
        node, relationship = self.known_node(), self.some("relationship")
        if node:
            leaves += [lambda: f"{node}.{self.random.choice(TEXTS)}"] * 5
        if relationship:
            leaves += [lambda: f"type({relationship})", lambda: f"{relationship}.via"]
        if self.scope.get("text"):
            leaves += [lambda: str(self.some("text"))] * 3
        if depth <= 0:
            return self.random.choice(leaves)()
        branches: list[Callable[[], str]] = [
            lambda: f"{self.random.choice(['toUpper', 'toLower', 'trim'])}({self.text(depth - 1)})",
            lambda: f"left({self.text(depth - 1)}, 2)",
            lambda: f"substring({self.text(depth - 1)}, 0, 3)",
            lambda: f"{self.text(depth - 1)} + {self.text(depth - 1)}",
            lambda: f"coalesce({self.text(depth - 1)}, 'none')",
            lambda: f"toString({self.number(depth - 1)})",
            lambda: f"head({self.texts(0)})",
            lambda: f"{self.texts(0)}[0]",
            lambda: f"split({self.text(depth - 1)}, '-')[0]",
            lambda: f"CASE WHEN {self.condition(0)} THEN {self.text(0)} ELSE {self.text(0)} END",
        ]
        return self.random.choice(leaves * 2 + branches)()

    def texts(self, depth: int) -> str:
        """A list of texts whose order is the data's own."""
        node = self.known_node()
        leaves: list[Callable[[], str]] = [lambda: f"[{self.word()}, {self.word()}]"]
        if node:
            leaves += [lambda: f"{node}.tags"] * 3
        if depth <= 0:
            return self.random.choice(leaves)()
        branches: list[Callable[[], str]] = [
            lambda: f"[x IN {self.texts(depth - 1)} WHERE x <> {self.word()} | toUpper(x)]",
            lambda: f"[x IN {self.texts(depth - 1)} | x + '!']",
            lambda: f"{self.texts(0)} + {self.texts(0)}",
            lambda: f"{self.texts(0)}[0..1]",
            lambda: f"{self.texts(0)}[..-1]",
            lambda: f"reverse({self.texts(0)})",
            lambda: f"tail({self.texts(0)})",
        ]
        return self.random.choice(leaves + branches)()

    def pattern_comprehension(self) -> str:
        outer = {kind: list(names) for kind, names in self.scope.items()}
        start = self.known_node()
        self.hops -= 1
        far = self.fresh("n")
        kind = self.random.choice(["", ":xref", ":partOf", ":xref|dependsOn"])
        body = f"({start})-[{kind}]-({far}{self.random.choice(['', ':Page', ':Module'])})"
        self.scope.setdefault("node", []).append(far)
        condition = f" WHERE {self.condition(0)}" if self.random.random() < 0.4 else ""
        self.scope = outer
        return f"[{body}{condition} | {far}.{self.random.choice(PROPERTIES[:5])}]"

    def column(self, *, ordered: bool) -> str:
        """Anything that may be returned without grouping; `ordered`: no list in an engine's own order."""
        options: list[Callable[[], str]] = [
            lambda: self.text(2),
            lambda: self.number(2),
            lambda: self.texts(2),
            lambda: self.condition(1),
            lambda: f"[{self.number(1)}, {self.text(1)}]",
            lambda: f"{{a: {self.number(1)}, b: {self.text(1)}}}",
        ]
        node = self.known_node()
        if node:
            options += [
                lambda: node,
                lambda: f"{node} {{.uid, .level, extra: {self.number(1)}}}",
                lambda: f"{node} {{.*}}",
            ]
            if not ordered:
                options.append(lambda: f"labels({node})")
            if self.hops > 0 and not ordered:
                options.append(self.pattern_comprehension)
        if self.scope.get("path"):
            options.append(lambda: f"[z IN nodes({self.some('path')}) | z.uid]")
            options.append(lambda: f"nodes({self.some('path')})")
        if self.scope.get("relationships"):
            options.append(lambda: f"[z IN {self.some('relationships')} | type(z)]")
        return self.random.choice(options)()

    def aggregate(self) -> str:
        distinct = self.random.choice(["", "", "DISTINCT "])
        options: list[Callable[[], str]] = [
            lambda: "count(*)",
            lambda: f"count({distinct}{self.text(1)})",
            lambda: f"sum({self.number(1)})",
            lambda: f"{self.random.choice(['min', 'max'])}({self.number(1)})",
            lambda: f"avg({self.number(1)})",
            lambda: f"size(collect({distinct}{self.text(1)}))",
        ]
        if self.known_node():
            options += [lambda: f"count({distinct}{self.known_node()})"] * 2
        return self.random.choice(options)()

    # --- words and names

    def word(self) -> str:
        word = self.random.choice(WORDS)
        if "'" in word:
            return self.random.choice([f'"{word}"', "'" + word.replace("'", "\\'") + "'"])
        return self.random.choice([f"'{word}'", f'"{word}"'])

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def known_node(self) -> str | None:
        return self.some("node")

    def some(self, kind: str) -> str | None:
        names = self.scope.get(kind)
        return self.random.choice(names) if names else None


def join(*parts: str) -> str:
    return " ".join(part for part in parts if part)
