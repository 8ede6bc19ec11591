"""What publishing takes: pages a second and memory without the model, and the model's own throughput.

python -m bench.publish             four estates
python -m bench.publish --quick     one
"""

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from adapters.embedding.minilm import MiniLM
from bench.corpora import estate, records_of
from bench.report import Measurement, say, say_stack
from bench.unread import UnreadVectors
from service.bootstrap import open_toolbox
from service.domain.requests import PublishRequest
from service.publishing.passages import cut
from service.settings import Settings

PAGES = ("page", "unit", "module", "learningPath")
"""Kinds that are a source file of their own."""

LEAST_PAGES = 150
MOST_MEMORY = 1_024
FACTS_THROUGHPUT = 31
TEXTS = 200


async def without_model(paths: Sequence[Path]) -> None:
    with tempfile.TemporaryDirectory(prefix="cogitave-query-publish-") as folder:
        async with open_toolbox(Settings(), Path(folder)) as toolbox:
            publisher = replace(
                toolbox.publisher, projections=replace(toolbox.publisher.projections, embedder=UnreadVectors())
            )
            request = PublishRequest(paths=[str(path) for path in paths])
            started = time.perf_counter()
            done = await publisher.publish(request)
            seconds = time.perf_counter() - started
            started = time.perf_counter()
            again = await publisher.publish(request)
            seconds_again = time.perf_counter() - started
    pages = sum(done.nodes.get(kind, 0) for kind in PAGES)
    remark = f"{pages:,} pages, {done.passages:,} passages, {sum(done.edges.values()):,} edges in {seconds:.1f} s"
    say(Measurement("publishing without embedding", pages / seconds, "pages/s", LEAST_PAGES), remark)
    remark = f"{again.embedded} texts embedded, {again.unchanged:,} nodes unchanged"
    say(Measurement("publishing the same again", seconds_again, "s", seconds), remark)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    say(Measurement("peak memory of the publishing process", peak, "MiB", MOST_MEMORY), "model and engines included")


async def model_alone(threads: int) -> None:
    """Passages of about 100 tokens, as the facts' figure has them."""
    model = MiniLM.load(threads=threads)
    passages = [p for record in records_of("learn-en-us") for p in cut(record, model.tokens, 110)]
    texts = [p.embedded_text for p in passages if 90 <= len(model.tokens.spans(p.embedded_text)) <= 110][:TEXTS]
    await model.embed(texts[:8], "passage")
    started, processor = time.perf_counter(), time.process_time()
    await model.embed(texts, "passage")
    seconds, processor_seconds = time.perf_counter() - started, time.process_time() - processor
    await model.close()
    remark = f"{len(texts)} texts of about 100 tokens; {len(texts) / seconds:.1f} texts/s on {threads} threads"
    say(Measurement("embedding", len(texts) / processor_seconds, "texts/CPU-second", FACTS_THROUGHPUT), remark)


async def main(quick: bool) -> None:
    say_stack("cogitave-query", "tantivy", "qdrant-edge-py", "kglite", "onnxruntime")
    names = ["learn-en-us"] if quick else ["learn-en-us", "learn-de-de", "entity-framework", "maui"]
    await without_model([estate(name) for name in names])
    await model_alone(threads=Settings().embedding_threads)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    asyncio.run(main(parser.parse_args().quick))
