"""Queries with judgments, as BEIR and TREC write them down.

A set is a folder: `queries.jsonl` (`_id` or `id`, `text`, and what is known of the asker), a judgments file of tab- or
space-separated columns (query, document, gain; TREC's four columns and BEIR's header line are understood), and, where
the set brings its own documents, `corpus.jsonl` or `corpus.jsonl.gz` (`_id`, `title`, `text`).
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from service.domain.errors import SetUnreadable


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """A question with what is known of the asker.

    `current_document` is where the reader stands; `wrong_document` is a place that should not help.
    """

    id: str
    text: str
    current_document: str | None = None
    wrong_document: str | None = None
    level: str | None = None
    roles: tuple[str, ...] = ()
    products: tuple[str, ...] = ()


Judgments = Mapping[str, Mapping[str, int]]
"""Query id → document → gain; a gain above 0 is relevant."""


@dataclass(frozen=True)
class EvaluationSet:
    """Queries that have a relevant document, their judgments, and the documents when the set brings its own."""

    name: str
    queries: tuple[Query, ...]
    judgments: Judgments
    documents: tuple[Document, ...] = ()


def find_set(path: Path) -> EvaluationSet:
    """The set of a folder, or of a judgments file in one, such as `qrels/test.tsv`. Raises SetUnreadable."""
    if path.is_dir():
        usual = next((name for name in _JUDGMENTS if (path / name).exists()), _JUDGMENTS[0])
        return load_set(path, usual)
    folder = next((above for above in list(path.parents)[:2] if (above / "queries.jsonl").exists()), path.parent)
    return load_set(folder, str(path.relative_to(folder)))


def load_set(folder: Path, judgments: str = "qrels.tsv") -> EvaluationSet:
    """Read one set; `judgments` is the file's path within the folder. Raises SetUnreadable."""
    judged = _read_judgments(folder / judgments)
    queries = [_query(row, where) for row, where in _json_lines(folder / "queries.jsonl")]
    wanted = [query for query in queries if any(gain > 0 for gain in judged.get(query.id, {}).values())]
    if not wanted:
        raise SetUnreadable(f"{folder}: no query has a relevant document in {judgments}.")
    corpus = next((path for name in _CORPUS if (path := folder / name).exists()), None)
    documents = [_document(row, where) for row, where in _json_lines(corpus)] if corpus else []
    name = folder.name if judgments == "qrels.tsv" else f"{folder.name}/{Path(judgments).stem}"
    return EvaluationSet(name, tuple(wanted), {query.id: judged[query.id] for query in wanted}, tuple(documents))


def renamed(original: EvaluationSet, uids: Mapping[str, str]) -> tuple[EvaluationSet, list[str]]:
    """A set that judges source paths, as one that judges uids; `uids` is path → uid of the estate at hand.

    Queries of which no relevant document is in the estate are left out. The second value lists every judged path that
    the estate does not hold.
    """
    judgments = {
        query: {uids[path]: gain for path, gain in judged.items() if path in uids}
        for query, judged in original.judgments.items()
    }
    missing = sorted({path for judged in original.judgments.values() for path in judged if path not in uids})
    queries = tuple(
        replace(
            query,
            current_document=uids.get(query.current_document or ""),
            wrong_document=uids.get(query.wrong_document or ""),
        )
        for query in original.queries
        if any(gain > 0 for gain in judgments[query.id].values())
    )
    return replace(original, queries=queries, judgments={query.id: judgments[query.id] for query in queries}), missing


_JUDGMENTS = ("qrels.tsv", "qrels/test.tsv")
"""Where a folder's judgments are looked for when no file is named."""

_CORPUS = ("corpus.jsonl.gz", "corpus.jsonl")


def _json_lines(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Each object with its place, for messages."""
    for line, where in _lines(path):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise SetUnreadable(f"{where}: not JSON ({error}).") from None
        if not isinstance(row, dict):
            raise SetUnreadable(f"{where}: a JSON object is expected.")
        yield row, where


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield line.rstrip("\r\n"), f"{path}:{number}"
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise SetUnreadable(f"{path} can't be read: {error}.") from error


def _query(row: Mapping[str, Any], where: str) -> Query:
    try:
        return Query(
            id=str(row["_id"] if "_id" in row else row["id"]),
            text=str(row["text"]),
            current_document=row.get("current_document"),
            wrong_document=row.get("wrong_document"),
            level=row.get("level"),
            roles=tuple(row.get("roles") or ()),
            products=tuple(row.get("products") or ()),
        )
    except KeyError as missing:
        raise SetUnreadable(f"{where}: a query needs {missing}.") from None


def _document(row: Mapping[str, Any], where: str) -> Document:
    try:
        return Document(str(row["_id"]), str(row.get("title") or ""), str(row["text"]))
    except KeyError as missing:
        raise SetUnreadable(f"{where}: a document needs {missing}.") from None


def _read_judgments(path: Path) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for number, (line, where) in enumerate(_lines(path)):
        columns = line.split("\t") if "\t" in line else line.split()
        if len(columns) == 4:  # TREC's second column is an iteration that nobody reads
            del columns[1]
        if len(columns) != 3:
            raise SetUnreadable(f"{where}: query, document and gain are expected.")
        query, document, gain = columns
        if gain.lstrip("-").isdecimal():
            judged.setdefault(query, {})[document] = int(gain)
        elif number > 0:  # the first line may be BEIR's header
            raise SetUnreadable(f"{where}: the gain '{gain}' is no whole number.")
    return judged
