"""Redirection files as builds know them: a list of entries, or docfx's mapping of old paths; in JSON or YAML."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from adapters.estates.files import EstateFiles, SourceText
from adapters.estates.yaml_document import YamlInvalid, parse_yaml

_SOURCES = ("source_path", "source_path_from_root")
_TARGETS = ("redirect_url", "redirect_uid")
_LARGE_FILES = 16
"""A redirection file may be this many times as large as a page."""


@dataclass(frozen=True, slots=True)
class Redirection:
    """One entry as it is written; what is not text there is None. `from_root`: the source counts from the estate's
    root, not from the file's folder."""

    source: str | None
    target: str | None
    from_root: bool
    line: int


class RedirectionsInvalid(Exception):
    """A file that can't be parsed; `line` and `column` are 1-based."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def is_redirection_file(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    if name.endswith((".yml", ".yaml")):
        return name.rpartition(".")[0] in ("redirection", "redirections")
    return name.endswith(".json") and "redirection" in name


def redirections_of(path: str, files: EstateFiles) -> list[Redirection]:
    """Everything that the file redirects, in its order. Raises FileUnreadable and RedirectionsInvalid."""
    source = files.read(path, files.page_bytes * _LARGE_FILES)
    return list(_of_json(source) if path.lower().endswith(".json") else _of_yaml(source))


def _of_json(source: SourceText) -> Iterator[Redirection]:
    """JSON has a parser of its own: a file may hold a hundred thousand entries."""
    try:
        document = json.loads(source.text)
    except json.JSONDecodeError:
        # docfx takes comments and last commas, and so does YAML's reader once the comments are gone.
        yield from _of_yaml(SourceText(source.path, without_comments(source.text)))
        return
    except RecursionError:
        raise RedirectionsInvalid("nested too deep", 1, 1) from None
    except ValueError:
        raise RedirectionsInvalid("a number that no one can mean", 1, 1) from None
    found = document if isinstance(document, list) else None
    if isinstance(document, dict):
        found = document.get("redirections")
        if isinstance(found, dict) or "renames" in document:
            yield from _of_yaml(source)
            return
    sources, targets = _lines(source.text, '"source_path'), _lines(source.text, '"redirect_u')
    for entry in found if isinstance(found, list) else []:
        if not isinstance(entry, dict):
            continue
        named = [next(sources, 1) for name in _SOURCES if name in entry]
        named += [next(targets, 1) for name in _TARGETS if name in entry]
        if named:
            yield _entry({name: _text(value) for name, value in entry.items()}, named[0])


def _of_yaml(source: SourceText) -> Iterator[Redirection]:
    """A list of entries, or a mapping of old paths to their targets, below `redirections` and `renames`."""
    try:
        document = parse_yaml(source.text)
    except YamlInvalid as error:
        raise RedirectionsInvalid(error.message, error.line, error.column) from None
    if document is None:
        return
    named = [node for name in ("redirections", "renames") if (node := document.get(name)) is not None]
    for node in named if document.entries is not None else [document]:
        for path, target in (node.entries or {}).items():
            yield Redirection(path, target.text() or target.text("redirect_url"), False, target.line)
        for item in node.items or ():
            entry = {name: value.value for name, value in (item.entries or {}).items()}
            if any(name in entry for name in _SOURCES + _TARGETS):
                yield _entry(entry, item.line)


def _entry(entry: dict[str, str | None], line: int) -> Redirection:
    from_root = not entry.get("source_path")
    source = entry.get("source_path_from_root") if from_root else entry.get("source_path")
    return Redirection(source, entry.get("redirect_url") or entry.get("redirect_uid"), from_root, line)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _lines(text: str, name: str) -> Iterator[int]:
    """The line of each name that begins so, in turn; one pass, for there may be many."""
    line, counted = 1, 0
    position = text.find(name)
    while position >= 0:
        line += text.count("\n", counted, position)
        counted = position
        yield line
        position = text.find(name, position + 1)


def without_comments(text: str) -> str:
    """JSON with whole lines of `//` comments, which JSON and YAML don't know; the lines stay, to keep their numbers."""
    return "\n".join("" if line.lstrip().startswith("//") else line for line in text.split("\n"))
