"""What 1,000 pinned results and 1,000 synonyms cost a search that they don't concern, and one that they do.

python -m bench.tuning     the project's own manual
"""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from bench.report import Measurement, say, say_stack
from service.bootstrap import open_toolbox
from service.domain.principal import ANONYMOUS, OWNER
from service.domain.requests import PublishRequest, SearchRequest
from service.domain.tuning import PinnedResult, ReplaceTuningRequest, Synonym
from service.settings import Settings
from service.tools import catalogue
from service.tools.local import LocalToolbox

DOCS = Path(__file__).resolve().parents[1] / "docs"
QUESTIONS = (
    "how are two rankings fused",
    "why is a page not found",
    "restore a backup on another machine",
    "create an api key with a scope",
    "what does the guard refuse",
    "publish a folder of markdown",
    "a breaker is open",
    "query the graph for the units of a module",
)
ROUNDS = 40
ENTRIES = 1_000


def content() -> tuple[list[PinnedResult], list[Synonym]]:
    """Words of the manual among them, so that questions meet the index and not only its absence."""
    common = ("graph", "page", "backup", "rank", "folder", "key", "guard", "module")
    pins = [
        PinnedResult(words=f"{common[n % 8]} subject{n}", uid="cogitave.query.fusion", note=f"pin {n}")
        for n in range(ENTRIES - 1)
    ]
    synonyms = [Synonym(terms=[f"{common[n % 8]} matter{n}", f"other{n}"]) for n in range(ENTRIES - 1)]
    met = PinnedResult(words="breaker open", uid="cogitave.query.fusion", note="met")
    return [*pins, met], [*synonyms, Synonym(terms=["breaker", "fuse"])]


async def measure(toolbox: LocalToolbox) -> None:
    untuned, tuned = {text: list[float]() for text in QUESTIONS}, {text: list[float]() for text in QUESTIONS}
    for round in range(ROUNDS):
        for text in QUESTIONS:
            # In turn, so that a busy machine slows both; the first round warms up.
            for taken, without in ((untuned, True), (tuned, False)):
                request = SearchRequest(text=text, without_tuning=without, logged=False)
                started = time.perf_counter()
                await toolbox.call(catalogue.SEARCH, request, ANONYMOUS)
                if round:
                    taken[text].append((time.perf_counter() - started) * 1000)
    met = "a breaker is open"
    for name, texts in (("not met", [text for text in QUESTIONS if text != met]), ("met", [met])):
        bare = statistics.median(value for text in texts for value in untuned[text])
        full = statistics.median(value for text in texts for value in tuned[text])
        say(Measurement(f"a search, {ENTRIES} pins and synonyms, {name}, beside none", full, "ms p50", bare))


async def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with open_toolbox(Settings(tuning_staleness=600_000), Path(folder, "data")) as toolbox:
            await toolbox.publish(PublishRequest(paths=[str(DOCS)]))
            pins, synonyms = content()
            request = ReplaceTuningRequest(version=0, pins=pins, synonyms=synonyms)
            started = time.perf_counter()
            await toolbox.call(catalogue.REPLACE_TUNING, request, OWNER)
            taken = (time.perf_counter() - started) * 1000
            say(Measurement(f"a new version of {ENTRIES} pins and synonyms", taken, "ms"))
            await measure(toolbox)


if __name__ == "__main__":
    say_stack("tantivy")
    asyncio.run(run())
