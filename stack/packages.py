"""An engine's jars on this machine: fetched once, checked against the lock, cached for the user."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from stack import maven
from stack.errors import PackageMismatch
from stack.lockfile import Jar, Lock

# Another process may be fetching the same packages over a slow line.
_LOCK_WITHIN_SECONDS = 900


def cache_folder() -> Path:
    """Where packages are kept: COGITAVE_QUERY_STACK_CACHE, else the user's cache folder."""
    if chosen := os.environ.get("COGITAVE_QUERY_STACK_CACHE"):
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "cogitave-query" / "stack"


def install(engine: str, lock: Lock, cache: Path) -> Path:
    """The folder that holds `lib/`, `plugins/` and `compiler/` of an engine, fetched now if it isn't there yet.

    Every jar is checked at every call, so a damaged cache is an error here and not a riddle later. Safe when
    several processes call it at once. Raises ResolutionFailed or PackageMismatch.
    """
    cache.mkdir(parents=True, exist_ok=True)
    home = cache / f"{engine}-{lock.digest[:12]}"
    with FileLock(cache / f"{engine}.lock", timeout=_LOCK_WITHIN_SECONDS):
        if not home.exists():
            _fetch(engine, lock, home)
    verify(lock, home)
    return home


def _fetch(engine: str, lock: Lock, home: Path) -> None:
    draft = Path(tempfile.mkdtemp(prefix=f"{engine}-", dir=home.parent))
    try:
        flat = draft / "flat"
        flat.mkdir()
        with _progress(f"fetching {engine}", len(lock.jars)) as tick:
            maven.fetch(lock.jars, flat, tick)
        for jar in lock.jars:
            (draft / jar.folder).mkdir(exist_ok=True)
            if (flat / jar.filename).exists():
                (flat / jar.filename).rename(draft / jar.folder / jar.filename)
        shutil.rmtree(flat)
        verify(lock, draft)
        draft.rename(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def verify(lock: Lock, home: Path) -> None:
    """Raise PackageMismatch unless `home` holds every jar of the lock, byte for byte, and no other."""
    expected = {home / jar.folder / jar.filename for jar in lock.jars}
    strangers = {jar for folder in {j.folder for j in lock.jars} for jar in (home / folder).iterdir()} - expected
    if strangers:
        raise PackageMismatch(f"not in the lock: {min(strangers)}; delete {home} and try again")

    def check(jar: Jar) -> None:
        path = home / jar.folder / jar.filename
        if not path.exists():
            raise PackageMismatch(f"{jar.coordinates} is missing; delete {home} and try again")
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != jar.sha256:
            raise PackageMismatch(
                f"{jar.coordinates} has sha256 {found}, the lock says {jar.sha256}; "
                f"delete {home} and the copy in Maven's repository, and try again"
            )

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(check, lock.jars):
            pass


@contextmanager
def _progress(title: str, total: int) -> Iterator[maven.Tick]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(title, total=total)
        yield lambda: progress.advance(task)
        progress.update(task, completed=total)
