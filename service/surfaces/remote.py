"""The toolbox of a data folder that a server owns: every call goes over REST to that server."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx
from pydantic import ValidationError

from cypher_guard.violation import CODES, Violation
from service.domain import errors
from service.domain.diagnostics import Diagnostic
from service.domain.principal import Principal
from service.domain.progress import Progress, silent
from service.domain.requests import DoctorRequest, PublishRequest, Request, RollbackRequest
from service.domain.results import (
    DiagnosticResult,
    DiagnosticsResult,
    DoctorResult,
    PublishResult,
    ReadinessResult,
    Result,
    RootsResult,
)
from service.domain.submission import MissingRequest, MissingResult, Submission
from service.settings import Settings
from service.surfaces.support import SupportResult
from service.tools.catalogue import Asked, Given, Tool

Answered = TypeVar("Answered", bound=Result)

OWNER_HEADER = "Cogitave-Query-Owner"


class ServerGone(errors.Unavailable):
    """The server that owns the data folder broke off, or could not be reached."""

    code = "server_gone"


class ServerFailed(errors.Unavailable):
    """The server met a fault of its own, or answered what this version can't read."""

    code = "server_failed"


class RemoteToolbox:
    """Fulfils `Toolbox`. Who asks is the server's to decide: a principal given here is not sent.

    url: where the server answers; token: the data folder's, which makes its holder the owner; key: an API key or an
    access token, for a server elsewhere. `transport` is httpx's.
    Raises what the server's own toolbox raised, by the code of its problem+json; else ServerGone or ServerFailed.
    """

    def __init__(
        self,
        url: str,
        token: str | None,
        settings: Settings,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        key: str = "",
    ) -> None:
        self._url = url
        self._client = httpx.AsyncClient(
            base_url=url,
            headers={OWNER_HEADER: token} if token else {"Authorization": f"Bearer {key}"} if key else {},
            # The server keeps the deadline; beyond it we wait no longer than for a server that starts.
            timeout=(settings.request_deadline + settings.startup_deadline) / 1000,
            trust_env=False,  # a proxy of the environment has no business between two processes of one machine
            transport=transport,
        )

    async def is_alive(self) -> bool:
        try:
            response = await self._client.get("/livez")
        except httpx.HTTPError:
            return False
        return response.is_success

    async def call(self, tool: Tool[Asked, Given], request: Asked, _principal: Principal) -> Given:
        with self._server_errors():
            response = await self._client.post(f"/v1/{tool.path}", **_wire(request))
        return _answered(tool.result, response)

    async def readiness(self) -> ReadinessResult:
        with self._server_errors():
            response = await self._client.get("/readyz")
        return _read(ReadinessResult, response.content)

    async def publish(self, request: PublishRequest, progress: Progress = silent) -> PublishResult:
        return await self._follow("publish", request, PublishResult, progress)

    async def missing(self, request: MissingRequest) -> MissingResult:
        with self._server_errors():
            response = await self._client.post("/v1/publish/missing", **_wire(request))
        return _answered(MissingResult, response)

    async def submit(self, submission: Submission, progress: Progress = silent) -> PublishResult:
        return await self._follow("publish/records", submission, PublishResult, progress)

    async def rollback(self, content_root: str, progress: Progress = silent) -> PublishResult:
        return await self._follow("rollback", RollbackRequest(content_root=content_root), PublishResult, progress)

    async def roots(self) -> RootsResult:
        with self._server_errors():
            response = await self._client.get("/v1/roots")
        return _answered(RootsResult, response)

    async def diagnostics(self, _principal: Principal) -> DiagnosticsResult:
        with self._server_errors():
            response = await self._client.get("/v1/diagnostics")
        return _answered(DiagnosticsResult, response)

    async def support(self) -> SupportResult:
        """What the server tells of itself in a support bundle."""
        with self._server_errors():
            response = await self._client.get("/v1/support")
        return _answered(SupportResult, response)

    async def doctor(self, repair: bool, progress: Progress = silent) -> DoctorResult:
        return await self._follow("doctor", DoctorRequest(repair=repair), DoctorResult, progress)

    async def close(self) -> None:
        await self._client.aclose()

    async def _follow(self, operation: str, request: Request, answer: type[Answered], progress: Progress) -> Answered:
        """The server streams a line whenever something moves, and at times when nothing does."""
        with self._server_errors():
            async with self._client.stream("POST", f"/v1/{operation}", **_wire(request)) as response:
                if not response.is_success:
                    await response.aread()
                    raise error_of(response)
                async for line in response.aiter_lines():
                    match _object(line):
                        case {"progress": {"stage": str(stage), "done": int(done), "total": int(total)}}:
                            progress(stage, done, total)
                        case {"result": dict(result)}:
                            return _read(answer, json.dumps(result))
                        case {"problem": dict(problem)}:
                            raise error_of_problem(problem)
        raise ServerGone(f"{self._url} broke off: {operation}. Asking again takes it up where it was.")

    @contextmanager
    def _server_errors(self) -> Iterator[None]:
        try:
            yield
        except httpx.TimeoutException as error:
            raise errors.EngineLate(self._url) from error
        except httpx.HTTPError as error:
            raise ServerGone(f"{self._url}: {error or type(error).__name__}. Try again.") from error


def error_of(response: httpx.Response) -> Exception:
    """The error that a problem+json was made from."""
    return error_of_problem({"status": response.status_code, **_object(response.content)})


def error_of_problem(problem: Mapping[str, Any]) -> Exception:
    """By its code where that is known; a stranger's code by its status: 4xx refused, anything else a server's fault."""
    code, detail = str(problem.get("code", "")), str(problem.get("detail") or "The server gave no reason.")
    suggestion = None if problem.get("suggestion") is None else str(problem["suggestion"])
    if code in CODES:
        return Violation(
            code,
            detail,
            line=int(problem.get("line") or 0),
            column=int(problem.get("column") or 0),
            excerpt=str(problem.get("excerpt") or ""),
            suggestion=suggestion,
        )
    kind = _KINDS.get(code)
    if kind is None:
        is_refusal = 400 <= int(problem.get("status") or 0) < 500
        kind = errors.Refused if is_refusal else ServerFailed
    return _raised_elsewhere(kind, code, detail, suggestion, problem)


def _raised_elsewhere(
    kind: type[Exception], code: str, message: str, suggestion: str | None, problem: Mapping[str, Any]
) -> Exception:
    """An error whose own constructor would word it anew: the server has worded it already."""
    error = kind.__new__(kind, message)
    fields: dict[str, Any] = {"message": message}
    if issubclass(kind, errors.Refused):
        fields["suggestion"] = suggestion
    if issubclass(kind, errors.EngineUnavailable):
        fields |= {"engine": str(problem.get("engine") or ""), "reason": str(problem.get("reason") or "")}
        fields["detail"] = ""  # it stays in the server's log
    if issubclass(kind, errors.PublishFailed):
        fields["diagnostics"] = _diagnostics(problem)
    if code and code != getattr(kind, "code", None):
        fields["code"] = code
    for name, value in fields.items():
        setattr(error, name, value)
    return error


def _diagnostics(problem: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """What a strict publish failed for; nothing where the server says it in words of another version."""
    try:
        found = [DiagnosticResult.model_validate(value) for value in problem.get("diagnostics") or ()]
        return tuple(each.diagnostic() for each in found)
    except (TypeError, ValueError):
        return ()


def _kinds(*families: type[Exception]) -> Iterator[type[Exception]]:
    for family in families:
        yield family
        yield from _kinds(*family.__subclasses__())


_KINDS: Mapping[str, type[Exception]] = {
    str(vars(kind)["code"]): kind
    for kind in _kinds(errors.Refused, errors.Unavailable, errors.PublishFailed)
    if "code" in vars(kind) and kind.__module__ == errors.__name__
}
"""Every error of the domain, by its stable code."""


def _wire(request: Request) -> dict[str, Any]:
    """Escaped to ASCII: half a surrogate pair reaches the server, which is the one to refuse it."""
    return {
        "content": json.dumps(request.model_dump(mode="json", by_alias=True)),
        "headers": {"Content-Type": "application/json"},
    }


def _object(content: bytes | str) -> dict[str, Any]:
    """The JSON object, or an empty one: a proxy's page of HTML is nobody's problem+json."""
    try:
        value = json.loads(content)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _answered(answer: type[Answered], response: httpx.Response) -> Answered:
    if not response.is_success:
        raise error_of(response)
    return _read(answer, response.content)


def _read(answer: type[Answered], content: bytes | str) -> Answered:
    try:
        return answer.model_validate_json(content)
    except ValidationError as error:
        raise ServerFailed(
            "The server's answer can't be read; is it of this version? Restart it, then try again."
        ) from error
