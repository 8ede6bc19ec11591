"""The data folder: where each embedded store lies, which layout it has, and the one process that owns it."""

import contextlib
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from service.domain.errors import DataFolderHeld, DataFolderUnwritable, DataFolderVersionUnknown

LAYOUT = 1
"""The layout that this version reads and writes."""

_LAYOUT_FILE = "layout.json"
_ENGINES_FOLDER = "stack"
"""Where the development stack keeps its engines; it may be there before the first publish."""
_LOCK_FILE = "owner.lock"
_OWNER_FILE = "owner.json"

# A probe by `owner` holds the lock for an instant; an opener rides that out.
_LOCK_PATIENCE_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Owner:
    """The live process that owns a data folder. One that serves has a `url`, and a `token` that opens it."""

    pid: int
    url: str | None = None
    token: str | None = None


class DataFolder:
    """An owned data folder; leave the context, or die, to give it up."""

    def __init__(self, path: Path, lock: FileLock | None) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def open(cls, path: Path) -> "DataFolder":
        """Own the folder, making it where there is none.

        Raises DataFolderHeld, DataFolderUnwritable, or DataFolderVersionUnknown; nothing was written then but the lock.
        """
        path = path.absolute()
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = FileLock(path / _LOCK_FILE, mode=0o600, thread_local=False)
            lock.acquire(timeout=_LOCK_PATIENCE_SECONDS, poll_interval=0.01)
        except Timeout:
            raise DataFolderHeld(_held(path, _read_owner(path))) from None
        except OSError as error:
            raise _unwritable(path, error) from error
        try:
            _settle_layout(path)
            _write(path / _OWNER_FILE, {"pid": os.getpid()})
        except OSError as error:
            lock.release()
            raise _unwritable(path, error) from error
        except DataFolderVersionUnknown:
            lock.release()
            raise
        return cls(path, lock)

    @classmethod
    def share(cls, path: Path) -> "DataFolder":
        """Use the folder without owning it, for what several processes may use at once: caches and the run log.

        Raises DataFolderUnwritable or DataFolderVersionUnknown.
        """
        path = path.absolute()
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            _settle_layout(path)
        except OSError as error:
            raise _unwritable(path, error) from error
        return cls(path, None)

    @staticmethod
    def owner(path: Path) -> Owner | None:
        """Who holds the folder now, or None; what a dead process left behind counts for nothing."""
        path = path.absolute()
        if not (path / _LOCK_FILE).exists():
            return None
        lock = FileLock(path / _LOCK_FILE, mode=0o600, thread_local=False)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return _read_owner(path) or Owner(pid=0)
        except OSError:
            return None
        lock.release()
        return None

    def announce(self, url: str) -> Owner:
        """Say where this process serves, so that other commands can go through it; the token is new each time."""
        owner = Owner(os.getpid(), url, secrets.token_urlsafe(32))
        try:
            _write(self.path / _OWNER_FILE, {"pid": owner.pid, "url": owner.url, "token": owner.token})
        except OSError as error:
            raise _unwritable(self.path, error) from error
        return owner

    @property
    def text(self) -> Path:
        return self.path / "text"

    @property
    def vectors(self) -> Path:
        return self.path / "vectors"

    @property
    def graph(self) -> Path:
        return self.path / "graph"

    @property
    def embeddings(self) -> Path:
        return self.path / "embeddings.sqlite"

    @property
    def runs(self) -> Path:
        return self.path / "runs.sqlite"

    @property
    def keys(self) -> Path:
        return self.path / "keys.sqlite"

    @property
    def tuning(self) -> Path:
        return self.path / "tuning.sqlite"

    @property
    def audit(self) -> Path:
        return self.path / "audit"

    @property
    def judgments(self) -> Path:
        return self.path / "judgments"

    def close(self) -> None:
        if self._lock is None:
            return
        with contextlib.suppress(OSError):
            (self.path / _OWNER_FILE).unlink(missing_ok=True)
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _settle_layout(path: Path) -> None:
    """Check the layout of a folder that has one; give one to a folder that is new."""
    file = path / _LAYOUT_FILE
    if not file.exists():
        strangers = {entry.name for entry in path.iterdir()} - {_LOCK_FILE, _OWNER_FILE, _ENGINES_FOLDER}
        if any(not name.endswith(".partial") for name in strangers):
            raise DataFolderVersionUnknown(
                f"{path} holds files but is no data folder of this product. Name another with --data."
            )
        _write(file, {"layout": LAYOUT})
        return
    try:
        found = json.loads(file.read_text(encoding="utf-8"))["layout"]
    except (ValueError, KeyError, TypeError):
        found = "unreadable"
    if found != LAYOUT:
        raise DataFolderVersionUnknown(
            f"{path} has layout {found}; this version reads layout {LAYOUT}. "
            "Use the version that wrote it, or publish into another folder with --data."
        )


def _write(file: Path, value: dict[str, object]) -> None:
    """Replace the file in one step, readable by its owner alone."""
    partial = file.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as stream:
        json.dump(value, stream)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(partial, file)


def _read_owner(path: Path) -> Owner | None:
    try:
        value = json.loads((path / _OWNER_FILE).read_text(encoding="utf-8"))
        return Owner(int(value["pid"]), value.get("url"), value.get("token"))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _held(path: Path, owner: Owner | None) -> str:
    who = f"process {owner.pid}" if owner is not None else "another process"
    where = f", which serves {owner.url}" if owner is not None and owner.url else ""
    return f"{path} is owned by {who}{where}. Go through it, stop it, or name another folder with --data."


def _unwritable(path: Path, error: OSError) -> DataFolderUnwritable:
    reason = error.strerror or str(error)
    return DataFolderUnwritable(f"The data folder {path} can't be written: {reason}. Name another with --data.")
