"""`keys`: who may ask a server that wants to know."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text
from typer import BadParameter

from service.domain.deadline import Deadline
from service.domain.errors import KeyUnknown
from service.domain.keys import ApiKey, mint
from service.domain.principal import Scope
from service.ports import KeyStore
from service.surfaces.command_line.endings import DONE
from service.surfaces.command_line.invocation import Invocation
from service.surfaces.command_line.tables import add_row, table_of

commands = typer.Typer(help="Create, list and revoke the API keys of this service's callers.", no_args_is_help=True)

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1)}
_LONGEST_NAME = 100


@commands.command()
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Who or what it is for, as people know it.")],
    scopes: Annotated[
        list[Scope] | None, typer.Option("--scope", help="What it may do; may be repeated. [default: search]")
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option("--class", metavar="CLASS", help="A visibility class besides everyone's; may be repeated."),
    ] = None,
    expires_in: Annotated[
        str | None, typer.Option("--expires-in", metavar="TIME", help="How long it is valid, such as 12h or 90d.")
    ] = None,
) -> int:
    """Make a key and show it, this once: what is stored is its hash."""
    invocation: Invocation = context.obj
    if not (0 < len(name) <= _LONGEST_NAME and name.isprintable()):
        raise BadParameter(f"a name has 1 to {_LONGEST_NAME} printable characters.", param_hint="NAME")
    now = datetime.now(UTC).replace(microsecond=0)
    expires_at = None if expires_in is None else now + _duration(expires_in)
    key, text = mint(
        name, frozenset(scopes or [Scope.SEARCH]), frozenset(classes or []), now=now, expires_at=expires_at
    )

    async def work(store: KeyStore, deadline: Deadline) -> None:
        await store.add(key, deadline=deadline)

    _with_store(invocation, work, {"event": "key created", **_facts(key)})
    page = Group(_table([key], now), Text(), Text(text, "bold"), Text("It is shown this once: keep it as a secret."))
    invocation.output.document({"key": text, **_document(key, now)}, page)
    return DONE


@commands.command("list")
def list_keys(context: typer.Context) -> int:
    """List the keys, their last use among it; no secret is left to be shown."""
    invocation: Invocation = context.obj
    found: list[ApiKey] = []

    async def work(store: KeyStore, deadline: Deadline) -> None:
        found.extend(await store.all(deadline=deadline))

    _with_store(invocation, work)
    now = datetime.now(UTC)
    page = _table(found, now) if found else Text("There are no keys.")
    invocation.output.document({"keys": [_document(key, now) for key in found]}, page)
    return DONE


@commands.command()
def revoke(context: typer.Context, id: Annotated[str, typer.Argument(help="The key's id, as `list` shows it.")]) -> int:
    """Take a key back, for good. Servers notice within `key_staleness`."""
    invocation: Invocation = context.obj
    now = datetime.now(UTC).replace(microsecond=0)

    async def work(store: KeyStore, deadline: Deadline) -> None:
        if not await store.revoke(id, now, deadline=deadline):
            raise KeyUnknown("There is no key of this id. `cogitave-query keys list` shows those that there are.")

    _with_store(invocation, work, {"event": "key revoked", "key": id})
    invocation.output.document({"id": id, "revokedAt": now.isoformat()}, Text(f"Revoked {id}."))
    return DONE


def _with_store(
    invocation: Invocation,
    work: Callable[[KeyStore, Deadline], Awaitable[None]],
    deed: dict[str, object] | None = None,
) -> None:
    """Run `work` on the keys of the servers that have these settings and this data folder; audit the deed."""
    from service import bootstrap  # loads the engines

    settings = invocation.settings().settings

    async def run() -> None:
        async with bootstrap.open_keys(settings, invocation.data) as store:
            await work(store, Deadline.after(settings.startup_deadline))

    with bootstrap.open_audit_log(settings, invocation.data) as audit:
        asyncio.run(run())
        if deed is not None:
            audit.append({**deed, "principal": "command line", "outcome": "done"})


def _duration(text: str) -> timedelta:
    if not re.fullmatch(r"[1-9][0-9]{0,4}[hd]", text, re.ASCII):
        raise BadParameter("a time is a number of hours or days, such as 12h or 90d.", param_hint="--expires-in")
    return int(text[:-1]) * _UNITS[text[-1]]


def _facts(key: ApiKey) -> dict[str, object]:
    return {"key": key.id, "name": key.name, "scopes": sorted(key.scopes), "classes": sorted(key.audiences)}


def _state(key: ApiKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "valid" if key.is_valid(now) else "expired"


def _document(key: ApiKey, now: datetime) -> dict[str, object]:
    return {
        "id": key.id,
        "name": key.name,
        "state": _state(key, now),
        "scopes": sorted(key.scopes),
        "classes": sorted(key.audiences),
        "createdAt": _time(key.created_at),
        "expiresAt": _time(key.expires_at),
        "revokedAt": _time(key.revoked_at),
        "lastUsedAt": _time(key.last_used_at),
    }


def _table(keys: list[ApiKey], now: datetime) -> Group:
    table = table_of("id", "name", "state", "scopes", "classes", "created", "expires", "last used")
    for key in keys:
        add_row(
            table,
            key.id,
            key.name,
            _state(key, now),
            " ".join(sorted(key.scopes)),
            " ".join(sorted(key.audiences)) or "–",
            _time(key.created_at) or "",
            _time(key.expires_at) or "never",
            _time(key.last_used_at) or "never",
        )
    return Group(table)


def _time(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat(timespec="seconds")
