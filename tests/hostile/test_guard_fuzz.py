"""Whatever comes in, out comes a Violation or a bounded read, in time and steps that grow with the text alone."""

from __future__ import annotations

import os
import resource
import time
from itertools import islice
from random import Random

import pytest

from cypher_guard import Profile, Violation, Visibility, guard
from tests.hostile.corpus import Row, own_rows, profiles, shared_rows
from tests.hostile.fuzzing import callers, check, hostile_inputs, seeds, work
from tests.hostile.generator import honest_query
from tests.hostile.shapes import SHAPES, SIZES, Shape
from tests.hostile.vocabulary import PROFILE

BOUNDED_INPUTS = 20_000
LONG_INPUTS = int(os.environ.get("COGITAVE_QUERY_FUZZ_INPUTS", "5000000"))
LONG_SEED = int(os.environ.get("COGITAVE_QUERY_FUZZ_SEED", "1"))
WARM = 100_000
CALLS_A_CHARACTER = 80
CALLS_A_QUERY = 10_000
SLOWEST_SECONDS = 1.0
MEMORY_GROWTH_KIB = 32 * 1024


def fuzz(seed: int, inputs: int) -> int:
    """How many of the inputs were accepted."""
    random = Random(seed)
    material, choices = seeds(), callers()
    accepted = 0
    for text in islice(hostile_inputs(random, material), inputs):
        profile, visibility = random.choice(choices)
        accepted += check(text, profile, visibility)
    return accepted


def test_mutated_queries_end_in_a_violation_or_a_bounded_read() -> None:
    accepted = fuzz(seed=7, inputs=BOUNDED_INPUTS)
    assert accepted > BOUNDED_INPUTS / 50, "mutations that nothing survives test the lexer alone"


@pytest.mark.parametrize("seed", range(40))
def test_random_characters_end_in_a_violation(seed: int) -> None:
    random = Random(seed)
    ranges = ((0, 128), (0, 0x3000), (0xD7F0, 0xE010), (0x1F000, 0x20000))
    for _ in range(50):
        text = "".join(chr(random.randrange(*random.choice(ranges))) for _ in range(random.randrange(200)))
        assert not check(text, *random.choice(callers()))


@pytest.mark.parametrize("value", [None, 1, b"RETURN 1 AS x", ["RETURN 1 AS x"], {"text": "x"}], ids=repr)
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(Violation):
        guard(value, None, profiles()["bounded"])  # type: ignore[arg-type]


def endless() -> list[object]:
    around: list[object] = []
    around.append(around)
    return around


PARAMETERS = {
    "itself": endless(),
    "set": {1, 2},
    "object": object(),
    "bytes": b"x",
    "beyond 64 bits": 2**63,
    "not a number": float("nan"),
    "infinity": float("inf"),
    "lone surrogate": "\ud800",
    "key that is no text": {1: 2},
    "key with a surrogate": {"\ud800": 1},
    "deep": eval("[" * 90 + "]" * 90),
    "complex": 1j,
    "large": "x" * 1_000_000,
}


@pytest.mark.parametrize("value", PARAMETERS.values(), ids=PARAMETERS)
def test_a_strange_parameter_is_refused_or_bound(value: object) -> None:
    try:
        query = guard("MATCH (p:Page) WHERE p.title = $x RETURN p.uid", {"x": value}, profiles()["bounded"])
    except Violation as violation:
        assert violation.code in ("bad_parameter", "too_large")  # noqa: PT017
    else:
        assert query.params["x"] == value or value != value


@pytest.mark.parametrize("row", [*own_rows(), *shared_rows()], ids=lambda row: row.id)
def test_work_is_linear_in_the_text(row: Row) -> None:
    calls = work(row.text, profiles()[row.profile], Visibility(frozenset({"*"})))
    assert calls <= CALLS_A_CHARACTER * len(row.text) + CALLS_A_QUERY


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_work_grows_with_the_text_and_no_faster(shape: Shape) -> None:
    """Calls a character at every size beside those at the smallest: logarithms and fixed costs, no second power."""
    profile, visibility = profiles()["extended"], Visibility(frozenset({"*"}))
    costs = [work(text, profile, visibility) / len(text) for text in map(shape, SIZES)]
    assert max(costs) <= 1.6 * costs[0] + 2


@pytest.mark.parametrize("seed", range(200))
def test_a_generated_query_is_taken_or_refused_for_its_cost(seed: int) -> None:
    try:
        guard(honest_query(seed), {}, Profile.from_mapping(PROFILE))
    except Violation as violation:
        assert violation.code in ("too_costly", "too_deep"), f"{violation}\n{honest_query(seed)}"  # noqa: PT017


@pytest.mark.long
@pytest.mark.timeout(4 * 3600)
def test_millions_of_inputs() -> None:
    """COGITAVE_QUERY_FUZZ_INPUTS of them: nothing but violations, none slow, and memory that stays flat."""
    random = Random(LONG_SEED)
    material, choices = seeds(), callers()
    accepted, slowest, warm = 0, 0.0, 0
    for number, text in enumerate(islice(hostile_inputs(random, material), LONG_INPUTS)):
        profile, visibility = random.choice(choices)
        started = time.thread_time()
        accepted += check(text, profile, visibility)
        slowest = max(slowest, time.thread_time() - started)
        if number == min(WARM, LONG_INPUTS // 2):
            warm = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - warm
    print(f"{LONG_INPUTS} inputs, {accepted} accepted, slowest {slowest * 1000:.1f} ms, memory grew by {grown} KiB")
    assert grown < MEMORY_GROWTH_KIB
    assert slowest < SLOWEST_SECONDS
