"""What the guard costs: one query guarded anew and from the cache, beside other parsers and a round trip to Neo4j.

    python -m bench.guard [--quick] [--neo4j bolt://…  (password in NEO4J_PASSWORD)]

Without an address a Neo4j is started from packages. Steps are calls of functions, counted: they don't depend on the
machine, so the last lines say whether work grows with a hostile text and no faster.
"""

import argparse
import itertools
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import cypherast
from antlr4 import CommonTokenStream, InputStream
from neo4j import READ_ACCESS, GraphDatabase
from neo4j_guard._parser.Cypher25Lexer import Cypher25Lexer
from neo4j_guard._parser.Cypher25Parser import Cypher25Parser

from bench.report import Measurement, say, say_stack
from cypher_guard import EXTENDED, Visibility, guard
from stack.servers import Neo4jServer
from tests.hostile.fuzzing import work
from tests.hostile.shapes import SHAPES, SIZES

QUERY = (
    "MATCH (p:Page {locale: 'en-us'})-[r:dependsOn|xref*1..2]->(s:Skill) WHERE p.level >= 1 AND NOT s.title "
    "STARTS WITH 'Draft' RETURN p.title AS title, count(DISTINCT s) AS skills ORDER BY skills DESC LIMIT 25"
)
TURN = 10
PRINCIPAL = Visibility(audiences=frozenset({"*", "staff"}))


def main() -> None:
    options = _options()
    rounds = 50 if options.quick else 400
    say_stack("neo4j-guard", "cypherast", "neo4j")
    print(f"# one query of {len(QUERY)} characters; medians, taken in turns")
    with _neo4j(options.neo4j, options.user) as (uri, auth), _explainer(uri, auth) as explain_on_neo4j:
        often = _medians(
            {
                "uncached": lambda: guard(QUERY, {}, EXTENDED, cache=None),
                "principal": lambda: guard(QUERY, {}, EXTENDED, visibility=PRINCIPAL, cache=None),
                "cached": lambda: guard(QUERY, {}, EXTENDED, visibility=PRINCIPAL),
                "cypherast": lambda: cypherast.parse_one(QUERY),
            },
            rounds,
        )
        seldom = _medians({"grammar": _parse_by_grammar, "neo4j": explain_on_neo4j}, rounds // 8)
    uncached, principal = often["uncached"], often["principal"]
    for measurement, remark in (
        (
            Measurement("the whole guard, uncached; against cypherast's parse", uncached, "µs", often["cypherast"]),
            "goal ≤ × 0.33",
        ),
        (
            Measurement(
                "the same with visibility rewritten in; against cypherast's parse", principal, "µs", often["cypherast"]
            ),
            "",
        ),
        (Measurement("the guard from its cache; against uncached", often["cached"], "µs", principal), "goal ≤ × 0.10"),
        (Measurement("the whole guard, uncached; against neo4j-guard's parse", uncached, "µs", seldom["grammar"]), ""),
        (Measurement("the whole guard, uncached; against a Neo4j EXPLAIN", uncached, "µs", seldom["neo4j"]), ""),
    ):
        say(measurement, remark)

    growth = {
        name: max(work(shape(size), EXTENDED, PRINCIPAL) / len(shape(size)) for size in SIZES)
        / (work(shape(SIZES[0]), EXTENDED, PRINCIPAL) / len(shape(SIZES[0])))
        for name, shape in SHAPES.items()
    }
    worst = max(growth, key=lambda name: growth[name])
    say(
        Measurement("calls a character: the most at any size, against the smallest", growth[worst], "×", 1.0),
        f"over {len(SHAPES)} hostile shapes; the worst is “{worst}”; 1 is linear",
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--neo4j", metavar="URI", help="a running Neo4j; started from packages unless said")
    parser.add_argument("--user", default="neo4j")
    return parser.parse_args()


def _medians(actions: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Microseconds of each, in turns of a few, so that a busy machine slows all of them alike.

    The first of a turn, which meets the other's caches, doesn't count.
    """
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(max(2, rounds // TURN)):
        for name, action in actions.items():
            action()
            for _ in range(TURN):
                started = time.perf_counter()
                action()
                times[name].append(time.perf_counter() - started)
    return {name: statistics.median(taken) * 1e6 for name, taken in times.items()}


def _parse_by_grammar() -> object:
    return Cypher25Parser(CommonTokenStream(Cypher25Lexer(InputStream(QUERY)))).statements()


@contextmanager
def _neo4j(uri: str | None, user: str) -> Iterator[tuple[str, tuple[str, str]]]:
    if uri is not None:
        if "NEO4J_PASSWORD" not in os.environ:
            sys.exit("set NEO4J_PASSWORD")
        yield uri, (user, os.environ["NEO4J_PASSWORD"])
        return
    with TemporaryDirectory() as folder, Neo4jServer(Path(folder)) as server:
        yield server.uri, server.auth


@contextmanager
def _explainer(uri: str, auth: tuple[str, str]) -> Iterator[Callable[[], object]]:
    """Asks for the plan of the query, each time by other names: else the server would answer from its own cache."""
    numbers = itertools.count()
    with (
        GraphDatabase.driver(uri, auth=auth, notifications_min_severity="OFF") as driver,
        driver.session(default_access_mode=READ_ACCESS) as session,
    ):
        yield lambda: session.run("EXPLAIN " + QUERY.replace("skills", f"skills{next(numbers)}")).consume()


if __name__ == "__main__":
    main()
