"""The HTTP application: every surface that speaks HTTP over one toolbox, within the same limits."""

from fastapi import FastAPI
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from service.observation import Observer
from service.ports import AuditLog, Judgments
from service.settings import Settings
from service.surfaces import conditional, console, content, openapi, rest, submissions, tuning_routes
from service.surfaces.audit import Audit, AuditedToolbox
from service.surfaces.authentication import Authentication, Authenticator, AuthorizedToolbox, anonymous
from service.surfaces.authentication import metadata as access_metadata
from service.surfaces.caller_limits import CallerLimits, Shedding
from service.surfaces.console import compare, diagnostics, judge, learning, neighbourhood, runs, sign_in, status, tuning
from service.surfaces.graphql import http as graphql
from service.surfaces.head_requests import HeadRequests
from service.surfaces.http_headers import SecurityHeaders
from service.surfaces.http_limits import HttpLimits
from service.surfaces.http_origins import OwnOrigins
from service.surfaces.mcp import http as mcp
from service.surfaces.mcp.server import AgentSurface
from service.surfaces.metrics import Metrics
from service.surfaces.observed_requests import ObservedRequests
from service.surfaces.problems import Problem, ProblemResponses
from service.surfaces.rates import Rates
from service.surfaces.support import RecentLines
from service.tools.toolbox import Toolbox


def application(
    toolbox: Toolbox,
    settings: Settings,
    *,
    owner_token: str | None = None,
    metrics: Metrics | None = None,
    observer: Observer | None = None,
    authenticator: Authenticator | None = None,
    audit_log: AuditLog | None = None,
    recent: RecentLines | None = None,
    judgments: Judgments | None = None,
) -> FastAPI:
    """The application over a toolbox that the caller opened and will close.

    owner_token: who sends it may do what is the owner's; None: nobody may. authenticator: knows other callers besides,
    and the owner's token too. metrics: what the toolbox's work is counted by; observer: what requests are told to, the
    metrics among it; recent: the last log lines; judgments: where what people
    judge is kept; None: nobody is asked.
    """
    app = FastAPI(title=openapi.TITLE, version=openapi.version(), docs_url=None, redoc_url=None)
    metrics = metrics or Metrics()
    audit = Audit(audit_log)

    def seen(problem: Problem) -> None:
        metrics.problem(problem)
        audit.seen(problem)

    retry_after = max(1, settings.breaker_pause // 1000)
    problems = ProblemResponses(retry_after=retry_after, seen=seen, page=console.problem_page)
    is_required = settings.authentication == "required"
    authenticator = authenticator or Authenticator(anonymous(settings), is_required, owner_token)
    toolbox = AuthorizedToolbox(AuditedToolbox(toolbox, audit))
    app.state.toolbox = toolbox
    app.state.settings = settings
    app.state.is_draining = False
    app.state.metrics = metrics
    app.state.recent = recent
    app.state.judgments = judgments
    app.state.problems = problems
    app.state.audit = audit
    app.state.rates = Rates(settings)
    app.state.authenticator = authenticator
    problems.install(app)
    app.state.variant = conditional.variant_of(settings, app.version)
    app.include_router(rest.tools)
    app.include_router(content.publishers)
    app.include_router(rest.health)
    app.include_router(access_metadata.routes(settings))
    app.include_router(rest.operators)
    app.include_router(tuning_routes.routes)
    app.include_router(rest.owner)
    app.include_router(submissions.routes)
    app.include_router(console.pages)
    app.include_router(sign_in.pages)
    for operators_pages in (diagnostics, judge, runs, status, tuning):
        app.include_router(operators_pages.pages)
    for readers_pages in (compare, learning, neighbourhood):
        app.include_router(readers_pages.pages)
    app.include_router(graphql.routes(settings, problems.seen))
    app.mount("/static", console.STATIC)
    agents = AgentSurface(toolbox, settings, answered=metrics.answer, seen=problems.seen)
    app.router.routes[:0] = mcp.routes(
        agents, problems
    )  # first: agents should not wait while every other path is compared
    openapi.describe(app)
    app.add_middleware(HeadRequests)
    app.add_middleware(
        HttpLimits,
        problems=problems,
        body_bytes=settings.request_bytes,
        milliseconds=settings.request_deadline,
        untimed=rest.STREAMS | submissions.STREAMS | content.STREAMS | frozenset(mcp.PATHS),
        uploads=submissions.uploads(settings),
    )
    app.add_middleware(CallerLimits, settings=settings, rates=app.state.rates, problems=problems)
    app.add_middleware(Authentication, authenticator=authenticator, settings=settings, problems=problems)
    app.add_middleware(OwnOrigins, settings=settings, problems=problems)
    app.add_middleware(Shedding, settings=settings, problems=problems)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(ObservedRequests, observer=observer or metrics)
    if settings.trusted_proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=list(settings.trusted_proxies))
    return app
