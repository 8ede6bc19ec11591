"""Imported xref maps: uids that are documented elsewhere, with their names and addresses."""

from collections.abc import Iterator

from adapters.estates.files import EstateFiles, FileUnreadable
from adapters.estates.site.index import EstateIndex, OutsideReference
from adapters.estates.site.indexing import yaml_diagnostic
from adapters.estates.yaml_document import YamlInvalid, parse_yaml
from service.domain.diagnostics import Diagnostic

_LARGE_FILES = 16


def is_xref_map(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return "xrefmap" in name and name.endswith((".yml", ".yaml", ".json"))


def read_xref_maps(files: EstateFiles, index: EstateIndex) -> Iterator[Diagnostic]:
    """Enter the maps' references into the index; a page of the estate with the same uid goes before them."""
    for path in files.paths:
        if not is_xref_map(path):
            continue
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
