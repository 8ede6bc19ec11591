"""The reader of GitHub-docs style estates."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from adapters.estates.files import EstateFiles, FileUnreadable, SourceText
from adapters.estates.front_matter import HeadedText, split_front_matter
from adapters.estates.github_docs.liquid import Liquid
from adapters.estates.github_docs.tracks import link_children, read_tracks
from adapters.estates.github_docs.versions import range_of_versions
from adapters.estates.metadata import Datum, Metadata
from adapters.estates.rules import ReadingRules
from adapters.estates.site.configuration import ContentRoot, ContentSection
from adapters.estates.site.dialect import Dialect
from adapters.estates.site.index import EstateIndex
from adapters.estates.site.indexing import yaml_diagnostic
from adapters.estates.site.reading import read_site
from adapters.estates.site.remembered import PageMemory
from adapters.estates.yaml_document import YamlInvalid, YamlNode, parse_yaml
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic

_CONTENT = "content/"
_PHRASES = ("title", "shortTitle", "intro", "permissions")
_LOOKED_AT = 200


class GithubDocsReader:
    """Pages below `content`, or anywhere where there is no such folder; their data below `data`."""

    format = "github-docs"

    def __init__(self, rules: ReadingRules, memory: PageMemory | None = None) -> None:
        self._rules = rules
        self._memory = memory

    def recognises(self, root: Path) -> bool:
        """Whether one of the first pages declares versions."""
        files = EstateFiles(root, self._rules.page_bytes)
        pages = [path for path in files.paths if path.endswith(".md")]
        pages.sort(key=lambda path: (not path.startswith(_CONTENT), path))
        for path in pages[:_LOOKED_AT]:
            try:
                versions = split_front_matter(files.read(path)).metadata.datum("versions")
            except FileUnreadable:
                continue
            if versions is not None and (versions.node.entries or versions.node.text() == "*"):
                return True
        return False

    def read(self, root: Path, docset: str) -> Iterator[NodeRecord | Diagnostic]:
        files = EstateFiles(root, self._rules.page_bytes)
        folder = "content" if any(path.startswith(_CONTENT) for path in files.paths) else ""
        section = ContentSection(src=folder, files=("**/*.md",), exclude=("**/README.md", "data/**"))
        data = _Data(files)
        liquid = Liquid(data.variable, data.feature_versions)

        def navigate(index: EstateIndex) -> Iterator[NodeRecord | Diagnostic]:
            locale = index.main_locale or self._rules.default_locale.lower()
            yield from link_children(index)
            yield from read_tracks(files, index, liquid, docset, locale)
            yield from data.findings

        dialect = Dialect(head=lambda source: _head(source, liquid), navigate=navigate, state=_digests(files))
        roots = (ContentRoot(folder=folder, base="", sections=(section,)),)
        yield from read_site(files, roots, self._rules, docset, dialect, memory=self._memory)


def _digests(files: EstateFiles) -> tuple[tuple[str, bytes | None], ...]:
    """Of every file that a head may take values from."""
    return tuple((path, _digest(files, path)) for path in files.paths if path.lower().startswith("data/"))


def _digest(files: EstateFiles, path: str) -> bytes | None:
    try:
        return files.digest(path)
    except FileUnreadable:
        return None


class _Data:
    """Variables and features, each file of them read once."""

    def __init__(self, files: EstateFiles) -> None:
        self._files = files
        self._documents: dict[str, YamlNode | None] = {}
        self.findings: list[Diagnostic] = []

    def variable(self, name: str) -> str | None:
        """`product.name` → the value of `name` in data/variables/product.yml."""
        file, _, key = name.partition(".")
        document = self._document(f"data/variables/{file}.yml")
        return document.text(*key.split(".")) if document is not None else None

    def feature_versions(self, name: str) -> YamlNode | None:
        document = self._document(f"data/features/{name}.yml")
        return document.get("versions") if document is not None else None

    def _document(self, path: str) -> YamlNode | None:
        if path not in self._documents:
            try:
                found = self._files.find(path)
                self._documents[path] = parse_yaml(self._files.read(found).text) if found is not None else None
            except FileUnreadable as error:
                self.findings.append(error.diagnostic(path))
                self._documents[path] = None
            except YamlInvalid as error:
                self.findings.append(yaml_diagnostic(path, error))
                self._documents[path] = None
        return self._documents[path]


def _head(source: SourceText, liquid: Liquid) -> HeadedText:
    headed = split_front_matter(source)
    return replace(headed, metadata=_interpret(headed.metadata, liquid), body=liquid.render(headed.body))


def _interpret(metadata: Metadata, liquid: Liquid) -> Metadata:
    values = dict(metadata.values)
    for name in _PHRASES:
        datum = values.get(name)
        if datum is not None and datum.node.value is not None and "{%" in datum.node.value:
            values[name] = replace(datum, node=replace(datum.node, value=liquid.phrase(datum.node.value)))
    product = values.get("product")
    if product is not None and "{%" in (product.node.value or ""):
        # There it is a note on who has the feature, not a product's name.
        del values["product"]
    versions = values.get("versions")
    if versions is not None:
        expression = range_of_versions(versions.node, liquid.feature_versions)
        if expression is not None:
            node = YamlNode(versions.node.line, versions.node.column, value=expression)
            values["monikerRange"] = Datum(node, versions.file, "versions")
    return Metadata(values)
