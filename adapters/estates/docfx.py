"""Sites built from a docfx.json, or several."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from adapters.estates.files import EstateFiles, FileUnreadable
from adapters.estates.metadata import Datum, Metadata
from adapters.estates.rules import ReadingRules
from adapters.estates.site.configuration import ContentRoot, ContentSection, outside, read_docfx
from adapters.estates.site.indexing import yaml_diagnostic
from adapters.estates.site.reading import read_site
from adapters.estates.site.redirection_files import without_comments
from adapters.estates.site.remembered import PageMemory
from adapters.estates.yaml_document import YamlInvalid, YamlNode, parse_yaml
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic, Severity

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
        yield from read_site(files, roots, self._rules, docset, is_configured=not findings, memory=self._memory)


def content_roots(files: EstateFiles) -> tuple[tuple[ContentRoot, ...], list[Diagnostic]]:
    """One root a docfx.json; without any, the whole folder except its includes. Findings: what was left out."""
    roots: list[ContentRoot] = []
    findings: list[Diagnostic] = []
    for path in _configurations(files):
        node = _parsed(path, files, findings)
        if node is None:
            continue
        build = node.get("build")
        if build is None or build.entries is None:
            findings.append(
                Diagnostic(
                    path,
                    node.line,
                    "configuration_invalid",
                    "This docfx.json has no build, and was left out.",
                    Severity.WARNING,
                    node.column,
                    "Say below build.content which files are pages, or delete it.",
                )
            )
            continue
        root, refused = read_docfx(build, path)
        findings += refused
        roots.append(_with_metadata_files(root, build, files, findings))
    whole = ContentRoot(sections=(ContentSection(exclude=("**/includes/**", "**/_*/**")),))
    return tuple(roots) or (whole,), findings


def _with_metadata_files(
    root: ContentRoot, build: YamlNode, files: EstateFiles, findings: list[Diagnostic]
) -> ContentRoot:
    """Default metadata may stand in files of its own; what docfx.json itself says goes before them."""
    defaults: dict[str, Datum] = {}
    patterned: dict[str, tuple[tuple[str, YamlNode], ...]] = {}
    for name in ("globalMetadataFiles", "fileMetadataFiles"):
        for reference in build.scalars(name):
            path = files.join(root.file, reference.value or "")
            node = _parsed(path, files, findings) if path is not None else None
            if path is None:
                findings.append(outside(root.file, reference))
            elif node is not None and name == "globalMetadataFiles":
                defaults |= {key: Datum(value, path) for key, value in (node.entries or {}).items()}
            elif node is not None:
                patterned |= {key: tuple((value.entries or {}).items()) for key, value in (node.entries or {}).items()}
    return replace(
        root,
        defaults=root.defaults.over(Metadata(defaults)),
        patterned=patterned | dict(root.patterned),
    )


def _parsed(path: str, files: EstateFiles, findings: list[Diagnostic]) -> YamlNode | None:
    try:
        node = parse_yaml(without_comments(files.read(path).text))
    except FileUnreadable as error:
        findings.append(error.diagnostic(path))
        return None
    except YamlInvalid as error:
        findings.append(yaml_diagnostic(path, error))
        return None
    return node if node is not None else YamlNode(1, 1)


def _configurations(files: EstateFiles) -> list[str]:
    return [path for path in files.paths if path.rpartition("/")[2].lower() == CONFIGURATION]
