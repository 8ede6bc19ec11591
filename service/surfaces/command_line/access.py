"""How a command reaches the stores: it owns the data folder, or goes through the server that does."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import structlog

from service import bootstrap
from service.domain.deadline import Deadline
from service.domain.errors import DataFolderHeld
from service.observation import SILENT, Observer
from service.settings import Settings
from service.surfaces.audit import Audit, AuditedToolbox
from service.surfaces.remote import RemoteToolbox, ServerGone
from service.tools.toolbox import Toolbox

Entered = TypeVar("Entered")

POLL_SECONDS = 0.05
"""How often a held folder is looked at again; the wait itself is `startup_deadline`."""


@asynccontextmanager
async def open_toolbox(settings: Settings, data: Path) -> AsyncIterator[Toolbox]:
    """The toolbox of a data folder, whoever owns it.

    A folder that another command holds is waited for until `startup_deadline`; then DataFolderHeld is raised.
    """
    async with AsyncExitStack() as held:
        yield await _enter_in_time(held, lambda: _own_or_reach(settings, data), settings)


@asynccontextmanager
async def own(settings: Settings, data: Path, watching: Observer = SILENT) -> AsyncIterator[bootstrap.Owned]:
    """The stores themselves; a folder that is held is waited for as above, but not one that a server owns."""
    refuse_where_served(data)
    async with AsyncExitStack() as held:
        yield await _enter_in_time(held, lambda: bootstrap.open_owned(settings, data, watching), settings)


def refuse_where_served(data: Path) -> None:
    """Raises DataFolderHeld where a server owns the folder: it will not go away by itself."""
    owner = bootstrap.owner(data)
    if owner is not None and owner.url is not None:
        raise DataFolderHeld(
            f"{data} is served already, by process {owner.pid} on {owner.url}. Use that server, stop it, or name "
            "another folder with --data."
        )


async def _enter_in_time(
    held: AsyncExitStack, attempt: Callable[[], AbstractAsyncContextManager[Entered]], settings: Settings
) -> Entered:
    patience = Deadline.after(settings.startup_deadline)
    is_waiting = False
    while True:
        try:
            return await held.enter_async_context(attempt())
        except (DataFolderHeld, ServerGone) as error:
            if patience.has_passed:
                raise
            if not is_waiting:
                is_waiting = True
                structlog.get_logger(__name__).warning("waiting for the data folder", reason=error.message)
        await asyncio.sleep(POLL_SECONDS)


@asynccontextmanager
async def _own_or_reach(settings: Settings, data: Path) -> AsyncIterator[Toolbox]:
    owner = bootstrap.owner(data)
    if owner is None or owner.url is None:
        async with bootstrap.open_toolbox(settings, data) as toolbox:
            with bootstrap.open_audit_log(settings, data) as audit_log:
                yield AuditedToolbox(toolbox, Audit(audit_log))
        return
    remote = RemoteToolbox(owner.url, owner.token, settings)
    try:
        if not await remote.is_alive():
            raise ServerGone(f"{owner.url} owns {data} and does not answer. Stop process {owner.pid}, or try again.")
        yield remote
    finally:
        await remote.close()
