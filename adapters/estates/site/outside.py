"""Imported xref maps: uids that are documented elsewhere, with their names and addresses."""

from collections.abc import Iterator, Sequence

from adapters.estates.files import EstateFiles, FileUnreadable
from adapters.estates.site.configuration import ContentRoot, outside
from adapters.estates.site.index import EstateIndex, OutsideReference
from adapters.estates.site.indexing import yaml_diagnostic
from adapters.estates.yaml_document import YamlInvalid, YamlNode, parse_yaml
from service.domain.diagnostics import Diagnostic, Severity

_LARGE_FILES = 16


def is_xref_map(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return "xrefmap" in name and name.endswith((".yml", ".yaml", ".json"))


def read_xref_maps(files: EstateFiles, index: EstateIndex, roots: Sequence[ContentRoot]) -> Iterator[Diagnostic]:
    """Enter the maps' references into the index; a page of the estate with the same uid goes before them."""
    paths = dict.fromkeys(path for path in files.paths if is_xref_map(path))
    for root in roots:
        for reference in root.xref_maps:
            name = reference.value or ""
            path = files.join(root.file, name)
            if "://" in name:
                copies = [known for known in files.paths if _file_name(known) == _file_name(name)]
                paths |= dict.fromkeys(copies)
                if not copies:
                    yield _elsewhere(root.file, reference)
            elif path is None:
                yield outside(root.file, reference)
            else:
                paths[files.find(path) or path] = None
    for path in paths:
        try:
            document = parse_yaml(files.read(path, files.page_bytes * _LARGE_FILES).text)
        except FileUnreadable as error:
            yield error.diagnostic(path)
            continue
        except YamlInvalid as error:
            yield yaml_diagnostic(path, error)
            continue
        if document is None:
            continue
        base = document.text("baseUrl") or ""
        for reference in document.sequence("references"):
            uid = reference.text("uid")
            if uid is not None:
                href = reference.text("href") or ""
                href = href if "://" in href or href.startswith("/") else base.rstrip("/") + "/" + href
                name = reference.text("name") or uid
                index.outside.setdefault(uid, OutsideReference(uid, name, href))


def _elsewhere(file: str, reference: YamlNode) -> Diagnostic:
    return Diagnostic(
        file,
        reference.line,
        "xref_map_elsewhere",
        f"The xref map {reference.value} was not fetched: an estate is read from its folder alone.",
        Severity.NOTE,
        reference.column,
        f"Put a copy into the estate as {_copy_name(reference.value or '')}: then its uids have names and addresses.",
    )


def _copy_name(address: str) -> str:
    name = _file_name(address)
    return name if name.endswith((".yml", ".yaml", ".json")) else "xrefmap.yml"


def _file_name(path: str) -> str:
    return path.partition("?")[0].rstrip("/").rpartition("/")[2].lower()
