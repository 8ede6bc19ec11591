"""A folder of Markdown files, nothing more: relative links join them."""

from collections.abc import Iterator
from pathlib import Path

from adapters.estates.files import EstateFiles
from adapters.estates.rules import ReadingRules
from adapters.estates.site.configuration import plain_root
from adapters.estates.site.reading import read_site
from adapters.estates.site.remembered import PageMemory
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic


class PlainReader:
    """Every Markdown file is a page, its uid its path."""

    format = "plain"

    def __init__(self, rules: ReadingRules, memory: PageMemory | None = None) -> None:
        self._rules = rules
        self._memory = memory

    def recognises(self, root: Path) -> bool:
        return any(path.lower().endswith((".md", ".markdown")) for path in EstateFiles(root, 1).paths)

    def read(self, root: Path, docset: str) -> Iterator[NodeRecord | Diagnostic]:
        files = EstateFiles(root, self._rules.page_bytes)
        yield from read_site(files, (plain_root(),), self._rules, docset, memory=self._memory)
