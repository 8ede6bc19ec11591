"""What a query that is being written has used so far."""

from __future__ import annotations

from random import Random
from typing import TypeVar

Option = TypeVar("Option")


class Writing:
    """One query as it is written: what names are in sight, by kind, and how many hops are left."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.scope: dict[str, list[str]] = {}
        self.hops = 6
        self.names = 0
        # Cypher does not mix `*1..2` and `{1,2}` in one query, nor takes a bare pattern for a column.
        self.quantified = random.random() < 0.5
        self.bare_patterns = True

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def known_node(self) -> str | None:
        return self.some("node")

    def some(self, kind: str) -> str | None:
        names = self.scope.get(kind)
        return self.random.choice(names) if names else None

    def one_of(self, *options: Option) -> Option:
        return self.random.choice(options)
