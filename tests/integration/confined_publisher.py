"""A publisher whose data folder can't take what is written: a program for the tests beside it.

    unshare --mount --map-root-user python -m tests.integration.confined_publisher SCENARIO FOLDER

The folder becomes a small file system that this process alone sees. Ends with 0 where each refused publish is an error
that says what to do, the old snapshot goes on answering, and the next publish completes once there is room. A folder
that can only be read can't be opened, and says so; a file system with an open store can't become one.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from service.domain.errors import DataFolderUnwritable, EngineUnavailable
from service.settings import Settings
from tests.application import PAGES, Application, running, write_estate

MEBIBYTE = 1 << 20
SIZE = 192 * MEBIBYTE
RESERVE = 64 * MEBIBYTE
SETTINGS = Settings(vector_disk_reserve=RESERVE, request_deadline=60_000, publish_text_batch=8, publish_batch=8)
FILE_SIZES = (0, 65_536, MEBIBYTE, 4 * MEBIBYTE)
"""Bytes to which no file may grow: each engine's files are of another size."""

QUESTION = "which version"


def pages(version: int) -> dict[str, str]:
    filler = " ".join(f"word{number}" for number in range(300))
    return PAGES | {
        f"v{page}.md": f"# V{page}\n\nThis is version {version}.\n\n{filler} {version}\n" for page in range(6)
    }


def versions(application: Application) -> set[str]:
    """The versions that a search finds; one where nothing is mixed."""
    hits = application.search(QUESTION, limit=50).hits
    said = {hit.passage.text.split("\n")[0] for hit in hits if hit.passage and "This is version" in hit.passage.text}
    return {text.rpartition(" ")[2].rstrip(".") for text in said}


def mount(folder: Path, *options: str) -> None:
    subprocess.run(["mount", *options, str(folder)], check=True)


@contextmanager
def full_disk(folder: Path, free: int) -> Iterator[None]:
    """All but `free` bytes are taken."""
    ballast = folder / "ballast"
    room = os.statvfs(folder)
    with ballast.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, max(1, room.f_bavail * room.f_frsize - free))
    yield
    ballast.unlink()


@contextmanager
def small_files(_folder: Path, size: int) -> Iterator[None]:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


CONFINEMENTS: dict[str, list[Callable[[Path], AbstractContextManager[None]]]] = {
    "full": [partial(full_disk, free=0), partial(full_disk, free=RESERVE // 2)],
    "small-files": [partial(small_files, size=size) for size in FILE_SIZES],
}


def unreadable(folder: Path, estate: Path) -> None:
    with running(folder / "data", SETTINGS) as application:
        application.publish(estate)
    mount(folder, "-o", "remount,ro")
    try:
        with running(folder / "data", SETTINGS):
            raise AssertionError("a folder that can only be read was opened")
    except DataFolderUnwritable as error:
        print(error.message, flush=True)
    mount(folder, "-o", "remount,rw")
    write_estate(estate, pages(1))
    with running(folder / "data", SETTINGS) as application:
        assert versions(application) == {"0"}
        application.publish(estate)
        assert versions(application) == {"1"}
        assert application.run(application.tools.doctor(repair=False)).findings == []


def confined(scenario: str, folder: Path, estate: Path) -> None:
    refusals = 0
    with running(folder / "data", SETTINGS) as application:
        application.publish(estate)
        for version, confinement in enumerate(CONFINEMENTS[scenario], start=1):
            write_estate(estate, pages(version))
            with confinement(folder):
                try:
                    application.publish(estate)
                except (DataFolderUnwritable, EngineUnavailable) as error:
                    print(f"{scenario} {version}: {type(error).__name__}: {error.message}", flush=True)
                    refusals += 1
                    assert versions(application) == {str(version - 1)}, versions(application)
                else:
                    assert versions(application) == {str(version)}, versions(application)
            application.publish(estate)
            assert versions(application) == {str(version)}, versions(application)
            assert application.run(application.tools.doctor(repair=False)).findings == []
    assert refusals
    with running(folder / "data", SETTINGS) as application:
        assert versions(application) == {str(len(CONFINEMENTS[scenario]))}
        assert application.run(application.tools.doctor(repair=False)).findings == []


def story(scenario: str, folder: Path) -> None:
    folder.mkdir()
    mount(folder, "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs")
    estate = write_estate(folder.parent / "estate", pages(0))
    if scenario == "read-only":
        unreadable(folder, estate)
    else:
        confined(scenario, folder, estate)


if __name__ == "__main__":
    story(sys.argv[1], Path(sys.argv[2]))
