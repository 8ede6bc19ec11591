"""Logs: one JSON object a line on stderr; every line of a request names its run."""

import logging
import sys
import time
from collections.abc import Awaitable
from typing import Any, TextIO, TypeVar

import structlog

from cypher_guard.violation import Violation
from service.domain.errors import EngineUnavailable, PublishFailed, Refused, Unavailable
from service.domain.principal import Principal
from service.domain.progress import Progress, silent
from service.domain.requests import PublishRequest
from service.domain.results import (
    DiagnosticsResult,
    DoctorResult,
    GraphQueryResult,
    PublishResult,
    ReadinessResult,
    Result,
    RootsResult,
    SearchResult,
)
from service.domain.submission import MissingRequest, MissingResult, Submission
from service.observation import known_run_id, tool_run
from service.tools.catalogue import Asked, Given, Tool
from service.tools.toolbox import Toolbox

Answered = TypeVar("Answered", bound=Result)

QUIET_LIBRARIES = dict.fromkeys(("httpx", "httpcore", "asyncio", "neo4j", "qdrant_client", "mcp"), logging.WARNING) | {
    "opensearch": logging.ERROR
}
"""Libraries that log each request they make, addresses and texts included: only their warnings are let through. Those
of OpenSearch's client are of every answer but success, which is expected, or becomes an error of ours."""


def configure_logging(
    level: str = "warning", stream: TextIO | None = None, *, recent: logging.Handler | None = None
) -> None:
    """Send every log record, ours and the libraries', to `stream` (stderr) from `level` on, and to `recent`."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        _name_the_run,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    # A trace's local variables would bring every text and secret into the log.
    traces = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.ExceptionRenderer(traces),
            structlog.processors.JSONRenderer(),
        ],
    )
    handlers = [logging.StreamHandler(stream or sys.stderr), *([recent] if recent else [])]
    for handler in handlers:
        handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = list(handlers)
    root.setLevel(level.upper())
    for name, least in QUIET_LIBRARIES.items():
        logging.getLogger(name).setLevel(least)


class LoggedToolbox:
    """A toolbox that logs each call: the tool, how it ended and how long it took, a search's run.

    What was asked for is not logged: no text of a question, no uid, no parameter.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._log = structlog.get_logger(__name__)

    async def call(self, tool: Tool[Asked, Given], request: Asked, principal: Principal) -> Given:
        return await self._logged(tool.name, self._toolbox.call(tool, request, principal))

    async def publish(self, request: PublishRequest, progress: Progress = silent) -> PublishResult:
        return await self._logged("publish", self._toolbox.publish(request, progress))

    async def missing(self, request: MissingRequest) -> MissingResult:
        return await self._logged("missing", self._toolbox.missing(request))

    async def submit(self, submission: Submission, progress: Progress = silent) -> PublishResult:
        return await self._logged("submit", self._toolbox.submit(submission, progress))

    async def rollback(self, content_root: str, progress: Progress = silent) -> PublishResult:
        return await self._logged("rollback", self._toolbox.rollback(content_root, progress))

    async def diagnostics(self, principal: Principal) -> DiagnosticsResult:
        return await self._logged("diagnostics", self._toolbox.diagnostics(principal))

    async def roots(self) -> RootsResult:
        return await self._logged("roots", self._toolbox.roots())

    async def doctor(self, repair: bool, progress: Progress = silent) -> DoctorResult:
        return await self._logged("doctor", self._toolbox.doctor(repair, progress))

    async def readiness(self) -> ReadinessResult:
        """Not logged: a prober asks every few seconds."""
        return await self._toolbox.readiness()

    async def close(self) -> None:
        await self._toolbox.close()

    async def _logged(self, tool: str, call: Awaitable[Answered]) -> Answered:
        with tool_run():
            return await self._told(tool, call)

    async def _told(self, tool: str, call: Awaitable[Answered]) -> Answered:
        started = time.perf_counter()
        try:
            answer = await call
        except (Refused, Violation) as error:
            self._log.info(tool, outcome="refused", code=error.code, took_ms=_since(started))
            raise
        except (Unavailable, PublishFailed) as error:
            detail = {"detail": error.detail} if isinstance(error, EngineUnavailable) and error.detail else {}
            told = {"code": error.code, "reason": error.message, **detail}
            self._log.warning(tool, outcome="failed", took_ms=_since(started), **told)
            raise
        self._log.info(tool, outcome="done", took_ms=_since(started), **_facts(answer))
        return answer


def _name_the_run(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Every line of a request names its run, whoever writes it."""
    run = known_run_id()
    if run is not None:
        event.setdefault("run_id", run)
    return event


def _facts(answer: Result) -> dict[str, Any]:
    """What a log wants to know of an answer: numbers and names, none of its text."""
    match answer:
        case SearchResult():
            return {
                "run_id": answer.run_id,
                "hits": len(answer.hits),
                "degraded": answer.degraded,
                "content_root": answer.content_root,
            }
        case PublishResult():
            return {
                "added": answer.added,
                "changed": answer.changed,
                "removed": answer.removed,
                "diagnostics": len(answer.diagnostics),
                "content_root": answer.content_root,
                "dry_run": answer.dry_run,
            }
        case DoctorResult():
            return {"healthy": answer.healthy, "findings": sum(finding.count for finding in answer.findings)}
        case GraphQueryResult():
            return {"rows": len(answer.rows), "truncated": answer.truncated}
        case _:
            return {}


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
