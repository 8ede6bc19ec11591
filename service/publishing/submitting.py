"""A reading told by hashes: what a client says of the estates it read, and what a server makes of it.

Records are content-addressed, so the server needs only those that it lacks, and knows of each whether it is the one
that was named: it computes the hash itself.
"""

from collections.abc import Collection, Iterable

from service.domain.content import NodeRecord
from service.domain.errors import RecordsMissing, SubmissionInvalid
from service.domain.graph import NodeIdentity
from service.domain.submission import Submission
from service.ports import GraphStore
from service.publishing.estates import Reading
from service.publishing.snapshot import records_with

_NAMED = 3
"""Names that a refusal shows."""


def submission_of(reading: Reading, missing: Collection[str], *, strict: bool, dry_run: bool) -> Submission:
    """`missing`: content hashes of the records that the server lacks."""
    lacking = set(missing)
    return Submission(
        docsets=sorted(reading.docsets),
        manifest=[(*record.node.identity, record.content_hash) for record in reading.records],
        records=[record for record in reading.records if record.content_hash in lacking],
        diagnostics=list(reading.diagnostics),
        strict=strict,
        dry_run=dry_run,
    )


async def held_hashes(store: GraphStore) -> set[str]:
    """The content hashes of every record of a kept snapshot."""
    held: set[str] = set()
    for root in await store.roots():
        try:
            held.update((await store.manifest(root.content_root)).values())
        except KeyError:  # forgotten since it was listed
            continue
    return held


async def submitted_reading(submission: Submission, store: GraphStore) -> Reading:
    """The reading that was told. Raises SubmissionInvalid, or RecordsMissing for records that are neither sent nor
    stored."""
    manifest = {NodeIdentity(uid, locale): named for uid, locale, named in submission.manifest}
    if len(manifest) < len(submission.manifest):
        raise SubmissionInvalid("The manifest names an identity twice.")
    sent = {record.content_hash: record for record in submission.records}
    _refuse_strays(sent.values(), manifest)
    unsent = set(manifest.values()) - sent.keys()
    stored = {record.content_hash: record for record in await records_with(store, unsent)}
    lacking = unsent - stored.keys()
    if lacking:
        raise RecordsMissing(
            f"{len(lacking)} records are neither sent nor stored here. Ask /v1/publish/missing again, and send them.",
        )
    known = sent | stored
    records = tuple(known[named] for named in manifest.values())
    _refuse_strays(records, manifest)
    _refuse_misplaced(records, frozenset(submission.docsets))
    return Reading(frozenset(submission.docsets), records, tuple(submission.diagnostics))


def _refuse_strays(records: Iterable[NodeRecord], manifest: dict[NodeIdentity, str]) -> None:
    """A record's hash is computed here: one that is named by another, or not at all, is not what was read."""
    strays = [record for record in records if manifest.get(record.node.identity) != record.content_hash]
    if strays:
        raise SubmissionInvalid(
            f"{len(strays)} records are not what the manifest names: their identity is not in it, or has another "
            f"content hash: {_names(strays)}. Is the client of another version?"
        )


def _refuse_misplaced(records: Iterable[NodeRecord], docsets: Collection[str]) -> None:
    misplaced = [record for record in records if record.node.docset not in docsets]
    if misplaced:
        raise SubmissionInvalid(f"{len(misplaced)} records are of none of the docsets: {_names(misplaced)}.")
    hidden = [record for record in records if not record.node.visible_to or "" in record.node.visible_to]
    if hidden:
        raise SubmissionInvalid(f"{len(hidden)} records are visible to nobody: {_names(hidden)}.")


def _names(records: list[NodeRecord]) -> str:
    shown = ", ".join(record.node.identity.key for record in records[:_NAMED])
    return shown + (" …" if len(records) > _NAMED else "")
