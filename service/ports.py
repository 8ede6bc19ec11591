"""What the service needs from the outside, as Protocols. Adapters fulfil them; `bootstrap` chooses which.

Every method that talks to an engine raises EngineLate when its deadline passes and EngineUnavailable when the engine
can't answer, and nothing else of the engine's own.
"""

from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from cypher_guard import GuardedQuery
from service.domain.content import NodeRecord, Passage, PassageKey
from service.domain.deadline import Deadline
from service.domain.diagnostics import Diagnostic, PublishDiagnostics
from service.domain.filters import SearchScope
from service.domain.graph import NodeIdentity
from service.domain.keys import ApiKey
from service.domain.scores import NodeScores
from service.domain.snapshots import LinkedGraph, PublishEntry, PublishStep, Snapshot, SnapshotChange
from service.domain.tuning import TuningResult, TuningVersion
from service.statements import ServiceStatement

Vector = npt.NDArray[np.float32]
"""One embedding, shape (dimensions,), of unit length."""

Vectors = npt.NDArray[np.float32]
"""Embeddings, shape (texts, dimensions), each of unit length."""


@dataclass(frozen=True, slots=True)
class PassageHit:
    """A record's best passage in one leg. Scores compare within one answer only; higher is better."""

    passage: PassageKey
    score: float


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a passage's text, in characters: text[start:end]."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Expansion:
    """What counts as well as some of a text's own terms: the best of `alternatives`, each a term or several that must
    all be there, adds to a passage's score, times `weight`, 0 to 1."""

    alternatives: tuple[str, ...]
    weight: float


class LexicalIndex(Protocol):
    """BM25 over passages."""

    @property
    def engine(self) -> str:
        """The engine's name, as `degraded` and /readyz report it."""
        ...

    async def add(self, passages: Sequence[Passage], generation: int) -> None:
        """Make passages searchable from `generation` on; durable on return. Adding a key again replaces it."""
        ...

    def terms(self, text: str) -> tuple[str, ...]:
        """The text's different terms as this index analyses a question, in order; asks no engine."""
        ...

    async def search(
        self, text: str, scope: SearchScope, *, depth: int, deadline: Deadline, expansions: Sequence[Expansion] = ()
    ) -> list[PassageHit]:
        """Rank records, one version of a node each, by their best passage: at most `depth` of them, best first.

        While a publish goes on, two versions of a node may both be there: which one the snapshot holds, the graph says.
        `text` is words, never syntax, and so are `expansions`. A passage that shares no term with either is no hit; a
        text of no terms has none.
        """
        ...

    async def passages(
        self, keys: Sequence[PassageKey], scope: SearchScope, *, deadline: Deadline
    ) -> dict[PassageKey, Passage]:
        """The stored passages with their display fields; a key that is unknown or out of scope is left out."""
        ...

    async def highlight(self, text: str, passages: Sequence[Passage], *, deadline: Deadline) -> list[tuple[Span, ...]]:
        """Where each passage's text matches the query's terms, by the index's analysis; same order as `passages`."""
        ...

    async def known_terms(self, text: str, scope: SearchScope, *, deadline: Deadline) -> Mapping[str, int]:
        """The query's terms as analysed → how many passages in scope hold each (0: none does)."""
        ...

    async def remove(self, records: Collection[tuple[NodeIdentity, str]]) -> None:
        """Forget every passage of these (identity, content hash) pairs."""
        ...

    async def remove_after(self, generation: int) -> None:
        """Forget every passage added for a later generation: the leavings of a publish that never committed."""
        ...

    async def keys(self, generation: int) -> set[PassageKey]:
        """Every passage held up to `generation`: for doctor."""
        ...

    async def check(self, deadline: Deadline) -> None:
        """Return when the engine can answer; raise otherwise."""
        ...

    async def close(self) -> None: ...


class VectorIndex(Protocol):
    """Nearest neighbours over passage vectors, by cosine."""

    @property
    def engine(self) -> str: ...

    async def add(self, passages: Sequence[Passage], vectors: Vectors, generation: int) -> None:
        """As LexicalIndex.add; row i of `vectors` belongs to passage i."""
        ...

    async def search(self, vector: Vector, scope: SearchScope, *, depth: int, deadline: Deadline) -> list[PassageHit]:
        """As LexicalIndex.search, by the nearest passage; score is the cosine."""
        ...

    async def passages(
        self, keys: Sequence[PassageKey], scope: SearchScope, *, deadline: Deadline
    ) -> dict[PassageKey, Passage]: ...

    async def count(self, generation: int) -> int:
        """How many passages are held up to `generation`."""
        ...

    async def remove(self, records: Collection[tuple[NodeIdentity, str]]) -> None: ...

    async def remove_after(self, generation: int) -> None: ...

    async def keys(self, generation: int) -> set[PassageKey]: ...

    async def check(self, deadline: Deadline) -> None: ...

    async def close(self) -> None: ...


class TokenCounter(Protocol):
    """The sentence model's own view of a text, for cutting passages."""

    def spans(self, text: str) -> list[Span]:
        """One span a token, in order, without the model's special tokens."""
        ...


class Embedder(Protocol):
    """Sentences → vectors."""

    @property
    def model(self) -> str:
        """Names the weights and the pooling: two embedders with one name give the same vectors."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def tokens(self) -> TokenCounter: ...

    @property
    def passage_tokens(self) -> int:
        """The longest passage, in tokens, that the model reads whole."""
        ...

    async def embed(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Vectors: ...

    async def close(self) -> None: ...


class EmbeddingCache(Protocol):
    """Vectors by what they were made from: (model, SHA-256 of the embedded text)."""

    def get(self, model: str, hashes: Sequence[str]) -> dict[str, Vector]: ...

    def put(self, model: str, vectors: Mapping[str, Vector]) -> None: ...


@dataclass(frozen=True, slots=True)
class Rows:
    """A graph's answer in plain JSON values. `truncated` says that more rows were there than the limit let through."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool = False

    def by_column(self) -> list[dict[str, Any]]:
        """Each row as column → value."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class GraphReader(Protocol):
    """The one way to read the graph: what the guard passed, or a statement of the reviewed catalogue."""

    @property
    def engine(self) -> str: ...

    async def run(self, query: GuardedQuery | ServiceStatement, *, deadline: Deadline) -> Rows:
        """Read the current snapshot. Stops the engine's work when the deadline passes (EngineLate)."""
        ...

    async def check(self, deadline: Deadline) -> None: ...

    async def close(self) -> None: ...


class GraphRanker(Protocol):
    """PageRank over the nodes that a visibility class may see, as DESIGN's graph prior defines it."""

    async def global_scores(self, audiences: frozenset[str], *, deadline: Deadline) -> NodeScores:
        """Unseeded: every node is a source of weight 1."""
        ...

    async def personalized(
        self, seeds: Mapping[NodeIdentity, float], audiences: frozenset[str], *, bound: float = 0.0, deadline: Deadline
    ) -> NodeScores:
        """p = (1−d)·Σ w_s·e_s + d·Pᵀ·p with the seeds' weights w_s; unknown or invisible seeds count nothing.

        bound: the share of its sum that the answer's `error` may be, where less work does then.
        """
        ...


class GraphStore(Protocol):
    """The system of record's writing side: snapshots, their records, and the journal between them."""

    async def snapshot(self) -> Snapshot:
        """What answers now; `Snapshot()` when nothing was published."""
        ...

    async def manifest(self, content_root: str | None = None) -> dict[NodeIdentity, str]:
        """Identity → content hash of a kept snapshot, the current one by default. KeyError for a root not kept."""
        ...

    def records(self, hashes: Collection[str]) -> AsyncIterator[NodeRecord]:
        """The stored records with these content hashes, in no set order."""
        ...

    async def roots(self) -> list[Snapshot]:
        """Kept snapshots, newest first."""
        ...

    async def unfinished(self) -> PublishEntry | None:
        """The publish that has not reached COLLECTED, if there is one."""
        ...

    async def begin(self, entry: PublishEntry) -> None:
        """Write the entry. Raises PublishInProgress when another publish is unfinished."""
        ...

    async def advance(self, publish_id: str, step: PublishStep) -> None:
        """Write how far a publish has come, which is a sign of life too: the same step may come again."""
        ...

    async def commit(self, change: SnapshotChange) -> None:
        """Records, graph, manifest, root and journal step move together, or not at all; readers see old or new."""
        ...

    async def restore(self, graph: LinkedGraph) -> None:
        """Make the current snapshot's graph this one, whole; root and records stay as they are."""
        ...

    async def abandon(self, publish_id: str) -> None:
        """Strike an entry that never committed."""
        ...

    async def keep(self, roots: int) -> None:
        """Forget all but the newest `roots` snapshots and the records that only they named."""
        ...

    async def keep_diagnostics(self, diagnostics: PublishDiagnostics) -> None:
        """Keep what the last publish found, in place of what the one before did."""
        ...

    async def diagnostics(self) -> PublishDiagnostics | None:
        """What the last publish found; None before the first."""
        ...

    async def close(self) -> None: ...


class EstateReader(Protocol):
    """One documentation format."""

    @property
    def format(self) -> str: ...

    def recognises(self, root: Path) -> bool:
        """Whether the folder looks like an estate of this format; reads no more than it must to tell."""
        ...

    def read(self, root: Path, docset: str) -> Iterator[NodeRecord | Diagnostic]:
        """Everything that can be read, and a finding for everything that can't. Raises nothing on bad content.

        Raises EstateRefused, before the first record, where publishing could show what its owner meant to hide.
        """
        ...


class RunLog(Protocol):
    """One record a query, for explaining and replaying it."""

    def append(self, record: Mapping[str, Any]) -> None:
        """Never blocks and never raises: a full log drops its oldest records."""
        ...

    def recent(self, limit: int) -> list[Mapping[str, Any]]:
        """Newest first."""
        ...

    def find(self, run_id: str) -> Mapping[str, Any] | None:
        """The record whose `runId` this is, or alone begins with these four characters or more, while it is kept."""
        ...


class KeyStore(Protocol):
    """API keys, their secrets as hashes: out of reach of every query of a caller."""

    async def add(self, key: ApiKey, *, deadline: Deadline) -> None: ...

    async def find(self, id: str, *, deadline: Deadline) -> ApiKey | None:
        """The key of this id, revoked or not."""
        ...

    async def all(self, *, deadline: Deadline) -> list[ApiKey]:
        """Oldest first, the revoked among them."""
        ...

    async def revoke(self, id: str, at: datetime, *, deadline: Deadline) -> bool:
        """False where there is no such key. Once revoked, a key stays so, and since then."""
        ...

    async def used(self, id: str, at: datetime, *, deadline: Deadline) -> None: ...

    async def close(self) -> None: ...


class AuditLog(Protocol):
    """Who did what: for the operator's eyes, and in no answer."""

    def append(self, event: Mapping[str, Any]) -> None:
        """Written on return. Never raises: what can't be kept is said in the log."""
        ...

    def close(self) -> None: ...


class Judgments(Protocol):
    """What people found of answers, as a set that `evaluate` reads."""

    def add(self, question: str, grades: Mapping[str, int]) -> None:
        """Keep the grade of each uid, 0 to 3, for this question; a later one replaces an earlier. Written on return.

        Raises JudgmentsFull, EngineUnavailable.
        """
        ...

    def count(self) -> tuple[int, int]:
        """Questions, and grades of them. Raises EngineUnavailable."""
        ...


class TuningStore(Protocol):
    """Pinned results and synonyms by workspace, each version of them immutable: the service's own, as keys are."""

    async def newest(self, workspace: str, *, deadline: Deadline) -> int:
        """The number of the current version."""
        ...

    async def find(self, workspace: str, version: int | None = None, *, deadline: Deadline) -> TuningResult | None:
        """A version, by default the current one; None where it is not kept. Version 0 is empty, and always there."""
        ...

    async def history(self, workspace: str, *, limit: int, deadline: Deadline) -> list[TuningVersion]:
        """The kept versions, newest first."""
        ...

    async def workspaces(self, *, deadline: Deadline) -> list[TuningVersion]:
        """The current version of every workspace that has one, by name."""
        ...

    async def append(self, tuning: TuningResult, *, kept: int, deadline: Deadline) -> None:
        """Make this the current version, in one step; all but the newest `kept` give way.

        Raises TuningChanged where its number is not the current one's successor: somebody was faster.
        """
        ...

    async def close(self) -> None: ...


class MigrationStep(Protocol):
    """One numbered step of an engine's schema."""

    @property
    def number(self) -> int: ...

    @property
    def name(self) -> str: ...


class Migrator(Protocol):
    """Brings one engine's schema to what this version needs: forward only, idempotent, safe when two start at once."""

    @property
    def engine(self) -> str: ...

    async def plan(self) -> Sequence[MigrationStep]:
        """What `apply` would do."""
        ...

    async def apply(self) -> Sequence[MigrationStep]:
        """What was done."""
        ...
