"""The least that could do the job: tantivy, qdrant-edge and RRF in a few lines, without filters, visibility, snapshots,
deadlines, highlights or explanations. What the pipeline costs is measured beside it."""

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import qdrant_edge as qdrant
import tantivy

from service.ports import Vector, Vectors

_ENGLISH = (
    tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    .filter(tantivy.Filter.lowercase())
    .filter(tantivy.Filter.stopword("english"))
    .filter(tantivy.Filter.stemmer("english"))
    .build()
)


class Floor:
    """`nodes[i]` names the node of text i; texts and vectors belong together row by row."""

    def __init__(self, texts: Sequence[str], nodes: Sequence[str], vectors: Vectors) -> None:
        self._nodes = nodes
        self._folder = tempfile.TemporaryDirectory(prefix="cogitave-query-floor-")
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("text", tokenizer_name="english")
        schema.add_unsigned_field("number", fast=True)
        self._schema = schema.build()
        index = tantivy.Index(self._schema)
        index.register_tokenizer("english", _ENGLISH)
        writer = index.writer(64_000_000, 1)
        for number, text in enumerate(texts):
            document = tantivy.Document()
            document.add_text("text", text)
            document.add_unsigned("number", number)
            writer.add_document(document)
        writer.commit()
        index.reload()
        self._searcher = index.searcher()
        parameters = qdrant.EdgeVectorParams(size=vectors.shape[1], distance=qdrant.Distance.Cosine)
        path = Path(self._folder.name, "vectors")
        path.mkdir()
        self._shard = qdrant.EdgeShard.create(str(path), qdrant.EdgeConfig(vectors=parameters))
        for start in range(0, len(vectors), 1_000):
            points = [qdrant.Point(start + n, row.tolist()) for n, row in enumerate(vectors[start : start + 1_000])]
            self._shard.update(qdrant.UpdateOperation.upsert_points(points))

    # What is timed: from here …
    def search(self, text: str, vector: Vector, *, depth: int = 100, k: int = 60) -> list[str]:
        """Nodes, best first."""
        votes: defaultdict[str, float] = defaultdict(float)
        for ranking in (self.lexical(text, depth), self.dense(vector, depth)):
            for rank, node in enumerate(dict.fromkeys(ranking), start=1):
                votes[node] += 1 / (k + rank)
        return sorted(votes, key=lambda node: -votes[node])

    def lexical(self, text: str, depth: int) -> Iterable[str]:
        terms = [tantivy.Query.term_query(self._schema, "text", term, "freq") for term in _ENGLISH.analyze(text)]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
        hits = [address for _, address in self._searcher.search(query, depth, count=False).hits]
        return [self._nodes[number] for number in self._searcher.fast_field_values("number", hits)] if hits else []

    def dense(self, vector: Vector, depth: int) -> Iterable[str]:
        nearest = qdrant.QueryRequest(limit=depth, query=qdrant.Query.Nearest(vector.tolist()))
        return [self._nodes[int(point.id)] for point in self._shard.query(nearest)]

    # … to here.

    def close(self) -> None:
        self._shard.close()
        self._folder.cleanup()
