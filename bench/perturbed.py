"""More of the same: an estate's records and vectors multiplied, each copy a little different from the others."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np

from bench.nonsense import pronounceable
from bench.unread import UnreadVectors
from service.domain.content import Block, NodeRecord
from service.domain.diagnostics import Diagnostic
from service.domain.graph import NodeIdentity
from service.ports import Vectors

REPLACED = 0.1
"""Share of words that a copy replaces by others of the same vocabulary, and in one of ten cases by new ones."""

NOISE = 0.25
"""Length of the noise that is added to a unit vector, before it is brought back to unit length."""


class PerturbedReader:
    """An estate reader that gives each record `copies` times; the first copy is the record itself."""

    format = "perturbed copies"

    def __init__(self, records: Sequence[NodeRecord], copies: int) -> None:
        self._records = records
        self._copies = copies
        words = {word for r in records for s in r.sections for block in s.blocks for word in block.text.split()}
        self._vocabulary = sorted(words)

    def recognises(self, root: Path) -> bool:  # noqa: ARG002
        return True

    def read(self, root: Path, docset: str) -> Iterator[NodeRecord | Diagnostic]:  # noqa: ARG002
        yield from self._records
        for copy in range(1, self._copies):
            draw = random.Random(copy)
            for record in self._records:
                yield self._perturbed(record, copy, draw)

    def _perturbed(self, record: NodeRecord, copy: int, draw: random.Random) -> NodeRecord:
        identity = NodeIdentity(f"{record.node.identity.uid}~{copy}", record.node.identity.locale)
        sections = tuple(
            replace(section, blocks=tuple(self._reworded(block, draw) for block in section.blocks))
            for section in record.sections
        )
        references = tuple(
            replace(reference, target_uid=f"{reference.target_uid}~{copy}") for reference in record.references
        )
        return NodeRecord(replace(record.node, identity=identity, aliases=()), sections, references)

    def _reworded(self, block: Block, draw: random.Random) -> Block:
        words = block.text.split(" ")
        for _ in range(int(len(words) * REPLACED)):
            fresh = pronounceable(draw) if draw.random() < 0.1 else draw.choice(self._vocabulary)
            words[draw.randrange(len(words))] = fresh
        return replace(block, text=" ".join(words))


class PerturbedVectors(UnreadVectors):
    """Fulfils the port Embedder: a real passage's vector with noise, chosen by the text's hash."""

    model = "perturbed"

    def __init__(self, vectors: Vectors) -> None:
        super().__init__()
        self._vectors = vectors

    async def embed(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Vectors:
        chosen = [int.from_bytes(sha256(text.encode("utf-8", "replace")).digest()[8:16]) for text in texts]
        noisy = self._vectors[[number % len(self._vectors) for number in chosen]]
        noisy = noisy + NOISE * await super().embed(texts, purpose)
        unit: Vectors = noisy / np.linalg.norm(noisy, axis=1, keepdims=True)
        return unit
