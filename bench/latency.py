"""What a warm search takes, the query's own embedding apart, beside the least that could do the job.

python -m bench.latency             two estates, about 11,000 passages
python -m bench.latency --quick     the project's own manual
python -m bench.latency --scale     the two estates perturbed to 100,000 passages
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from bench.corpora import PATIENT, estate, published, quiz_set
from bench.floor import Floor
from bench.perturbed import PerturbedReader, PerturbedVectors
from bench.report import Measurement, say, say_stack
from bench.vector_cache import FOLDER
from service.bootstrap import open_toolbox
from service.domain.content import NodeRecord, Passage
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest, SearchRequest
from service.evaluation.sets import load_set
from service.ports import Vectors
from service.tools import catalogue
from service.tools.local import LocalToolbox
from tests.shared_data import RELEVANCE

DOCS = Path(__file__).resolve().parents[1] / "docs"
ESTATES = (estate("learn-en-us"), estate("entity-framework"))
QUESTIONS = 300
SCALE = 100_000


def questions() -> list[str]:
    """Knowledge-check questions and link texts in turn."""
    quiz = [query.text for query in quiz_set().queries]
    links = [query.text for query in load_set(RELEVANCE / "link-text").queries]
    return [text for pair in zip(quiz, links, strict=False) for text in pair][:QUESTIONS]


async def measure(name: str, toolbox: LocalToolbox, floor: Floor) -> None:
    texts = questions()
    for text in texts[:20]:
        await _search(toolbox, f"warming up: {text}")
    first = [await _search(toolbox, text) for text in texts]
    embedder = toolbox.publisher.projections.embedder
    vectors = {text: await toolbox.retrieval.query_vectors.vector(text) for text in texts}
    embedding: list[float] = []
    for text in texts:
        started = time.perf_counter()
        await embedder.embed([text], "query")
        embedding.append(_since(started))
    again, least = [], []
    # In turn, so that a busy machine slows both.
    for text in texts * 2:
        started = time.perf_counter()
        floor.search(text, vectors[text])
        least.append(_since(started))
        again.append(await _search(toolbox, text))
    say(Measurement(f"{name}: first search, embedding included, p50", _percentile(first, 50), "ms"))
    say(Measurement(f"{name}: first search, embedding included, p99", _percentile(first, 99), "ms"))
    say(Measurement(f"{name}: embedding a query, p50", _percentile(embedding, 50), "ms", 6.0), "the facts' figure")
    say(Measurement(f"{name}: embedding a query, p99", _percentile(embedding, 99), "ms"))
    remark = "embedding remembered; against tantivy + qdrant-edge + RRF"
    say(Measurement(f"{name}: search, p50", _percentile(again, 50), "ms", _percentile(least, 50)), remark)
    say(Measurement(f"{name}: search, p99", _percentile(again, 99), "ms", _percentile(least, 99)), remark)


async def _search(toolbox: LocalToolbox, text: str) -> float:
    started = time.perf_counter()
    result = await toolbox.call(catalogue.SEARCH, SearchRequest(text=text), ANONYMOUS)
    took = _since(started)
    if result.degraded:
        raise SystemExit(f"What is measured has to be whole, and it is not: {'; '.join(result.degraded)}")
    return took


async def estates(name: str, paths: Sequence[Path]) -> None:
    async with published(name, paths, PATIENT) as toolbox:
        _, passages, vectors = await _contents(toolbox)
        floor = Floor([p.embedded_text for p in passages], [p.node.identity.uid for p in passages], vectors)
        await measure(f"{len(passages):,} passages", toolbox, floor)
        floor.close()


async def scale() -> None:
    async with AsyncExitStack() as opened:
        real = await opened.enter_async_context(published("learn+ef", ESTATES, PATIENT))
        records, passages, vectors = await _contents(real)
        copies = SCALE // len(passages) + 1
        toolbox = await opened.enter_async_context(open_toolbox(PATIENT, FOLDER / "data" / f"perturbed × {copies}"))
        projections = replace(toolbox.publisher.projections, embedder=PerturbedVectors(vectors))
        publisher = replace(toolbox.publisher, readers=[PerturbedReader(records, copies)], projections=projections)
        started = time.perf_counter()
        done = await publisher.publish(PublishRequest(paths=[str(DOCS)]))
        say(Measurement("publishing perturbed copies", done.passages / (time.perf_counter() - started), "passages/s"))
        copied = [p for _ in range(copies) for p in passages]
        texts, nodes = [p.embedded_text for p in copied], [f"{p.node.identity.uid}~{n}" for n, p in enumerate(copied)]
        floor = Floor(
            texts, nodes, await PerturbedVectors(vectors).embed([f"{n}{t}" for n, t in enumerate(texts)], "passage")
        )
        await measure(f"{done.passages:,} passages", toolbox, floor)
        floor.close()


async def _contents(toolbox: LocalToolbox) -> tuple[list[NodeRecord], list[Passage], Vectors]:
    """All that is published: records, passages, and the passages' vectors from the cache."""
    store, projections = toolbox.publisher.store, toolbox.publisher.projections
    hashes = set((await store.manifest()).values())
    records = sorted([r async for r in store.records(hashes)], key=lambda record: record.node.identity)
    passages = await projections.cut(records)
    names = [sha256(p.embedded_text.encode()).hexdigest() for p in passages]
    known = projections.cache.get(projections.embedder.model, list(set(names)))
    return records, passages, np.stack([known[name] for name in names])


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000


def _percentile(times: Sequence[float], share: float) -> float:
    return float(np.percentile(times, share))


async def main(arguments: argparse.Namespace) -> None:
    say_stack("cogitave-query", "tantivy", "qdrant-edge-py", "kglite", "onnxruntime")
    if arguments.quick:
        await estates("docs", [DOCS])
    elif arguments.scale:
        await scale()
    else:
        await estates("learn+ef", ESTATES)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--scale", action="store_true")
    asyncio.run(main(parser.parse_args()))
