"""AuditLog as files of JSON lines, readable by their owner alone, the oldest of them given up for new ones."""

import contextlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog
from filelock import FileLock, Timeout

from adapters.embedded.threads import engine_failure

ENGINE = "audit log"

DEEDS = "deeds.jsonl"
REFUSALS = "refusals.jsonl"
"""Apart, so that a flood of refusals pushes out no record of what was done."""


_PATIENCE_SECONDS = 0.5
"""Another process holds the files' lock for the time of one line."""


class JsonLinesAuditLog:
    """Fulfils AuditLog. A file that reaches `file_bytes` becomes NAME.1, NAME.1 becomes NAME.2, up to `files` in all.

    Several processes may write: each line is one write to a file that is locked meanwhile.
    """

    def __init__(self, folder: Path, file_bytes: int, files: int) -> None:
        self._folder = folder
        self._file_bytes = file_bytes
        self._files = files
        self._writing = threading.Lock()
        self._lock = FileLock(folder / "lock", timeout=_PATIENCE_SECONDS, mode=0o600, thread_local=False)

    @classmethod
    def open(cls, folder: Path, *, file_bytes: int, files: int) -> "JsonLinesAuditLog":
        """Raises DataFolderUnwritable or EngineUnavailable."""
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            log = cls(folder, file_bytes, files)
            with log._opened(DEEDS):
                return log
        except OSError as error:
            raise engine_failure(ENGINE, error) from error

    def append(self, event: Mapping[str, Any]) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, **event}, default=str) + "\n"
        try:
            with self._writing, self._opened(REFUSALS if event.get("outcome") == "refused" else DEEDS) as file:
                os.write(file, line.encode())
        except (OSError, Timeout) as error:
            structlog.get_logger(__name__).error("not audited", reason=str(error), audited=dict(event))

    def close(self) -> None:
        """Nothing is held open."""

    @contextlib.contextmanager
    def _opened(self, name: str) -> Iterator[int]:
        """The file to append to, locked; a full one has been put aside before."""
        with self._lock, self._append_to(self._folder / name) as file:
            if os.fstat(file).st_size < self._file_bytes:
                yield file
                return
            self._put_aside(name)
            with self._append_to(self._folder / name) as fresh:
                yield fresh

    @contextlib.contextmanager
    def _append_to(self, path: Path) -> Iterator[int]:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            yield file
        finally:
            os.close(file)

    def _put_aside(self, name: str) -> None:
        for number in range(self._files - 1, 0, -1):
            older = self._folder / f"{name}.{number}"
            newer = self._folder / (f"{name}.{number - 1}" if number > 1 else name)
            with contextlib.suppress(FileNotFoundError):
                os.replace(newer, older)
        if self._files == 1:
            (self._folder / name).unlink(missing_ok=True)
