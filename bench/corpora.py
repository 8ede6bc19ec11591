"""What the benches search: the shared estates, and document collections that come with judgments."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from adapters.estates import readers
from bench.vector_cache import FOLDER
from service.bootstrap import open_toolbox
from service.domain.content import Block, BlockKind, NodeRecord, Section
from service.domain.diagnostics import Diagnostic
from service.domain.graph import Node, NodeIdentity, NodeKind
from service.domain.requests import PublishRequest
from service.evaluation.sets import EvaluationSet, load_set, renamed
from service.settings import Settings
from service.tools.local import LocalToolbox
from tests.shared_data import ESTATES, RELEVANCE

LOCALE = "en-us"


class CorpusReader:
    """A judged document collection (`corpus.jsonl.gz`) as an estate: a page a document."""

    format = "judged corpus"

    def recognises(self, root: Path) -> bool:
        return (root / "corpus.jsonl.gz").exists()

    def read(self, root: Path, docset: str) -> Iterator[NodeRecord | Diagnostic]:
        for document in load_set(root).documents:
            node = Node(NodeIdentity(document.id, LOCALE), NodeKind.PAGE, document.title, docset=docset)
            yield NodeRecord(node, (Section("", "", 0, (Block(BlockKind.PROSE, document.text, 1),)),))


@asynccontextmanager
async def published(name: str, paths: Sequence[Path], settings: Settings) -> AsyncIterator[LocalToolbox]:
    """The folders in a data folder of their own, which later runs find again with all its vectors."""
    async with open_toolbox(settings, FOLDER / "data" / name) as toolbox:
        publisher = replace(toolbox.publisher, readers=[CorpusReader(), *readers(settings)])
        await publisher.publish(PublishRequest(paths=[str(path) for path in paths]), _say)
        yield toolbox


def _say(stage: str, done: int, total: int) -> None:
    if stage == "embedding" and done % 1_024 == 0:
        print(f"  embedding {done} of {total} passages", flush=True)


def quiz_set(judgments: str = "qrels-units.tsv") -> EvaluationSet:
    """Knowledge-check questions of the Learn modules."""
    return load_set(RELEVANCE / "learn-quiz", judgments)


def link_set(records: Sequence[NodeRecord]) -> EvaluationSet:
    """Words of links, by the uids of what they link to, as far as these records hold it."""
    uids = {f"{record.node.docset}/{record.node.path}": record.node.identity.uid for record in records}
    by_uid, _ = renamed(load_set(RELEVANCE / "link-text"), uids)
    return by_uid


def estate(name: str) -> Path:
    return ESTATES / name
