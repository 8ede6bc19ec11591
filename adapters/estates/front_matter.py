"""The YAML block at the head of a Markdown file, and the text below it."""

import re
from dataclasses import dataclass

from adapters.estates.files import SourceText
from adapters.estates.metadata import Metadata, metadata_of
from adapters.estates.yaml_document import YamlInvalid, parse_yaml
from service.domain.diagnostics import Diagnostic, Severity

_NAMED = re.compile(r"[A-Za-z_][\w.-]*:(?: |$)", re.MULTILINE)
"""How a front matter begins, and hardly a text below a rule."""


@dataclass(frozen=True, slots=True)
class HeadedText:
    """`first_line` is the 1-based line of the file on which `body` begins. `is_whole`: no metadata was lost."""

    metadata: Metadata
    body: str
    first_line: int
    diagnostics: tuple[Diagnostic, ...] = ()
    is_whole: bool = True


def split_front_matter(source: SourceText) -> HeadedText:
    """A front matter that is no YAML mapping is reported and dropped; the body is read all the same."""
    text = source.text
    if not text.startswith("---") or text[3:].partition("\n")[0].strip():
        return HeadedText(Metadata(), text, 1)
    start = text.find("\n") + 1
    end = _closing_line(text, start) if start else -1
    if end < 0:
        # A rule across the page, or a front matter that was never closed.
        looks_so = _NAMED.match(text, start) is not None if start else False
        found = (_invalid(source.path, YamlInvalid("It is never closed", 1, 1)),) if looks_so else ()
        return HeadedText(Metadata(), text, 1, found, is_whole=False)
    block = text[start:end]
    after = text.find("\n", end)
    body = text[after + 1 :] if after >= 0 else ""
    first_line = text.count("\n", 0, end) + 2
    try:
        node = parse_yaml(block, first_line=2)
    except YamlInvalid as error:
        return HeadedText(Metadata(), body, first_line, (_invalid(source.path, error),), is_whole=False)
    if node is not None and node.entries is None:
        no_mapping = YamlInvalid("It is no mapping of names to values", node.line, node.column)
        return HeadedText(Metadata(), body, first_line, (_invalid(source.path, no_mapping),), is_whole=False)
    duplicates = tuple(
        Diagnostic(
            source.path,
            line,
            "yaml_duplicate_key",
            f"'{name}' stands twice; the last one holds.",
            Severity.WARNING,
            fix="Keep one of them.",
        )
        for name, line in (node.duplicates if node is not None else ())
    )
    return HeadedText(metadata_of(node, source.path), body, first_line, duplicates)


def _closing_line(text: str, start: int) -> int:
    position = start
    while position < len(text):
        end = text.find("\n", position)
        line = text[position : end if end >= 0 else len(text)].rstrip()
        if line in ("---", "..."):
            return position
        if end < 0:
            return -1
        position = end + 1
    return -1


def _invalid(path: str, error: YamlInvalid) -> Diagnostic:
    return Diagnostic(
        path,
        error.line,
        "front_matter_invalid",
        f"The front matter was dropped: {error.message}.",
        Severity.ERROR,
        error.column,
        "Write it as YAML: a name, a colon, a value; quote values that hold a colon.",
    )
