"""Document collections that come with judgments, as BEIR writes them: `corpus.jsonl`, a page a document."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO, cast

from adapters.estates.estate_settings import read_estate_settings
from adapters.estates.files import EstateFiles
from adapters.estates.rules import ReadingRules
from service.domain.content import Block, BlockKind, NodeRecord, Section
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.graph import Node, NodeIdentity, NodeKind
from service.domain.visibility import Classes

_NAMES = ("corpus.jsonl.gz", "corpus.jsonl")


class CorpusReader:
    """EstateReader of a folder that holds `corpus.jsonl` or `corpus.jsonl.gz` (`_id`, `title`, `text`)."""

    format = "judged corpus"

    def __init__(self, rules: ReadingRules) -> None:
        self._rules = rules

    def recognises(self, root: Path) -> bool:
        return any((root / name).is_file() for name in _NAMES)

    def read(self, root: Path, docset: str) -> Iterator[NodeRecord | Diagnostic]:
        file = next(root / name for name in _NAMES if (root / name).is_file())
        # Documents have no metadata: only rules for files, and the default, can hold for them.
        visible_to = read_estate_settings(EstateFiles(root, self._rules.page_bytes)).visibility.of_path(file.name)
        if not file.resolve().is_relative_to(root.resolve()):
            yield _finding("path_outside_estate", file.name, 1, f"{file.name} leads out of the estate.")
            return
        if not visible_to:
            yield _finding("visibility_nobody", file.name, 1, "Nobody may see the corpus, so it was left out.")
            return
        try:
            opened = gzip.open if file.suffix == ".gz" else open
            with opened(file, "rt", encoding="utf-8") as lines:
                for number, line in enumerate(_lines(cast(TextIO, lines), self._rules.page_bytes), start=1):
                    if line is None:
                        limit = f"{self._rules.page_bytes:,}"
                        yield _finding(
                            "file_too_large", file.name, number, f"A document of more than {limit} characters."
                        )
                    elif line.strip():
                        yield self._page(line, file.name, number, docset, visible_to)
        except (OSError, EOFError, UnicodeDecodeError) as error:
            yield _finding("corpus_unreadable", file.name, 1, f"The corpus can't be read on: {error}.")

    def _page(self, line: str, file: str, number: int, docset: str, visible_to: Classes) -> NodeRecord | Diagnostic:
        try:
            row: Any = json.loads(line)
            identity = NodeIdentity(str(row["_id"]), self._rules.default_locale)
            title, text = str(row.get("title") or ""), str(row["text"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return _finding("document_unreadable", file, number, f"No document of `_id`, `title`, `text`: {error!r}.")
        node = Node(identity, NodeKind.PAGE, title, docset=docset, path=file, visible_to=visible_to)
        return NodeRecord(node, (Section("", "", 0, (Block(BlockKind.PROSE, text, 1),)),))


def _lines(lines: TextIO, limit: int) -> Iterator[str | None]:
    """Line by line, None for one that is longer than a page may be: what unpacks without end fills no memory."""
    while line := lines.readline(limit + 1):
        if len(line) <= limit or line.endswith("\n"):
            yield line
            continue
        while (rest := lines.readline(limit)) and not rest.endswith("\n"):
            pass
        yield None


def _finding(code: str, file: str, line: int, message: str) -> Diagnostic:
    fix = "Write one JSON object a line, with `_id`, `title` and `text`, in UTF-8."
    return Diagnostic(file, line, code, message, Severity.ERROR, fix=fix)
