"""What the benches search: the shared estates, and document collections that come with judgments."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from adapters.estates import ReadingRules, readers
from bench.unread import UnreadVectors
from bench.vector_cache import FOLDER, RememberingMiniLM
from service.bootstrap import open_toolbox
from service.domain.content import NodeRecord
from service.domain.graph import NodeKind
from service.domain.requests import PublishRequest
from service.evaluation.sets import EvaluationSet, load_set, renamed
from service.publishing.estates import read_estates
from service.settings import Settings
from service.tools.local import LocalToolbox
from tests.shared_data import ESTATES, RELEVANCE

LOCALE = "en-us"

PATIENT = Settings.model_validate({name: 60_000 for name in Settings.model_fields if name.endswith("_deadline")})
"""The defaults but for deadlines: on a busy machine an answer that came late is still the answer."""


@asynccontextmanager
async def published(
    name: str, paths: Sequence[Path], settings: Settings, *, embed: bool = True
) -> AsyncIterator[LocalToolbox]:
    """The folders in a data folder of their own, which later runs find again with all its vectors.

    embed: whether the model reads them; without it the vectors stand for nothing, and only BM25 may be asked.
    """
    embedder = RememberingMiniLM() if embed else UnreadVectors()
    async with open_toolbox(settings, FOLDER / "data" / (name if embed else f"{name}, unread")) as toolbox:
        publisher = replace(
            toolbox.publisher,
            projections=replace(toolbox.publisher.projections, embedder=embedder),
        )
        try:
            await publisher.publish(PublishRequest(paths=[str(path) for path in paths]))
        finally:
            await embedder.close()
        yield toolbox


def estate(name: str) -> Path:
    return ESTATES / name


def records_of(name: str) -> list[NodeRecord]:
    """What an estate says, findings left aside."""
    return list(read_estates([str(estate(name))], readers(ReadingRules())).records)


def quiz_set() -> EvaluationSet:
    """Knowledge-check questions of the Learn modules; relevant are the other units of the question's module."""
    return load_set(RELEVANCE / "learn-quiz", "qrels-units.tsv")


def link_set(records: Sequence[NodeRecord]) -> EvaluationSet:
    """Words of links, as far as the page that they link to is among the records."""
    pages = [record.node for record in records if record.node.kind is NodeKind.PAGE]
    uids = {f"{page.docset}/{page.path}": page.identity.uid for page in pages}
    return renamed(load_set(RELEVANCE / "link-text"), uids)[0]
