"""Judgments as a folder that `evaluate` reads: `queries.jsonl`, and `qrels.tsv` with TREC's columns parted by tabs."""

import hashlib
import json
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path

from filelock import FileLock, Timeout

from adapters.embedded.threads import engine_failure
from service.domain.errors import EngineUnavailable, JudgmentsFull

ENGINE = "judgments"

QUERIES = "queries.jsonl"
GRADES = "qrels.tsv"

_PATIENCE_SECONDS = 2.0


class JudgmentFolder:
    """Fulfils Judgments. One line for each question and uid.

    The file is replaced whole, so that a reader finds no half of one. Several processes may write: the folder is locked
    meanwhile.
    """

    def __init__(self, folder: Path, most: int) -> None:
        self._folder = folder
        self._most = most
        self._writing = threading.Lock()

    def add(self, question: str, grades: Mapping[str, int]) -> None:
        query = question_id(question)
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with self._writing, FileLock(self._folder / "lock", timeout=_PATIENCE_SECONDS, mode=0o600):
                self._add(query, question, grades)
        except Timeout:
            raise EngineUnavailable(ENGINE, "another process is writing them") from None
        except OSError as error:
            raise engine_failure(ENGINE, error) from error

    def _add(self, query: str, question: str, grades: Mapping[str, int]) -> None:
        kept = self._grades()
        known = {key[0] for key in kept}
        kept |= {(query, uid): grade for uid, grade in grades.items()}
        if len(kept) > self._most:
            raise JudgmentsFull(
                f"{self._most} judgments are kept. Put the folder {self._folder.name} aside, or raise it."
            )
        if query not in known:
            with (self._folder / QUERIES).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"_id": query, "text": question}, ensure_ascii=False) + "\n")
        fresh = self._folder / f"{GRADES}.new"
        fresh.write_text("".join(f"{q}\t0\t{uid}\t{grade}\n" for (q, uid), grade in kept.items()), encoding="utf-8")
        fresh.replace(self._folder / GRADES)

    def count(self) -> tuple[int, int]:
        try:
            kept = self._grades()
        except OSError as error:
            raise engine_failure(ENGINE, error) from error
        return len({query for query, _ in kept}), len(kept)

    def _grades(self) -> dict[tuple[str, str], int]:
        path = self._folder / GRADES
        if not path.exists():
            return {}
        rows = (line.split("\t") for line in path.read_text(encoding="utf-8").split("\n") if line)
        return {(query, uid): int(grade) for query, _, uid, grade in rows}


def copy_judgments(folder: Path, target: Path) -> list[str]:
    """Copy what was judged, as it is at one moment; the names of the files. Raises OSError."""
    if not (folder / GRADES).exists():
        return []
    try:
        with FileLock(folder / "lock", timeout=_PATIENCE_SECONDS, mode=0o600):
            return [Path(shutil.copyfile(folder / name, target / name)).name for name in (QUERIES, GRADES)]
    except Timeout:
        raise EngineUnavailable(ENGINE, "another process is writing them") from None


def question_id(question: str) -> str:
    """The same for the same words, however they are spaced and written."""
    words = " ".join(question.casefold().split())
    return hashlib.sha256(words.encode()).hexdigest()[:16]
