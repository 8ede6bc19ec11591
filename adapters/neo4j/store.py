"""GraphStore in Neo4j: one transaction moves the graph, its records, the root and the journal together."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from typing import Any

from neo4j import READ_ACCESS, WRITE_ACCESS, AsyncDriver, AsyncTransaction

from adapters.neo4j.changes import Write, changes, split
from adapters.neo4j.connection import engine_errors
from service.domain.content import NodeRecord, record_from_json
from service.domain.diagnostics import PublishDiagnostics
from service.domain.errors import PublishInProgress
from service.domain.graph import NodeIdentity
from service.domain.snapshots import (
    EMPTY_ROOT,
    LinkedGraph,
    PublishEntry,
    PublishStep,
    Snapshot,
    SnapshotChange,
)

_NEWEST = (
    "OPTIONAL MATCH (j:Journal {name: 'publish'}) WITH coalesce(j.applying, false) AS applying "
    "MATCH (s:Snapshot) RETURN s.body, applying ORDER BY s.generation DESC LIMIT 1"
)
_CURRENT_PUBLISH = "MATCH (s:Snapshot) RETURN s.publishId ORDER BY s.generation DESC LIMIT 1"
_ROOTS = "MATCH (s:Snapshot) RETURN s.body ORDER BY s.generation DESC"
_MANIFEST = "MATCH (s:Snapshot {contentRoot: $root}) RETURN s.manifest"
_RECORDS = "UNWIND $hashes AS hash MATCH (r:Record {contentHash: hash}) RETURN r.body"
_ENTRY = (
    "MATCH (j:Journal {name: 'publish'}) WHERE j.step <> $collected "
    "RETURN j.entry, j.step, duration.inSeconds(j.touchedAt, datetime()).seconds"
)

# Whoever writes the journal holds its node's lock until the end of the transaction: two publishers queue here.
_LOCK = "MERGE (j:Journal {name: 'publish'}) SET j.locked = true RETURN j.publishId, j.step, j.entry"
_WRITE_ENTRY = (
    "MATCH (j:Journal {name: 'publish'}) "
    "SET j = {name: 'publish', publishId: $publish_id, step: $step, entry: $entry}, j.touchedAt = datetime()"
)
_ADVANCE = (
    "MATCH (j:Journal {name: 'publish', publishId: $publish_id}) SET j.step = $step, j.touchedAt = datetime() "
    "RETURN j.step"
)
_STRIKE = "MATCH (j:Journal {name: 'publish', publishId: $publish_id}) WHERE NOT j.step IN $committed DELETE j"

# While a change that is too large for one transaction is applied: what is read is of neither snapshot.
_MARK = (
    "MATCH (j:Journal {name: 'publish', publishId: $publish_id}) SET j.applying = true, j.touchedAt = datetime() "
    "RETURN j.step"
)
_MARK_REPAIR = "MERGE (j:Journal {name: 'publish'}) ON CREATE SET j.step = $collected SET j.applying = true"
_UNMARK = "MATCH (j:Journal {name: 'publish'}) REMOVE j.applying"
_IS_APPLYING = (
    "MATCH (j:Journal {name: 'publish', publishId: $publish_id}) WHERE j.applying AND NOT j.step IN $committed "
    "RETURN j.step"
)
_DELETE_SOME = "MATCH (n:Node) WITH n LIMIT $rows DETACH DELETE n RETURN count(*)"

_WRITE_RECORDS = "UNWIND $rows AS row MERGE (r:Record {contentHash: row.hash}) ON CREATE SET r.body = row.body"
_WRITE_SNAPSHOT = (
    "MERGE (s:Snapshot {contentRoot: $root}) SET s.generation = $generation, s.publishId = $publish_id, "
    "s.body = $body, s.manifest = $manifest"
)
_FORGET_SNAPSHOTS = "MATCH (s:Snapshot) WHERE s.contentRoot IN $roots DELETE s"
_FORGET_RECORDS = "UNWIND $hashes AS hash MATCH (r:Record {contentHash: hash}) DELETE r"

# Two publishers at once could make two of these nodes: the journal's lock lets one at a time.
_WRITE_DIAGNOSTICS = (
    "MERGE (j:Journal {name: 'publish'}) ON CREATE SET j.step = $collected SET j.locked = true "
    "MERGE (d:Diagnostics {of: 'publish'}) SET d.body = $body"
)
_DIAGNOSTICS = "MATCH (d:Diagnostics {of: 'publish'}) RETURN d.body LIMIT 1"

Rebuild = Callable[[Iterable[NodeRecord]], LinkedGraph]

_COMMITTED = [PublishStep.COMMITTED.value, PublishStep.COLLECTED.value]
_RECORDS_AT_ONCE = 256


class Neo4jGraphStore:
    """Snapshots, records and journal beside the graph, under labels that no guarded query can see.

    rebuild: links records to a graph, for taking back a large change that was broken off.
    call_seconds bounds a look-up or a step of the journal, commit_seconds one transaction of a publish;
    rows_at_once: how many rows one statement carries; rows_in_transaction: how many one transaction may write, which
    the server holds in memory (about 8 KB a row) until it ends. A larger change is applied in several, under a mark
    that `Snapshot.publishing` shows.
    """

    def __init__(
        self,
        driver: AsyncDriver,
        *,
        rebuild: Rebuild,
        database: str = "neo4j",
        call_seconds: float = 30.0,
        commit_seconds: float = 600.0,
        rows_at_once: int = 2_000,
        rows_in_transaction: int = 10_000,
    ) -> None:
        self._driver = driver
        self._rebuild = rebuild
        self._database = database
        self._call_seconds = call_seconds
        self._commit_seconds = commit_seconds
        self._rows_at_once = rows_at_once
        self._rows_in_transaction = rows_in_transaction

    async def snapshot(self) -> Snapshot:
        rows = await self._read(_NEWEST)
        return replace(_snapshot(rows[0][0]), publishing=rows[0][1]) if rows else Snapshot()

    async def manifest(self, content_root: str | None = None) -> dict[NodeIdentity, str]:
        root = content_root if content_root is not None else (await self.snapshot()).content_root
        rows = await self._read(_MANIFEST, root=root)
        if not rows:
            if content_root is None:
                return {}
            raise KeyError(content_root)
        return _manifest(rows[0][0])

    async def records(self, hashes: Collection[str]) -> AsyncIterator[NodeRecord]:
        wanted = list(hashes)
        for start in range(0, len(wanted), _RECORDS_AT_ONCE):
            for (body,) in await self._read(_RECORDS, hashes=wanted[start : start + _RECORDS_AT_ONCE]):
                yield record_from_json(_unpack(body))

    async def roots(self) -> list[Snapshot]:
        return [_snapshot(body) for (body,) in await self._read(_ROOTS)]

    async def unfinished(self) -> PublishEntry | None:
        rows = await self._read(_ENTRY, collected=PublishStep.COLLECTED.value)
        return _entry(*rows[0]) if rows else None

    async def begin(self, entry: PublishEntry) -> None:
        async with self._transaction(self._call_seconds) as transaction:
            ((other, step, described),) = await _run(transaction, _LOCK)
            if other is not None and step != PublishStep.COLLECTED:
                begun = _entry(described, step, 0.0).started_at
                raise PublishInProgress(f"The publish {other}, begun {begun}, is unfinished; it must end first.")
            described = {**asdict(entry), "step": entry.step.value}
            del described["silent_seconds"]
            body = json.dumps(described)
            await _run(transaction, _WRITE_ENTRY, publish_id=entry.publish_id, step=entry.step.value, entry=body)

    async def advance(self, publish_id: str, step: PublishStep) -> None:
        """KeyError for a publish that is not in the journal."""
        async with self._transaction(self._call_seconds) as transaction:
            await _advance(transaction, publish_id, step)

    async def commit(self, change: SnapshotChange) -> None:
        snapshot = replace(change.snapshot, publishing=False)
        before = await self._previous_graph(change)
        records = [{"hash": record.content_hash, "body": _pack(record.as_json())} for record in change.records]
        writes = [Write(_WRITE_RECORDS, records), *changes(before, change.graph, change.entry.publish_id)]
        parts = split(writes, self._rows_in_transaction)
        if len(parts) > 1:
            for part in parts:
                await self._apply(change.entry.publish_id, part)
            parts = []
        async with self._transaction(self._commit_seconds) as transaction:
            await _advance(transaction, change.entry.publish_id, PublishStep.COMMITTED)
            for part in parts:
                await self._write(transaction, part)
            await _run(
                transaction,
                _WRITE_SNAPSHOT,
                root=snapshot.content_root,
                generation=snapshot.generation,
                publish_id=change.entry.publish_id,
                body=json.dumps(snapshot.as_json()),
                manifest=_pack([[key.key, value] for key, value in change.manifest.items()]),
            )
            await _run(transaction, _UNMARK)

    async def restore(self, graph: LinkedGraph) -> None:
        current = await self._read(_CURRENT_PUBLISH)
        nothing = LinkedGraph(nodes={}, edges=(), content_hashes={})
        await self._once(_MARK_REPAIR, collected=PublishStep.COLLECTED.value)
        while (await self._once(_DELETE_SOME, rows=self._rows_at_once))[0][0]:
            pass
        for part in split(changes(nothing, graph, current[0][0] if current else ""), self._rows_in_transaction):
            async with self._transaction(self._commit_seconds) as transaction:
                await self._write(transaction, part)
        await self._once(_UNMARK)

    async def abandon(self, publish_id: str) -> None:
        if await self._read(_IS_APPLYING, publish_id=publish_id, committed=_COMMITTED):
            held = set((await self.manifest()).values())
            await self.restore(self._rebuild([record async for record in self.records(held)]))
        await self._once(_STRIKE, publish_id=publish_id, committed=_COMMITTED)

    async def _apply(self, publish_id: str, writes: Sequence[Write]) -> None:
        """One part of a large change. Raises KeyError, and writes nothing, when the publish is no longer ours."""
        async with self._transaction(self._commit_seconds) as transaction:
            if not await _run(transaction, _MARK, publish_id=publish_id):
                raise KeyError(publish_id)
            await self._write(transaction, writes)

    async def _write(self, transaction: AsyncTransaction, writes: Sequence[Write]) -> None:
        for write in writes:
            for rows in write.batches(self._rows_at_once):
                await _run(transaction, write.text, rows=rows)

    async def _once(self, text: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """One statement in a transaction of its own."""
        async with self._transaction(self._commit_seconds) as transaction:
            return await _run(transaction, text, **parameters)

    async def keep(self, roots: int) -> None:
        """Forget all but the newest snapshots, and the records that only they named."""
        every = [snapshot.content_root for snapshot in await self.roots()]
        kept, dropped = every[:roots], every[roots:]
        if not dropped:
            return
        named = {value for root in kept for value in (await self.manifest(root)).values()}
        orphans = {value for root in dropped for value in (await self.manifest(root)).values()} - named
        async with self._transaction(self._commit_seconds) as transaction:
            await _run(transaction, _FORGET_SNAPSHOTS, roots=dropped)
            await _run(transaction, _FORGET_RECORDS, hashes=sorted(orphans))

    async def close(self) -> None:
        """The driver is its opener's to close."""

    async def _previous_graph(self, change: SnapshotChange) -> LinkedGraph:
        if change.entry.previous_root == EMPTY_ROOT:
            return LinkedGraph(nodes={}, edges=(), content_hashes={})
        return await change.previous_graph()

    async def keep_diagnostics(self, diagnostics: PublishDiagnostics) -> None:
        await self._once(_WRITE_DIAGNOSTICS, collected=PublishStep.COLLECTED.value, body=_pack(diagnostics.as_json()))

    async def diagnostics(self) -> PublishDiagnostics | None:
        rows = await self._read(_DIAGNOSTICS)
        return PublishDiagnostics.from_json(_unpack(rows[0][0])) if rows else None

    async def _read(self, text: str, **parameters: Any) -> list[tuple[Any, ...]]:
        with engine_errors():
            async with (
                asyncio.timeout(self._call_seconds),
                self._driver.session(database=self._database, default_access_mode=READ_ACCESS) as session,
            ):
                result = await session.run(text, parameters)
                return [tuple(record) async for record in result]

    @asynccontextmanager
    async def _transaction(self, seconds: float) -> AsyncIterator[AsyncTransaction]:
        """Committed at the end, rolled back by any exception; nothing takes longer than `seconds`."""
        with engine_errors():
            async with (
                asyncio.timeout(seconds),
                self._driver.session(database=self._database, default_access_mode=WRITE_ACCESS) as session,
                await session.begin_transaction(timeout=seconds) as transaction,
            ):
                yield transaction


async def _run(transaction: AsyncTransaction, text: str, **parameters: Any) -> list[tuple[Any, ...]]:
    result = await transaction.run(text, parameters)
    return [tuple(record) async for record in result]


async def _advance(transaction: AsyncTransaction, publish_id: str, step: PublishStep) -> None:
    if not await _run(transaction, _ADVANCE, publish_id=publish_id, step=step.value):
        raise KeyError(publish_id)


def _snapshot(body: str) -> Snapshot:
    return Snapshot(**json.loads(body))


def _entry(body: str, step: str, silent_seconds: float) -> PublishEntry:
    described = {**json.loads(body), "step": PublishStep(step), "silent_seconds": float(silent_seconds)}
    return PublishEntry(**described)


def _manifest(body: bytes) -> dict[NodeIdentity, str]:
    return {NodeIdentity.from_key(key): content_hash for key, content_hash in _unpack(body)}


def _pack(value: Any) -> bytes:
    """Compressed ASCII JSON: lone surrogates survive as escapes."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 1)


def _unpack(body: bytes) -> Any:
    return json.loads(zlib.decompress(body))
