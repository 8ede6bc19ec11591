"""How long a suggestion takes, letter by letter, and whether a misspelt name is suggested.

python -m bench.suggest            an estate of 50,000 names, made of the titles and uids of the shared ones
python -m bench.suggest --quick    one of the shared estates alone
"""

import argparse
import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bench.corpora import records_of
from bench.report import Measurement, say, say_stack
from bench.unread import UnreadVectors
from service.bootstrap import open_toolbox
from service.domain.content import NodeRecord
from service.domain.graph import NodeIdentity, NodeKind
from service.domain.names import folded, typed_words
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest, SuggestRequest
from service.settings import Settings
from service.tools import catalogue
from service.tools.local import LocalToolbox

ESTATES = ("learn-en-us", "entity-framework", "maui")
NODES, NAMES = 50_000, 300
BUDGET = 5.0
"""Milliseconds a letter."""


class MadeReader:
    """An estate of nodes without text."""

    format = "made"

    def __init__(self, records: Sequence[NodeRecord]) -> None:
        self._records = records

    def recognises(self, root: Path) -> bool:  # noqa: ARG002
        return True

    def read(self, root: Path, docset: str) -> Sequence[NodeRecord]:  # noqa: ARG002
        return self._records


def made(quick: bool) -> list[NodeRecord]:
    """The estates' own nodes, and as often as it takes again under other uids and titles."""
    own = [record for name in ESTATES[: 1 if quick else None] for record in records_of(name)]
    named = [record for record in own if record.node.kind not in (NodeKind.CODE_SAMPLE, NodeKind.RETIRED)]
    records = {record.node.identity: NodeRecord(record.node, ()) for record in named}
    words = sorted({word for record in named for word in typed_words(record.node.title) if len(word) > 3})
    draw = random.Random(7)
    while not quick and len(records) < NODES:
        node = draw.choice(named).node
        identity = NodeIdentity(f"{node.identity.uid}.{len(records)}", node.identity.locale)
        title = f"{node.title} {draw.choice(words)} {draw.choice(words)}"
        records[identity] = NodeRecord(replace(node, identity=identity, title=title, aliases=()), ())
    return list(records.values())


def misspelt(name: str, draw: random.Random) -> str:
    """One letter of its longest word missing, doubled, wrong or swapped with the next, but for the first."""
    word = max(typed_words(name), key=len)
    at = draw.randrange(1, len(word) - 1)
    wrong = draw.choice(
        [
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + "q" + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        ]
    )
    return folded(name).replace(word, wrong, 1)


async def took(toolbox: LocalToolbox, text: str) -> tuple[float, list[str]]:
    started = time.perf_counter()
    found = await toolbox.call(catalogue.SUGGEST, SuggestRequest(text=text), ANONYMOUS)
    return (time.perf_counter() - started) * 1000, [one.text for one in found.suggestions]


async def main(quick: bool) -> None:
    say_stack("cogitave-query", "tantivy", "kglite")
    records = made(quick)
    with TemporaryDirectory() as folder:
        async with open_toolbox(Settings(graph_deadline=60_000), Path(folder) / "data") as toolbox:
            publisher = replace(
                toolbox.publisher,
                readers=[MadeReader(records)],
                projections=replace(toolbox.publisher.projections, embedder=UnreadVectors()),
            )
            await publisher.publish(PublishRequest(paths=[folder]))
            await took(toolbox, "warm")
            await measure(toolbox, records)


async def measure(toolbox: LocalToolbox, records: Sequence[NodeRecord]) -> None:
    draw = random.Random(11)
    titles = sorted({r.node.title for r in records if len(max(typed_words(r.node.title), key=len, default="")) > 5})
    chosen = draw.sample(titles, min(NAMES, len(titles)))
    typing = [(await took(toolbox, title[:length]))[0] for title in chosen for length in (1, 2, 3, 5, 8, 12)]
    whole = [await took(toolbox, title) for title in chosen]
    wrong = [await took(toolbox, misspelt(title, draw)) for title in chosen]
    among = f"{len(records):,} nodes"
    for claim, taken in (
        ("a suggestion while one types", typing),
        ("a suggestion for a whole title", [taken for taken, _ in whole]),
        ("a suggestion for a misspelt title", [taken for taken, _ in wrong]),
    ):
        p50, p99 = np.percentile(taken, (50, 99))
        say(Measurement(claim, float(p50), "ms, p50", BUDGET), f"p99 {p99:.1f} ms; {among}")
    for claim, found in (("whole title", whole), ("misspelt title", wrong)):
        held = [title in texts for title, (_, texts) in zip(chosen, found, strict=True)]
        say(Measurement(f"{claim} is suggested", float(np.mean(held)), "of titles"), among)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    asyncio.run(main(parser.parse_args().quick))
