"""Learning content: a folder that holds learning paths or modules, with or without a docfx.json beside them."""

from collections.abc import Iterator
from pathlib import Path

from adapters.estates.docfx import content_roots
from adapters.estates.files import EstateFiles, FileUnreadable
from adapters.estates.learn.documents import LEARN_KINDS
from adapters.estates.rules import ReadingRules
from adapters.estates.site.indexing import mime_of
from adapters.estates.site.reading import read_site
from adapters.estates.site.remembered import PageMemory
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic


class LearnReader:
    """Paths, modules and units; other pages beside them are read as docfx reads them."""

    format = "learn"

    def __init__(self, rules: ReadingRules, memory: PageMemory | None = None) -> None:
        self._rules = rules
        self._memory = memory

    def recognises(self, root: Path) -> bool:
        files = EstateFiles(root, self._rules.page_bytes)
        for path in files.paths:
            if path.lower().endswith((".yml", ".yaml")):
                try:
                    if mime_of(files.read(path)) in LEARN_KINDS:
                        return True
                except FileUnreadable:
                    continue
        return False

    def read(self, root: Path, docset: str) -> Iterator[NodeRecord | Diagnostic]:
        files = EstateFiles(root, self._rules.page_bytes)
        roots, findings = content_roots(files)
        yield from findings
        yield from read_site(files, roots, self._rules, docset, is_configured=not findings, memory=self._memory)
