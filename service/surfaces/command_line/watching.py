"""`publish --watch`: publish again whenever a file of the estates has changed."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from service.domain.deadline import Deadline
from service.domain.errors import PublishFailed, Refused, Unavailable
from service.settings import Settings

Stamp = frozenset[tuple[str, int, int]]
"""Each file's path, time of change in nanoseconds, and size."""


async def watch(
    estates: Sequence[Path],
    data: Path,
    settings: Settings,
    publish: Callable[[], Awaitable[object]],
    say: Callable[[Exception], None],
) -> None:
    """Publish once, then after every change until cancelled; what is wrong the first time is raised.

    data: what is written there is no change, should it lie in an estate. say: told what is wrong later. What an engine
    keeps from being published is tried again; what is refused waits for the next change.
    """
    published: Stamp | None = None
    refused: Stamp | None = None
    while True:
        files = await _settled(estates, data, settings, published)
        if files not in (published, refused):
            try:
                await publish()
                published, refused = files, None
            except (Refused, PublishFailed, Unavailable) as error:
                if published is None:
                    raise
                say(error)
                refused = None if isinstance(error, Unavailable) else files
        await asyncio.sleep(settings.watch_interval / 1000)


async def _settled(estates: Sequence[Path], data: Path, settings: Settings, published: Stamp | None) -> Stamp:
    """The files as they are once nothing has changed for a while: an editor saves in several steps."""
    files = await asyncio.to_thread(stamp, estates, data)
    patience = Deadline.after(settings.watch_patience)
    while published not in (None, files) and not patience.has_passed:
        await asyncio.sleep(settings.watch_settling / 1000)
        later = await asyncio.to_thread(stamp, estates, data)
        if later == files:
            break
        files = later
    return files


def stamp(estates: Sequence[Path], data: Path) -> Stamp:
    """Every file of the estates but hidden ones and those of the data folder."""
    left_out = data.resolve()
    return frozenset(found for estate in estates for found in _files(estate, left_out))


def _files(estate: Path, left_out: Path) -> Iterator[tuple[str, int, int]]:
    for folder, folders, names in os.walk(estate):
        folders[:] = [name for name in folders if not name.startswith(".") and Path(folder, name) != left_out]
        for name in names:
            path = os.path.join(folder, name)
            try:
                state = os.stat(path)
            except OSError:  # gone since it was listed
                continue
            yield path, state.st_mtime_ns, state.st_size
