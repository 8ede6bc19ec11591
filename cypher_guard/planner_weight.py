"""What a database's planner can bear, whatever the query would touch.

Planning has no deadline: on Neo4j 5 and 2026, 512 sums in a row or 20 alternations of AND and OR answered never, and
24 XORs kept a core busy after the transaction had been given up. The numbers here were planned within a second.
"""

from cypher_guard.violation import Refusal

LONGEST_LOGICAL_CHAIN = 256
LONGEST_ARITHMETIC_CHAIN = 64
DEEPEST_ALTERNATION = 12
MOST = {"patterns": 64, "XOR operators": 8, "WHEN branches": 128, "columns": 256}


def check_chain(length: int, longest: int, position: int) -> None:
    """A flat chain of operators, which the planner may see as a deep tree."""
    if length > longest:
        raise Refusal(
            "too_large",
            f"a chain of {length} operators is longer than {longest}",
            position,
            "Put the values into a list parameter and test with IN.",
        )


def check_count(what: str, count: int, position: int) -> None:
    """At most MOST of something."""
    if count > MOST[what]:
        raise Refusal("too_large", f"a query may hold at most {MOST[what]} {what}", position)


class PlannerWeight:
    """Counts, over a whole query, the things that planning multiplies."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(MOST, 0)
        self._operator = ""
        self._depth = 0

    def add(self, what: str, count: int, position: int) -> None:
        """Count `count` more of one of MOST."""
        self._counts[what] += count
        check_count(what, self._counts[what], position)

    def enter_logic(self, operator: str, position: int) -> tuple[str, int]:
        """Go into a logical operator; returns what leave_logic() goes back to."""
        around = (self._operator, self._depth)
        if operator not in ("NOT", self._operator):
            self._depth += 1
        self._operator = operator
        if self._depth > DEEPEST_ALTERNATION:
            raise Refusal(
                "too_large",
                f"AND, OR and NOT alternate more than {DEEPEST_ALTERNATION} levels deep",
                position,
                "Write the condition flatter, or ask in several queries.",
            )
        return around

    def leave_logic(self, around: tuple[str, int]) -> None:
        self._operator, self._depth = around
