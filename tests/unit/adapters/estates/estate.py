"""Small estates as literals: path → text."""

from dataclasses import dataclass
from pathlib import Path

from adapters.estates import ReadingRules, reader_for
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic
from service.domain.graph import EdgeType, NodeKind, Reference


@dataclass(frozen=True)
class Read:
    """What a reader said of an estate."""

    records: tuple[NodeRecord, ...]
    diagnostics: tuple[Diagnostic, ...]

    def record(self, uid: str, locale: str = "en-us") -> NodeRecord:
        [found] = [r for r in self.records if (r.node.identity.uid, r.node.identity.locale) == (uid, locale)]
        return found

    def of_kind(self, kind: NodeKind) -> list[NodeRecord]:
        return [record for record in self.records if record.node.kind is kind]

    def edges(self, uid: str, edge: EdgeType, locale: str = "en-us") -> list[tuple[str, str]]:
        """(via, target uid) of a record's references of one type."""
        return [(r.via, r.target_uid) for r in self.references(uid, edge, locale)]

    def references(self, uid: str, edge: EdgeType, locale: str = "en-us") -> list[Reference]:
        return [reference for reference in self.record(uid, locale).references if reference.type is edge]

    def found(self, code: str) -> list[tuple[str, int]]:
        """Where a diagnostic of the code stands."""
        return [(found.file, found.line) for found in self.diagnostics if found.code == code]


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def read(root: Path, files: dict[str, str | bytes], rules: ReadingRules | None = None, docset: str = "d") -> Read:
    rules = rules or ReadingRules()
    write(root, files)
    return read_folder(root, rules, docset)


def read_folder(root: Path, rules: ReadingRules | None = None, docset: str = "d") -> Read:
    rules = rules or ReadingRules()
    found = list(reader_for(root, rules).read(root, docset))
    return Read(
        tuple(item for item in found if isinstance(item, NodeRecord)),
        tuple(item for item in found if isinstance(item, Diagnostic)),
    )
