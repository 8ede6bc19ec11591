"""The one table from an error's type to HTTP: status, title, and RFC 9457 problem+json.

A problem never holds a stack trace, and never the caller's own input back at length. Besides RFC 9457's fields it has
`code` (stable, what a program branches on), `suggestion` where one is known, and what the error's type adds: `line`,
`column`, `excerpt` of a guard violation; `engine`, `reason` of an engine that can't answer; `fields` of a request that
has the wrong shape.
"""

import traceback
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPMethod, HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope as StarletteScope

from cypher_guard.violation import Violation
from service.domain import errors
from service.domain.principal import Scope
from service.domain.results import DiagnosticResult
from service.surfaces.encoding import encode

MEDIA_TYPE = "application/problem+json"

_FIELDS_SHOWN = 10
_DETAIL_CHARACTERS = 1_000
_NAME_CHARACTERS = 100


class FieldProblem(BaseModel):
    """One field of the request that has the wrong shape. `field` is its path, dotted."""

    field: str
    message: str


class Problem(BaseModel):
    """What every refusal and failure looks like on HTTP."""

    model_config = ConfigDict(frozen=True)

    type: str
    title: str
    status: int
    detail: str
    code: str
    suggestion: str | None = None
    instance: str | None = Field(default=None, description="Names the entry in the server's log, of a failure.")
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None
    engine: str | None = None
    reason: str | None = None
    fields: list[FieldProblem] | None = None
    diagnostics: list[DiagnosticResult] | None = Field(default=None, description="What a strict publish failed for.")


class SurfaceRefused(errors.Refused):
    """Refused before any tool saw it: by its shape, size, place or time."""


class BodyTooLarge(SurfaceRefused):
    code = "body_too_large"

    def __init__(self, cap: int) -> None:
        super().__init__(f"The request's body is larger than the {cap:,} bytes that are read. Send less.")


class BodyLate(SurfaceRefused):
    code = "body_late"

    def __init__(self, milliseconds: int) -> None:
        super().__init__(f"The request's body was not complete after {milliseconds} ms. Send it faster, or less.")


class TwoLengths(SurfaceRefused):
    """A proxy before us may have read another end: what follows might be another caller's."""

    code = "two_lengths"

    def __init__(self) -> None:
        super().__init__("The request says twice how long it is. Send Content-Length or Transfer-Encoding, not both.")


class MediaTypeRefused(SurfaceRefused):
    """What a page of another site can send through its reader's browser without asking is not read, either."""

    code = "media_type_refused"

    def __init__(self) -> None:
        super().__init__("The body is read as JSON alone. Send it with Content-Type: application/json.")


class VersionRequired(SurfaceRefused):
    code = "version_required"

    def __init__(self) -> None:
        super().__init__(
            'Name the version that this one replaces: send If-Match with the ETag that GET gave, such as "3".'
        )


class ParameterRepeated(SurfaceRefused):
    """A link that gives a parameter of one value several."""

    code = "parameter_repeated"

    def __init__(self, name: str) -> None:
        super().__init__(f"The link gives '{name[:_NAME_CHARACTERS]}' more than once, and it holds one value.")


class OwnerRequired(SurfaceRefused):
    code = "owner_required"

    def __init__(self) -> None:
        super().__init__("Only the owner of the data folder may do this, by the token that lies in it.")


class AccessRefused(SurfaceRefused):
    """Not for this caller. `challenge` is what WWW-Authenticate says of it (RFC 6750, 3)."""

    challenge = "Bearer"


class CredentialsMissing(AccessRefused):
    code = "credentials_missing"

    def __init__(self) -> None:
        super().__init__("Say who asks: send `Authorization: Bearer` with an API key or an access token.")


class CredentialsInvalid(AccessRefused):
    """Unknown, expired and revoked are not told apart."""

    code = "credentials_invalid"
    challenge = 'Bearer error="invalid_token"'

    def __init__(self) -> None:
        super().__init__("These credentials are not valid, or not any more. Ask the operator for others.")


class ScopeMissing(AccessRefused):
    code = "scope_missing"

    def __init__(self, scope: Scope) -> None:
        super().__init__(f"This needs the scope `{scope}`, which the caller does not have.")
        self.scope = scope
        self.challenge = f'Bearer error="insufficient_scope", scope="{scope}"'


class RateExceeded(SurfaceRefused):
    """`retry_after`: seconds until another request may be tried."""

    code = "rate_exceeded"

    def __init__(self, a_minute: int, retry_after: int) -> None:
        super().__init__(f"More than {a_minute} requests within a minute. Try again in {retry_after} s.")
        self.retry_after = retry_after


class TooManyAtOnce(SurfaceRefused):
    code = "too_many_at_once"
    retry_after = 1

    def __init__(self, most: int) -> None:
        super().__init__(f"{most} requests of this caller are being worked on. Wait for one of them.")


class Overloaded(errors.Unavailable):
    """The service has as much to do as it can; nothing was begun for this request."""

    code = "overloaded"

    def __init__(self, most: int) -> None:
        super().__init__(f"The service is working on {most} requests and begins no more. Try again soon.")


class TooManyConnections(errors.Unavailable):
    code = "overloaded"

    def __init__(self, most: int) -> None:
        super().__init__(f"More than {most} connections are open. Close some, or try again soon.")


class HostForbidden(SurfaceRefused):
    """Asked for by a name that is not this server's: a page of another site may have had it point here."""

    code = "host_forbidden"

    def __init__(self) -> None:
        super().__init__("This server is not known by that name (Host). The setting allowed_hosts names those it has.")


class OriginForbidden(SurfaceRefused):
    """A page of another site asks through its reader's browser."""

    code = "origin_forbidden"

    def __init__(self) -> None:
        super().__init__("No web page of this origin may ask here. The setting allowed_origins names those that may.")


class RequestInvalid(SurfaceRefused):
    """Of another shape than the schema's. `advice` says where that stands."""

    code = "request_invalid"

    def __init__(self, error: ValidationError, advice: str) -> None:
        found = error.errors(include_url=False, include_context=False, include_input=False)[:_FIELDS_SHOWN]
        shown = "; ".join(f"{_path(one['loc'])}: {one['msg']}" for one in found)
        super().__init__(f"The request has the wrong shape. {shown}. {advice}")


class RequestLate(errors.Unavailable):
    """The answer was not ready in time; its work was stopped."""

    code = "request_late"

    def __init__(self, milliseconds: int) -> None:
        super().__init__(f"No answer within {milliseconds} ms. Ask for less, or try again.")


@dataclass(frozen=True, slots=True)
class _Row:
    status: int
    title: str


_TABLE: Mapping[type[Exception], _Row] = {
    BodyTooLarge: _Row(413, "The body is too large"),
    BodyLate: _Row(408, "The body came too slowly"),
    MediaTypeRefused: _Row(415, "The body is of another type"),
    CredentialsMissing: _Row(401, "Nobody known asks"),
    CredentialsInvalid: _Row(401, "The credentials are not valid"),
    ScopeMissing: _Row(403, "A scope is missing"),
    VersionRequired: _Row(428, "The version is missing"),
    OwnerRequired: _Row(403, "Not the owner"),
    RateExceeded: _Row(429, "Too many requests"),
    TooManyAtOnce: _Row(429, "Too many requests at once"),
    HostForbidden: _Row(421, "Not this server's name"),
    OriginForbidden: _Row(403, "The origin is not allowed"),
    RequestInvalid: _Row(422, "The request has the wrong shape"),
    errors.QueryEmpty: _Row(400, "The query is empty"),
    errors.QueryTooLong: _Row(400, "The query is too long"),
    errors.QueryMalformed: _Row(400, "The query is no text"),
    errors.LimitOutOfRange: _Row(400, "The limit is out of range"),
    errors.FilterUnknown: _Row(400, "No such filter"),
    errors.FilterValueUnknown: _Row(400, "No such filter value"),
    ParameterRepeated: _Row(400, "A parameter stands twice"),
    errors.FacetUnknown: _Row(400, "No such facet"),
    errors.SignalUnknown: _Row(400, "No such signal"),
    errors.LevelUnknown: _Row(400, "No such level"),
    errors.CursorForeign: _Row(400, "The cursor belongs elsewhere"),
    errors.CursorStale: _Row(410, "The cursor's snapshot is gone"),
    errors.NodeUnknown: _Row(404, "No such node"),
    errors.RunUnknown: _Row(404, "No such run"),
    errors.JudgmentsFull: _Row(409, "No room for judgments"),
    errors.TuningInvalid: _Row(400, "The tuning is not valid"),
    errors.TuningUnknown: _Row(404, "No such version"),
    errors.TuningChanged: _Row(412, "The tuning has changed"),
    errors.SectionUnknown: _Row(404, "No such section"),
    errors.EstateUnreadable: _Row(400, "No estate there"),
    errors.SubmissionInvalid: _Row(400, "The records are not what was named"),
    errors.RecordsMissing: _Row(409, "Records are missing"),
    errors.SettingInvalid: _Row(400, "The setting is invalid"),
    errors.Refused: _Row(400, "The request was refused"),
    Violation: _Row(422, "The guard refused the query"),
    RequestLate: _Row(504, "The answer was late"),
    errors.EngineLate: _Row(504, "An engine was late"),
    errors.Unavailable: _Row(503, "The service can't answer now"),
    errors.PublishInProgress: _Row(409, "Another publish is at work"),
    errors.PublishFailed: _Row(422, "Nothing was published"),
    Exception: _Row(500, "The service failed"),
}
"""A type not named here is answered as its nearest base that is."""


_WHAT_TO_DO = {
    HTTPStatus.NOT_FOUND: "There is no such path. /openapi.json lists the paths.",
    HTTPStatus.METHOD_NOT_ALLOWED: "The path does not take this method. /openapi.json lists the methods.",
}


class ProblemResponses:
    """Errors → responses, for one application.

    retry_after: seconds, sent with what may pass by itself. seen: told of every problem that leaves. page: shows one to
    a person, in HTML; None: everybody gets JSON.
    """

    def __init__(
        self,
        *,
        retry_after: int,
        seen: Callable[[Problem], None] = lambda _problem: None,
        page: Callable[[Problem], bytes] | None = None,
    ) -> None:
        self.retry_after = retry_after
        self.seen = seen
        self.page = page

    def of(self, error: Exception, scope: StarletteScope | None = None) -> Response:
        """scope: of the request, where it is known: a person who went to a page is shown one."""
        problem = problem_of(error)
        self.seen(problem)
        headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
        if isinstance(error, AccessRefused):
            headers["WWW-Authenticate"] = error.challenge
        if isinstance(error, RateExceeded | TooManyAtOnce):
            headers["Retry-After"] = str(error.retry_after)
        if problem.status in (503, 504):
            headers["Retry-After"] = str(self.retry_after)
        if self.page and scope is not None and _is_visit(scope):
            return Response(self.page(problem), problem.status, headers, "text/html")
        return Response(encode(problem, leave_out_none=True), problem.status, headers, MEDIA_TYPE)

    def install(self, app: FastAPI) -> None:
        """Answer every foreseen error of the application by the table; the rest is `HttpLimits`' to catch."""

        async def handle(request: Request, error: Exception) -> Response:
            if isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
                allowed = {"Allow": ", ".join(_methods(request))}
                if request.method == HTTPMethod.OPTIONS:
                    return Response(status_code=HTTPStatus.NO_CONTENT, headers=allowed)
                error.headers = allowed
            return self.of(error, request.scope)

        for family in (
            errors.Refused,
            errors.Unavailable,
            errors.PublishFailed,
            Violation,
            RequestValidationError,
            HTTPException,
        ):
            app.add_exception_handler(family, handle)


def problem_of(error: Exception) -> Problem:
    """The problem of any error."""
    if isinstance(error, RequestValidationError):
        return _of_validation(error)
    if isinstance(error, HTTPException):
        return _of_http(error)
    row = next(_TABLE[base] for base in type(error).__mro__ if base in _TABLE)
    match error:
        case Violation():
            return _problem(row, error.code, error.message, **_place(error))
        case errors.EngineUnavailable():
            return _problem(row, error.code, error.message, engine=error.engine, reason=error.reason)
        case errors.Refused():
            return _problem(row, error.code, error.message, suggestion=error.suggestion)
        case errors.PublishFailed():
            findings = [DiagnosticResult.of(found) for found in error.diagnostics]
            return _problem(row, error.code, error.message, diagnostics=findings or None)
        case errors.Unavailable():
            return _problem(row, error.code, error.message)
        case _:
            return _unforeseen(row, error)


_PROGRAMS = ("/v1/", "/content", "/graphql", "/mcp", "/openapi.json", "/catalog", "/xrefmap.yml", "/llms")
"""Where what is answered is for programs, whoever looks at it."""


def _is_visit(scope: StarletteScope) -> bool:
    """Whether a browser shows the answer as a page: it went there, it did not fetch."""
    headers = Headers(scope=scope)
    is_navigation = headers.get("sec-fetch-mode") == "navigate" and "text/html" in headers.get("accept", "")
    return is_navigation and not str(scope["path"]).startswith(_PROGRAMS)


def _methods(request: Request) -> list[str]:
    """What the path takes, over all its routes: the router itself names the first one's alone."""
    routes = request.app.routes
    taken = {
        method.value
        for method in HTTPMethod
        if any(route.matches({**request.scope, "method": method.value})[0] is Match.FULL for route in routes)
    }
    if HTTPMethod.GET in taken:
        taken.add(HTTPMethod.HEAD.value)
    return sorted({*taken, HTTPMethod.OPTIONS.value})


def _problem(row: _Row, code: str, detail: str, **more: Any) -> Problem:
    return Problem(
        type=f"urn:cogitave-query:problem:{code}",
        title=row.title,
        status=row.status,
        detail=detail if len(detail) <= _DETAIL_CHARACTERS else f"{detail[:_DETAIL_CHARACTERS]}…",
        code=code,
        **more,
    )


def _place(violation: Violation) -> dict[str, Any]:
    return {
        "line": violation.line or None,
        "column": violation.column or None,
        "excerpt": violation.excerpt or None,
        "suggestion": violation.suggestion,
    }


def _of_http(error: HTTPException) -> Problem:
    """What the router and the readers of protocols raise: no such path, method, or media type."""
    status = HTTPStatus(error.status_code)
    detail = _WHAT_TO_DO.get(status, str(error.detail))
    return _problem(_Row(status.value, status.phrase), status.name.lower(), detail)


def _of_validation(error: RequestValidationError) -> Problem:
    found = [FieldProblem(field=_path(one["loc"]), message=one["msg"]) for one in error.errors()]
    shown = "; ".join(f"{one.field}: {one.message}" for one in found[:_FIELDS_SHOWN])
    detail = f"The request has the wrong shape. {shown}. /openapi.json describes the right one."
    return _problem(
        _Row(422, "The request has the wrong shape"), "request_invalid", detail, fields=found[:_FIELDS_SHOWN]
    )


def _path(location: Iterable[str | int]) -> str:
    """`("body", "filter", "kind", 0)` → `body.filter.kind.0`; a name that the caller made up is cut."""
    return ".".join(str(step)[:_NAME_CHARACTERS] for step in location)


def _unforeseen(row: _Row, error: Exception) -> Problem:
    """A bug: the trace goes to the log, and the caller gets the name of the entry."""
    instance = f"urn:uuid:{uuid.uuid4()}"
    trace = "".join(traceback.format_exception(error))  # as text: a renderer of exc_info may print locals, secrets too
    structlog.get_logger(__name__).error("request failed", instance=instance, trace=trace)
    return _problem(row, "internal", "This is a fault of the service, and was logged.", instance=instance)
