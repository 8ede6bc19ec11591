"""`serve`: own the data folder, listen, and answer until told to stop."""

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from rich.text import Text

from service import bootstrap
from service.domain.errors import SettingInvalid, Unavailable
from service.domain.requests import PublishRequest
from service.settings import Settings
from service.surfaces.application import application
from service.surfaces.audit import Audit, AuditedToolbox
from service.surfaces.authentication import check, open_authenticator
from service.surfaces.command_line.access import own, refuse_where_served
from service.surfaces.command_line.crowd import Crowd
from service.surfaces.command_line.heaps import share_heaps
from service.surfaces.command_line.output import Output, printable
from service.surfaces.command_line.pages import publish_page
from service.surfaces.logging import LoggedToolbox, configure_logging
from service.surfaces.metrics import Metrics
from service.surfaces.support import RecentLines
from service.tools.toolbox import Toolbox

POLL_SECONDS = 0.01
"""How often a starting server is looked at; uvicorn has nothing to wait on."""


class AddressUnavailable(Unavailable):
    """The address can't be bound to: another process has the port, or the machine has no such address."""

    code = "address_unavailable"


async def serve(settings: Settings, data: Path, output: Output, estates: Sequence[str] = ()) -> None:
    """Answer, and publish `estates` meanwhile: what was published before answers until they are.

    Raises SettingInvalid for an address beyond loopback without authentication, AddressUnavailable, DataFolderHeld, or
    what a publish raises; else returns when a signal has stopped the server and the stores are closed.
    """
    share_heaps(settings.memory_heaps)
    recent = RecentLines(settings.support_lines)
    configure_logging("info", recent=recent)
    check(settings)
    refuse_where_served(data)
    with listen(settings) as listening:
        url = address(listening)
        metrics = Metrics()
        async with own(settings, data, metrics) as owned, AsyncExitStack() as held:
            metrics.watch(owned.readings)
            audit_log = held.enter_context(bootstrap.open_audit_log(settings, data))
            keys = await held.enter_async_context(bootstrap.open_keys(settings, data))
            token = owned.announce(url).token
            callers = await held.enter_async_context(open_authenticator(settings, keys, owner_token=token))
            app = application(
                LoggedToolbox(owned.toolbox),
                settings,
                metrics=metrics,
                observer=owned.observer,
                authenticator=callers,
                audit_log=audit_log,
                recent=recent,
                judgments=bootstrap.open_judgments(settings, data),
            )
            held.push_async_callback(app.state.rates.close)
            publishing = partial(_publish, AuditedToolbox(owned.toolbox, Audit(audit_log)), estates, output)
            await _answer(app, listening, settings, output, {"url": url, "data": str(data)}, publishing)


def listen(settings: Settings) -> socket.socket:
    """A bound socket, before any store is opened: a port that is taken costs nothing."""
    host, port = settings.host, settings.port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        is_local = all(ipaddress.ip_address(place[4][0]).is_loopback for place in found)
        if settings.authentication == "off" and not is_local:
            raise SettingInvalid(
                f"{host} is not a loopback address, and this server does not ask who calls: `authentication` is off. "
                "Set it to `required` and create keys, or bind to 127.0.0.1.",
                suggestion="127.0.0.1",
            )
        family, _, _, _, place = found[0]
        listening = socket.create_server(place[:2], family=family, backlog=settings.connections)
        # asyncio sets it on sockets of its own making only; without it each answer on a kept connection waits 40 ms
        # for the caller's delayed acknowledgement. Accepted connections inherit it.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        return listening
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise AddressUnavailable(f"{host}:{port} can't be bound to: {reason}. Choose another with --port.") from error


def address(listening: socket.socket) -> str:
    """The URL of a bound socket for this machine, its port as it was given."""
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host.partition("%")[0]).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def _publish(toolbox: Toolbox, estates: Sequence[str], output: Output) -> None:
    if not estates:
        return
    with output.progress() as progress:
        result = await toolbox.publish(PublishRequest(paths=list(estates)), progress)
    if not output.as_json:
        output.result(result, publish_page)


class DrainedServer(uvicorn.Server):
    """Told to stop by SIGTERM, it first says so on /readyz, and goes on answering until others have noticed.

    Then it accepts no more, and finishes what it has within `shutdown_deadline`. A second signal, or Ctrl-C, takes
    the notice away.
    """

    def __init__(self, config: uvicorn.Config, app: FastAPI, settings: Settings) -> None:
        super().__init__(config)
        self._app = app
        self._notice = settings.drain_notice / 1000

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        is_first = not self._app.state.is_draining
        self._app.state.is_draining = True
        if is_first and self._notice and sig == signal.SIGTERM:
            loop = asyncio.get_running_loop()
            loop.call_soon_threadsafe(loop.call_later, self._notice, super().handle_exit, sig, frame)
        else:
            super().handle_exit(sig, frame)


async def _answer(
    app: FastAPI,
    listening: socket.socket,
    settings: Settings,
    output: Output,
    said: dict[str, str],
    meanwhile: Callable[[], Coroutine[Any, Any, None]],
) -> None:
    crowd = Crowd(app, settings)
    config = uvicorn.Config(
        crowd,
        log_config=None,
        access_log=False,  # it would hold the texts of searches; LoggedToolbox says what matters
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=settings.keep_alive,
        timeout_graceful_shutdown=-(-settings.shutdown_deadline // 1000),
    )
    server = DrainedServer(config, app, settings)
    crowd.connections = server.server_state.connections
    # uvicorn raises the signal that stopped it once more when it is done; by then the stores must still be closed.
    for stopping in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stopping, lambda _signal, _frame: None)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    closing = asyncio.create_task(crowd.close_silent())
    running.add_done_callback(lambda _: closing.cancel())
    while not (server.started or running.done()):  # noqa: ASYNC110 there is no event
        await asyncio.sleep(POLL_SECONDS)
    if server.started:
        line = Text(f"Cogitave Query answers on {said['url']} from {printable(said['data'])}. Ctrl-C stops it.")
        output.document(said, line)
        work = asyncio.create_task(meanwhile())
        await asyncio.wait((running, work), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        elif work.exception() is not None:
            server.should_exit = True
            await running
            await work
    await running
