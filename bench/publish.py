"""What publishing takes: pages a second and memory without the model, again, after one changed page, and the model's
own throughput.

python -m bench.publish             four estates
python -m bench.publish --quick     one
python -m bench.publish --scale     synthetic sites of up to 50,000 pages, each in a process of its own
"""

import argparse
import asyncio
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from adapters.embedding.minilm import MiniLM
from bench.corpora import estate, records_of
from bench.report import Measurement, say, say_stack
from bench.synthetic import write_site
from bench.unread import UnreadVectors
from service.bootstrap import open_toolbox
from service.domain.requests import PublishRequest
from service.publishing.passages import cut
from service.settings import Settings

PAGES = ("page", "unit", "module", "learningPath")
"""Kinds that are a source file of their own."""

LEAST_PAGES = 150
MOST_MEMORY = 1_024
MOST_SECONDS_AGAIN = 1.0
SIZES = (5_000, 12_500, 25_000, 50_000)
FACTS_THROUGHPUT = 31
TEXTS = 200


async def without_model(sources: Sequence[Path]) -> None:
    """Publish copies of the folders, publish them again, and once more with one page changed."""
    with tempfile.TemporaryDirectory(prefix="cogitave-query-publish-") as folder:
        estates = [Path(folder) / "estates" / source.name for source in sources]
        for source, copy in zip(sources, estates, strict=True):
            shutil.copytree(source, copy)
        async with open_toolbox(Settings(), Path(folder) / "data") as toolbox:
            publisher = replace(
                toolbox.publisher, projections=replace(toolbox.publisher.projections, embedder=UnreadVectors())
            )
            request = PublishRequest(paths=[str(estate) for estate in estates])
            started, processor = time.perf_counter(), time.process_time()
            done = await publisher.publish(request)
            seconds, processor_seconds = time.perf_counter() - started, time.process_time() - processor
            started, processor = time.perf_counter(), time.process_time()
            again = await publisher.publish(request)
            seconds_again, processor_again = time.perf_counter() - started, time.process_time() - processor
            page = a_page(estates[0])
            page.write_text(page.read_text() + "\n\nOne sentence more, which nobody has read.\n")
            started, processor = time.perf_counter(), time.process_time()
            changed = await publisher.publish(request)
            seconds_changed, processor_changed = time.perf_counter() - started, time.process_time() - processor
    pages = sum(done.nodes.get(kind, 0) for kind in PAGES)
    remark = (
        f"{pages:,} pages, {done.passages:,} passages, {sum(done.edges.values()):,} edges in {processor_seconds:.1f} s "
        f"of processor time, {seconds:.1f} s by the clock"
    )
    rate = pages / processor_seconds
    say(Measurement("publishing without embedding", rate, "pages/CPU-second", LEAST_PAGES), remark)
    remark = f"{processor_again:.2f} s of processor time; {again.embedded} texts embedded, {again.unchanged:,} the same"
    say(Measurement("publishing the same again", seconds_again, "s", seconds), remark)
    remark = (
        f"{processor_changed:.2f} s of processor time; {changed.embedded} texts embedded, {changed.changed} changed"
    )
    say(Measurement("publishing after one changed page", seconds_changed, "s", MOST_SECONDS_AGAIN), remark)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    say(Measurement("peak memory of the publishing process", peak, "MiB", MOST_MEMORY), "model and engines included")


def a_page(estate: Path) -> Path:
    """One that is published, with prose."""
    return max(
        (path for path in estate.rglob("*.md") if path.name != "README.md"), key=lambda path: path.stat().st_size
    )


async def synthetic(pages: int) -> None:
    with tempfile.TemporaryDirectory(prefix="cogitave-query-site-") as folder:
        await without_model([write_site(Path(folder) / f"site-{pages}", pages)])


def scale() -> None:
    """Each size in a process of its own, for memory that one has had is not given back."""
    for pages in SIZES:
        subprocess.run([sys.executable, "-m", "bench.publish", "--pages", str(pages)], check=True)


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
    parser.add_argument("--scale", action="store_true")
    parser.add_argument("--pages", type=int, help="one synthetic site of so many pages")
    asked = parser.parse_args()
    if asked.scale:
        scale()
    elif asked.pages:
        asyncio.run(synthetic(asked.pages))
    else:
        asyncio.run(main(asked.quick))
