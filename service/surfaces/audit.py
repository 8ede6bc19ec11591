"""Who did what, for the audit log: publishes, rollbacks, repairs and tunings with their outcome, and every refusal of
access.

No text of a request stands in it, and no secret: who asked, from where, for which path, and the code.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from cypher_guard.violation import CODES
from service.domain.errors import PublishFailed, Refused, Unavailable
from service.domain.principal import OWNER, Principal
from service.domain.progress import Progress, silent
from service.domain.requests import PublishRequest
from service.domain.results import DiagnosticsResult, DoctorResult, PublishResult, ReadinessResult, Result, RootsResult
from service.domain.submission import MissingRequest, MissingResult, Submission
from service.domain.tuning import ReplaceTuningRequest, RollbackTuningRequest, TuningResult
from service.ports import AuditLog
from service.surfaces.problems import Problem
from service.tools.catalogue import Asked, Given, Tool
from service.tools.toolbox import Toolbox

Answered = TypeVar("Answered", bound=Result)

_REFUSALS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.MISDIRECTED_REQUEST, 429})


@dataclass(slots=True)
class Asking:
    """The request that is being answered. `principal` is whoever it turns out to be from."""

    principal: Principal = OWNER
    method: str = ""
    path: str = ""
    address: str = ""


_asking: ContextVar[Asking] = ContextVar("asking", default=Asking(path="command line"))  # noqa: B039 — never changed


@contextmanager
def asking(method: str, path: str, address: str) -> Iterator[Asking]:
    """Name the request for what happens within it."""
    token = _asking.set(Asking(Principal("unknown"), method, path, address))
    try:
        yield _asking.get()
    finally:
        _asking.reset(token)


class Audit:
    """Writes events down beside who asked."""

    def __init__(self, log: AuditLog | None) -> None:
        self._log = log

    def write(self, event: str, outcome: str, **facts: Any) -> None:
        if self._log is None:
            return
        who = _asking.get()
        asked = {"principal": who.principal.name, "method": who.method, "path": who.path, "address": who.address}
        self._log.append({"event": event, "outcome": outcome, **{k: v for k, v in asked.items() if v}, **facts})

    def seen(self, problem: Problem) -> None:
        """A problem is about to leave: written down where it refuses access, or is the guard's refusal."""
        if problem.status in _REFUSALS or problem.code in CODES:
            self.write("refused", "refused", code=problem.code)


class AuditedToolbox:
    """Fulfils Toolbox; writes down what changes the stores, however it ends."""

    def __init__(self, toolbox: Toolbox, audit: Audit) -> None:
        self._toolbox = toolbox
        self._audit = audit

    async def call(self, tool: Tool[Asked, Given], request: Asked, principal: Principal) -> Given:
        work = self._toolbox.call(tool, request, principal)
        match request:
            case ReplaceTuningRequest(workspace=workspace, version=version):
                return await self._audited("tuning changed", work, {"workspace": workspace, "from": version}, _tuned)
            case RollbackTuningRequest(workspace=workspace, version=version, to=to):
                facts = {"workspace": workspace, "from": version, "to": to}
                return await self._audited("tuning rolled back", work, facts, _tuned)
        return await work

    async def publish(self, request: PublishRequest, progress: Progress = silent) -> PublishResult:
        facts = {"paths": request.paths, "dry_run": request.dry_run}
        return await self._audited("publish", self._toolbox.publish(request, progress), facts, _published)

    async def missing(self, request: MissingRequest) -> MissingResult:
        return await self._toolbox.missing(request)

    async def submit(self, submission: Submission, progress: Progress = silent) -> PublishResult:
        facts = {"docsets": submission.docsets, "dry_run": submission.dry_run}
        return await self._audited("publish", self._toolbox.submit(submission, progress), facts, _published)

    async def rollback(self, content_root: str, progress: Progress = silent) -> PublishResult:
        facts = {"asked": content_root[:64]}
        return await self._audited("rollback", self._toolbox.rollback(content_root, progress), facts, _published)

    async def doctor(self, repair: bool, progress: Progress = silent) -> DoctorResult:
        work = self._toolbox.doctor(repair, progress)
        return await (self._audited("repair", work, {}, lambda _: {}) if repair else work)

    async def diagnostics(self, principal: Principal) -> DiagnosticsResult:
        return await self._toolbox.diagnostics(principal)

    async def roots(self) -> RootsResult:
        return await self._toolbox.roots()

    async def readiness(self) -> ReadinessResult:
        return await self._toolbox.readiness()

    async def close(self) -> None:
        await self._toolbox.close()

    async def _audited(
        self,
        event: str,
        work: Coroutine[Any, Any, Answered],
        facts: Mapping[str, Any],
        told: Callable[[Answered], Mapping[str, Any]],
    ) -> Answered:
        outcome, found = "stopped", dict[str, Any]()
        try:
            result = await work
            outcome, found = "done", dict(told(result))
            return result
        except (Refused, PublishFailed, Unavailable) as error:
            outcome, found = "failed", {"code": error.code}
            raise
        finally:
            self._audit.write(event, outcome, **facts, **found)


def _tuned(result: Result) -> Mapping[str, Any]:
    """How many there are, and no word of them: the history has them whole."""
    assert isinstance(result, TuningResult)
    return {"version": result.version, "pins": result.pin_count, "synonyms": result.synonym_count}


def _published(result: PublishResult) -> Mapping[str, Any]:
    return {
        "content_root": result.content_root,
        "added": result.added,
        "changed": result.changed,
        "removed": result.removed,
    }
