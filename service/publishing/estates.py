"""Folders → records: each read by the reader that recognises it, every finding kept."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic, EstateRefused, Severity
from service.domain.errors import EstateUnreadable
from service.domain.graph import NodeIdentity
from service.ports import EstateReader


@dataclass(frozen=True)
class Reading:
    """What the estates say. `docsets` are those that were read, and so are replaced as a whole: of an estate that
    refuses to be published there are findings and nothing else, and what was published of it stays."""

    docsets: frozenset[str]
    records: tuple[NodeRecord, ...]
    diagnostics: tuple[Diagnostic, ...]
    is_prefixed: bool = False
    """Whether files are named with their docset before them, for there are several."""


def read_estates(
    paths: Sequence[str], readers: Iterable[EstateReader], progress: Callable[[int], None] = lambda _: None
) -> Reading:
    """Read each folder as one docset, named after it. `progress` is told how many records there are so far.

    Raises EstateUnreadable for a path that is no readable folder, and for two folders of one name. Of two records with
    one identity the first, by docset and then by reading order, is kept; the other is a diagnostic.
    """
    available = list(readers)
    roots: dict[str, Path] = {}
    for text in paths:
        root = _folder(text)
        if root.name in roots:
            raise EstateUnreadable(
                f"{text} and {roots[root.name]} are both named '{root.name}'; an estate's folder name is its docset."
            )
        roots[root.name] = root
    published: set[str] = set()
    records: dict[NodeIdentity, NodeRecord] = {}
    diagnostics: list[Diagnostic] = []
    for docset, root in sorted(roots.items()):
        reader = next((reader for reader in available if reader.recognises(root)), None)
        if reader is None:
            formats = ", ".join(reader.format for reader in available)
            raise EstateUnreadable(f"{root} is of no format that can be read here ({formats}).")
        prefix = f"{docset}/" if len(roots) > 1 else ""
        try:
            for item in reader.read(root, docset):
                if isinstance(item, Diagnostic):
                    diagnostics.append(replace(item, file=prefix + item.file))
                elif item.node.identity in records:
                    diagnostics.append(_duplicate(item, records[item.node.identity], prefix))
                else:
                    records[item.node.identity] = item
                    progress(len(records))
        except EstateRefused as refusal:
            diagnostics += [replace(found, file=prefix + found.file) for found in refusal.diagnostics]
            continue
        published.add(docset)
    return Reading(frozenset(published), tuple(records.values()), tuple(sorted(diagnostics)), len(roots) > 1)


def _folder(text: str) -> Path:
    try:
        root = Path(text).resolve()
        exists = root.is_dir()
    except (OSError, ValueError) as error:
        raise EstateUnreadable(f"{text!r} can't be read: {error}.") from None
    if not exists:
        raise EstateUnreadable(f"{text} is not a folder; name the folder that holds the estate.")
    return root


def _duplicate(record: NodeRecord, kept: NodeRecord, prefix: str) -> Diagnostic:
    identity = record.node.identity
    return Diagnostic(
        file=f"{prefix}{record.node.path or identity.uid}",
        line=1,
        code="duplicate_identity",
        message=f"'{identity.uid}' ({identity.locale}) is already the name of {kept.node.docset}/{kept.node.path}.",
        severity=Severity.ERROR,
        fix="Give one of the two another uid.",
    )
