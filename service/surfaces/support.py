"""What a support bundle tells of a process: its settings, versions, engines, metrics and last log lines.

It goes to strangers, so that what is in it is chosen and not filtered: of a log line the fields that are ours, of a
failure's trace its frames without their messages, of an address its host. No secret, and no word of a caller.
"""

import json
import logging
import platform
import re
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from service.domain.principal import OWNER
from service.domain.results import ReadinessResult, Result, RootsResult
from service.domain.tuning import TuningRequest
from service.settings import LoadedSettings, Settings
from service.tools import catalogue
from service.tools.toolbox import Toolbox

_OF_A_LINE = frozenset(
    """timestamp level logger event run_id outcome code took_ms hits degraded_parts content_root added changed removed
    diagnostics dry_run healthy findings rows truncated instance""".split()
)
"""Fields of a log line whose values are ours. What an engine or a library said is not among them: it may quote."""

_OURS = ("service.", "adapters.")
"""Loggers whose events are words of ours; a library's may hold anything."""

_FRAME = re.compile(r'File "[^"\n]*", line \d+, in [\w<>.]+')

HIDDEN = "[hidden]"

_USER_INFO = re.compile(r"(://)[^/@\s\"']*@")

_SHORTEST_SECRET = 4
"""Characters; what is shorter stands in every other word."""


class SupportResult(Result):
    """One process, as somebody elsewhere needs to see it."""

    versions: dict[str, str]
    settings: dict[str, str]
    readiness: ReadinessResult | None
    roots: RootsResult | None
    tuning: dict[str, int] = Field(default_factory=dict, description="How much is tuned, and no word of it.")
    metrics: str
    log: list[dict[str, Any]]


class RecentLines(logging.Handler):
    """Keeps the last log lines of this process, as they may leave it."""

    def __init__(self, kept: int) -> None:
        super().__init__()
        self._lines: deque[dict[str, Any]] = deque(maxlen=kept)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = json.loads(self.format(record))
        except (TypeError, ValueError):
            return
        self._lines.append(presentable(line))

    def lines(self) -> list[dict[str, Any]]:
        """Oldest first."""
        return list(self._lines)


def presentable(line: Mapping[str, Any]) -> dict[str, Any]:
    """What of a log line may leave."""
    said = {name: value for name, value in line.items() if name in _OF_A_LINE}
    if not str(line.get("logger", "")).startswith(_OURS):
        said["event"] = HIDDEN
    if isinstance(degraded := line.get("degraded"), list):
        said["degraded_parts"] = [str(note).partition(":")[0] for note in degraded]
    frames = _frames(line)
    return said | ({"frames": frames} if frames else {})


def _frames(line: Mapping[str, Any]) -> list[str]:
    """Where a failure came by, innermost last; what it said is left out."""
    if isinstance(trace := line.get("trace"), str):
        return _FRAME.findall(trace)
    if isinstance(chain := line.get("exception"), list):
        return [
            f'File "{frame.get("filename")}", line {frame.get("lineno")}, in {frame.get("name")}'
            for error in chain
            for frame in error.get("frames", [])
        ]
    return []


def presentable_settings(settings: Settings) -> dict[str, str]:
    """The table's values: a secret is `set` or empty, and an address is its scheme, host and port."""
    shown = {}
    for row in LoadedSettings(settings, {}).rows():
        value = getattr(settings, row.name)
        shown[row.name] = _address(value) if isinstance(value, str) and "://" in value else row.value
        shown[row.name] = _USER_INFO.sub(rf"\1{HIDDEN}@", shown[row.name])
    return shown


def _address(value: str) -> str:
    """Scheme, host and port: a path or a query may hold a key."""
    try:
        parts = urlsplit(value)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return HIDDEN
    return f"{parts.scheme}://{host}{port}"


def versions() -> dict[str, str]:
    """The product, the machine, and every package that the product names."""
    found = {"cogitave-query": version("cogitave-query"), "python": platform.python_version()}
    found["platform"] = platform.platform()
    for requirement in requires("cogitave-query") or []:
        name = re.split(r"[^A-Za-z0-9_.-]", requirement, maxsplit=1)[0]
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


async def support(
    toolbox: Toolbox, settings: Settings, *, metrics: str = "", log: list[dict[str, Any]] | None = None
) -> SupportResult:
    """What can be told of this process; a store that can't say is left out."""
    readiness = roots = None
    tuned: dict[str, int] = {}
    with suppress(Exception):  # a bundle is made when things are broken
        readiness = await toolbox.readiness()
        roots = await toolbox.roots()
        tuning = await toolbox.call(catalogue.TUNING, TuningRequest(), OWNER)
        tuned = {"version": tuning.version, "pins": tuning.pin_count, "synonyms": tuning.synonym_count}
    told = SupportResult(
        versions=versions(),
        settings=presentable_settings(settings),
        readiness=None if readiness is None else _without_reasons(readiness),
        roots=roots,
        tuning=tuned,
        metrics=metrics,
        log=log or [],
    )
    return SupportResult.model_validate(_without(told.model_dump(), _secrets(settings)))


def _secrets(settings: Settings) -> list[str]:
    """The values themselves, and the parts of those that hold several: none of them should be there to be hidden."""
    values = (getattr(settings, name) for name in Settings.model_fields)
    whole = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
    parts = [part for value in whole for part in re.split(r"[=,\s]+", value)]
    return sorted({part for part in [*whole, *parts] if len(part) >= _SHORTEST_SECRET}, key=len, reverse=True)


def _without(value: Any, secrets: list[str]) -> Any:
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, HIDDEN)
            return value
        case list():
            return [_without(one, secrets) for one in value]
        case dict():
            return {name: _without(one, secrets) for name, one in value.items()}
        case _:
            return value


def _without_reasons(readiness: ReadinessResult) -> ReadinessResult:
    """An engine's reason may name an address with its credentials."""
    engines = [engine.model_copy(update={"reason": HIDDEN if engine.reason else None}) for engine in readiness.engines]
    return readiness.model_copy(update={"engines": engines})
