"""Sites built from a docfx.json, or several."""

from collections.abc import Iterator
from pathlib import Path

from adapters.estates.files import EstateFiles, FileUnreadable
from adapters.estates.rules import ReadingRules
from adapters.estates.site.configuration import ContentRoot, ContentSection, read_docfx
from adapters.estates.site.indexing import yaml_diagnostic
from adapters.estates.site.reading import read_site
from adapters.estates.site.remembered import PageMemory
from adapters.estates.yaml_document import YamlInvalid, parse_yaml
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic

CONFIGURATION = "docfx.json"


class DocfxReader:
    """Articles with front matter, navigation in toc files, redirections, outside references."""

    format = "docfx"

    def __init__(self, rules: ReadingRules, memory: PageMemory | None = None) -> None:
        self._rules = rules
        self._memory = memory

    def recognises(self, root: Path) -> bool:
        return bool(_configurations(EstateFiles(root, self._rules.page_bytes)))

    def read(self, root: Path, docset: str) -> Iterator[NodeRecord | Diagnostic]:
        files = EstateFiles(root, self._rules.page_bytes)
        roots, findings = content_roots(files)
        yield from findings
        yield from read_site(
            files, roots, self._rules, docset, is_configured=not findings, memory=self._memory
        )


def content_roots(files: EstateFiles) -> tuple[tuple[ContentRoot, ...], list[Diagnostic]]:
    """One root a docfx.json; without any, the whole folder except its includes."""
    roots: list[ContentRoot] = []
    findings: list[Diagnostic] = []
    for path in _configurations(files):
        try:
            node = parse_yaml(_without_comments(files.read(path).text))
        except FileUnreadable as error:
            findings.append(error.diagnostic(path))
            continue
        except YamlInvalid as error:
            findings.append(yaml_diagnostic(path, error))
            continue
        if node is not None and node.at("build") is not None:
            roots.append(read_docfx(node, path))
    whole = ContentRoot(sections=(ContentSection(exclude=("**/includes/**", "**/_*/**")),))
    return tuple(roots) or (whole,), findings


def _configurations(files: EstateFiles) -> list[str]:
    return [path for path in files.paths if path.rpartition("/")[2].lower() == CONFIGURATION]


def _without_comments(text: str) -> str:
    """docfx.json may hold `//` lines, which JSON and YAML don't know; the lines stay, to keep their numbers."""
    return "\n".join("" if line.lstrip().startswith("//") else line for line in text.split("\n"))
