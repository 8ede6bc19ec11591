"""Engines that are killed, paused and slowed under load, in turn and in pairs, and brought back: is any answer wrong?

python -m bench.chaos                            every cell
python -m bench.chaos --cells "neo4j paused"     those of these names
python -m bench.chaos --report FILE              write the tables as Markdown, too

The service runs as `serve` runs it, over the project's own docs/ and a folder that only one of two callers may see.
Neo4j and OpenSearch are started for the run; COGITAVE_QUERY_TEST_QDRANT_BINARY names the executable of a Qdrant, and
without it the vectors are embedded. Each caller asks, one request after another, what `bench.oracle` lists; each answer
is judged there. Ends with 1 where an answer was wrong, late or missing.
"""

import argparse
import asyncio
import itertools
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from bench.oracle import Ask, Oracle, questions, send
from bench.real_engines import percentile
from bench.report import Measurement, say, say_stack
from bench.served import Served, served, write_restricted
from bench.victims import NEO4J, OPENSEARCH, QDRANT, Harm, Victims, own_engines
from service.settings import Settings

DOCS = Path(__file__).resolve().parents[1] / "docs"

HARM_SECONDS = 8.0
CALLERS = 4
WAKING_SECONDS = 1.5
"""After so long the service must know what is away: the first failure has cost its deadline."""

RECOVERY_SECONDS = 60.0
SETTLED_SECONDS = 2.0
GROWTH = 1.10
_PAUSE_SECONDS = 0.03
_EXAMPLES = 5

SMALL_CACHES = {
    "node_cards": "60",
    "query_cache": "8",
    "prior_vectors": "4",
    "facet_cache": "4",
    "run_log_records": "500",
}
"""Some of what is asked is remembered, and some must be asked for again each time."""

_NAMES = {NEO4J: "graph", OPENSEARCH: "lexical", QDRANT: "vector"}
"""What a search must name while this engine is killed or paused."""


@dataclass(frozen=True)
class Cell:
    """What is done to which engines."""

    harms: Mapping[str, Harm]

    def __str__(self) -> str:
        return ", ".join(f"{name} {harm}" for name, harm in self.harms.items())


def cells(names: Sequence[str]) -> list[Cell]:
    """In turn, and in pairs: each pair harmed alike, and one killed while the other is paused."""
    alone = [Cell({name: harm}) for name in names for harm in Harm]
    pairs = list(itertools.combinations(names, 2))
    alike = [Cell(dict.fromkeys(pair, harm)) for pair in pairs for harm in Harm]
    unlike = [Cell({first: Harm.KILLED, second: Harm.PAUSED}) for first, second in pairs]
    return [*alone, *alike, *unlike]


@dataclass
class Told:
    """What came of one cell."""

    cell: Cell
    outcomes: Counter[str] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """Milliseconds of every request of the cell."""
    first_whole: float = float("inf")
    """Seconds from the engines' own return to the first search that lacks nothing."""
    all_whole: float = float("inf")
    """The same to one of each kind of question answered whole, all in a row."""
    resident: float = 0.0
    files: int = 0

    @property
    def is_right(self) -> bool:
        return not self.wrong and percentile(self.times, 99) <= Settings().request_deadline


@dataclass
class Load:
    """Callers that ask without end, and what they are told; `told` is the cell that counts now."""

    served: Served
    oracle: Oracle
    asks: Sequence[Ask]
    client: httpx.AsyncClient
    told: Told
    harmed: frozenset[str] = frozenset()
    must_name: frozenset[str] = frozenset()

    async def ask_for_ever(self, number: int) -> None:
        chance = random.Random(number)
        while True:
            caller = chance.choice(list(self.served.keys))
            await self.ask(caller, chance.choice(self.asks))
            await asyncio.sleep(_PAUSE_SECONDS)

    async def ask(self, caller: str, ask: Ask) -> bool:
        """Whether it was answered whole."""
        harmed, must_name = self.harmed, self.must_name
        started = time.perf_counter()
        try:
            answer = await send(self.client, self.served, caller, ask)
        except httpx.HTTPError as error:
            self._wrong(caller, ask, f"no answer: {type(error).__name__}")
            return False
        told = self.told
        told.times.append((time.perf_counter() - started) * 1000)
        verdict = self.oracle.judge(caller, ask, answer, harmed | self.harmed)
        told.outcomes[verdict.outcome] += 1
        told.late.update(verdict.late)
        if verdict.wrong:
            self._wrong(caller, ask, f"{verdict.wrong}; degraded {answer.degraded}")
        unnamed = {name for name in must_name & self.must_name if _NAMES[name] not in answer.parts}
        if ask.search is not None and verdict.outcome in ("whole", "named") and unnamed:
            self._wrong(caller, ask, f"does not name what is away: {sorted(unnamed)}")
        return verdict.outcome == "whole"

    def _wrong(self, caller: str, ask: Ask, why: str) -> None:
        self.told.wrong.append(f"{ask.name} of {caller}: {why}")


async def run_cell(load: Load, victims: Victims, cell: Cell, seconds: float) -> Told:
    """Harm, wait, bring back, and ask until all is whole again."""
    load.told = told = Told(cell)
    hurt = [(victims.by_name[name], harm) for name, harm in cell.harms.items()]
    load.harmed = frozenset(cell.harms)
    await asyncio.gather(*(victim.suffer(harm) for victim, harm in hurt))
    await asyncio.sleep(WAKING_SECONDS)
    load.must_name = frozenset(name for name, harm in cell.harms.items() if harm is not Harm.SLOWED)
    await asyncio.sleep(seconds - WAKING_SECONDS)
    load.must_name = frozenset()
    await asyncio.gather(*(victim.come_back(harm) for victim, harm in hurt))
    each = _each_once(load.asks)
    searches = [ask for ask in each if ask.path == "/v1/search"]
    told.first_whole, told.all_whole = await asyncio.gather(
        _seconds_until_whole(load, searches), _seconds_until_whole(load, each)
    )
    load.harmed = frozenset()
    await asyncio.sleep(SETTLED_SECONDS)
    told.resident, told.files = load.served.resident, load.served.files
    return told


def _each_once(asks: Sequence[Ask]) -> list[Ask]:
    """One of each path."""
    return list({ask.path: ask for ask in asks}.values())


async def _seconds_until_whole(load: Load, asks: Sequence[Ask]) -> float:
    """Until each of these is answered whole, all in a row."""
    began = time.perf_counter()
    while (elapsed := time.perf_counter() - began) < RECOVERY_SECONDS:
        if all([await load.ask(next(iter(load.served.keys)), ask) for ask in asks]):
            return elapsed
        await asyncio.sleep(0.1)
    load.told.wrong.append(f"not whole again {RECOVERY_SECONDS:.0f} s after the engines were back")
    return float("inf")


async def run(
    victims: Victims,
    chosen: Sequence[Cell],
    folder: Path,
    *,
    estate: Path = DOCS,
    seconds: float = HARM_SECONDS,
    callers: int = CALLERS,
    settings: Mapping[str, str] = SMALL_CACHES,
    each_once: bool = False,
) -> tuple[list[Told], Told]:
    """What came of each cell, and of a time before them in which nothing was harmed.

    each_once: ask one question of each kind, and not the whole set.
    """
    restricted = write_restricted(folder / "restricted")
    limits = httpx.Limits(max_connections=2 * callers, max_keepalive_connections=2 * callers)
    async with (
        served(folder, {**victims.settings, **settings}, estate, restricted) as service,
        httpx.AsyncClient(timeout=30, limits=limits) as client,
    ):
        uids = await _uids(client, service)
        asks = _each_once(questions(uids)) if each_once else questions(uids)
        oracle = await Oracle.taken(client, service, asks)
        well = Told(Cell({}))
        load = Load(service, oracle, asks, client, well)
        working = [asyncio.create_task(load.ask_for_ever(number)) for number in range(callers)]
        try:
            await asyncio.sleep(seconds)
            well.resident, well.files = service.resident, service.files
            _show(well)
            told = []
            for cell in chosen:
                told.append(await run_cell(load, victims, cell, seconds))
                _show(told[-1])
        finally:
            for one in working:
                one.cancel()
            await asyncio.gather(*working, return_exceptions=True)
        for one in working:
            with suppress(asyncio.CancelledError):
                one.result()
        return told, well


async def _uids(client: httpx.AsyncClient, service: Served) -> list[str]:
    """Pages that both callers may see."""
    headers = {"Authorization": f"Bearer {next(iter(service.keys.values()))}"}
    answer = await client.post(
        f"{service.url}/v1/nodes", json={"filter": {"kind": ["page"]}, "limit": 10}, headers=headers
    )
    return [node["uid"] for node in answer.json()["nodes"]]


def _show(told: Told) -> None:
    outcomes = ", ".join(f"{count:,} {name}" for name, count in sorted(told.outcomes.items()))
    p50, p99, longest = (percentile(told.times, rank) for rank in (50, 99, 100))
    print(
        f"  {str(told.cell) or 'nothing harmed'}: {outcomes}, {len(told.wrong)} of them wrong; "
        f"p50 {p50:.0f} ms, p99 {p99:,.0f} ms, longest {longest:,.0f} ms; "
        f"a whole search after {told.first_whole:.1f} s, all whole after {told.all_whole:.1f} s; "
        f"{told.resident:.0f} MiB, {told.files} files; late though well: {dict(told.late)}",
        flush=True,
    )
    for why, count in Counter(told.wrong).most_common(_EXAMPLES):
        print(f"    {count} × {why}", flush=True)


def tables(told: Sequence[Told], well: Told) -> str:
    """The report's tables, in Markdown."""
    head = "harmed|whole|named|refused|wrong|p50 ms|p99 ms|longest ms|first whole search, s|all whole, s|MiB|files"
    columns = head.split("|")
    rows = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for one in (well, *told):
        recovery = ["–"] * 2 if one is well else [f"{one.first_whole:.1f}", f"{one.all_whole:.1f}"]
        cuts = [f"{percentile(one.times, rank):,.0f}" for rank in (50, 99, 100)]
        counts = [f"{one.outcomes[name]:,}" for name in ("whole", "named", "refused")]
        values = [
            str(one.cell) or "nothing",
            *counts,
            len(one.wrong),
            *cuts,
            *recovery,
            f"{one.resident:.0f}",
            one.files,
        ]
        rows.append(f"| {' | '.join(map(str, values))} |")
    return "\n".join(rows)


async def main(only: Sequence[str] | None) -> tuple[str, bool]:
    """The tables, and whether all was right."""
    say_stack("neo4j", "opensearch-py", "qdrant-client", "fastapi", "uvicorn")
    with tempfile.TemporaryDirectory(prefix="cogitave-query-chaos-") as name:
        async with own_engines(Path(name)) as victims:
            chosen = [cell for cell in cells(list(victims.by_name)) if only is None or str(cell) in only]
            told, well = await run(victims, chosen, Path(name))
    text = tables(told, well)
    print(text, flush=True)
    say(Measurement("answers that were judged", sum(sum(one.outcomes.values()) for one in told), "answers"))
    say(Measurement("wrong answers", sum(len(one.wrong) for one in told), "answers"))
    say(
        Measurement(
            "the slowest cell's p99", max(percentile(one.times, 99) for one in told), "ms", Settings().request_deadline
        )
    )
    say(Measurement("longest until a whole search", max(one.first_whole for one in told), "s"))
    say(Measurement("longest until all was whole", max(one.all_whole for one in told), "s"))
    last = told[-1]
    say(Measurement("memory of the service", last.resident, "MiB", well.resident), "against the same before any harm")
    grown = last.resident > GROWTH * max(well.resident, told[0].resident)
    return text, all(one.is_right for one in told) and not grown


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", nargs="*", metavar="TEXT", help="only cells whose whole name is one of these")
    parser.add_argument("--report", type=Path, help="write the tables here")
    options = parser.parse_args()
    written, is_right = asyncio.run(main(options.cells))
    if options.report is not None:
        options.report.write_text(written + "\n")
    sys.exit(0 if is_right else 1)
