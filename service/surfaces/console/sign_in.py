"""Signing in to the console with an API key: the key is sent once, and a cookie that no script can read stands for it.

The cookie is SameSite=Strict, so no other site's page can use it, and posts from such pages are refused besides
(`http_origins`). It names a key and a time; what it allows is the key's, and ends with it.
"""

from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.responses import RedirectResponse, Response

from service.domain.principal import Principal
from service.settings import Settings
from service.surfaces.audit import Audit
from service.surfaces.authentication import Authenticator
from service.surfaces.authentication.keys import utc_now
from service.surfaces.authentication.middleware import SIGN_IN
from service.surfaces.authentication.sessions import COOKIE, Sessions
from service.surfaces.console import rendered
from service.surfaces.dependencies import Caller
from service.surfaces.problems import CredentialsInvalid, problem_of

pages = APIRouter(include_in_schema=False)


@pages.get(SIGN_IN)
async def sign_in_page(caller: Caller, goal: Annotated[str, Query(alias="next")] = "/") -> Response:
    return rendered("sign_in.html", _content(caller, goal))


@pages.post(SIGN_IN)
async def sign_in(request: Request, caller: Caller) -> Response:
    """Takes `key` and `next` of a form; an answer that sets the cookie and leads on, or the form again, with why."""
    authenticator: Authenticator = request.app.state.authenticator
    form = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=8)
    goal = form.get("next", ["/"])[0]
    if authenticator.keys is None or authenticator.sessions is None:
        raise HTTPException(404)
    try:
        key = await authenticator.keys.key_of(form.get("key", [""])[0].strip())
    except CredentialsInvalid as error:
        problem = problem_of(error)
        request.app.state.problems.seen(problem)
        return rendered("sign_in.html", _content(caller, goal) | {"problem": problem}, problem.status)
    audit: Audit = request.app.state.audit
    audit.write("signed in", "done", key=key.id)
    answer = RedirectResponse(local(goal), 303)
    _set_cookie(answer, authenticator.sessions, authenticator.sessions.begin(key, utc_now()), request)
    return answer


@pages.post("/sign-out")
async def sign_out(request: Request) -> Response:
    """Ends it in this browser; revoking the key ends all that were begun with it."""
    answer = RedirectResponse(SIGN_IN, 303)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=_is_public(request))
    return answer


def local(goal: str) -> str:
    """Where to go on to, on this server: an address of elsewhere is none."""
    parts = urlsplit(goal)
    is_path = goal.startswith("/") and not goal.startswith(("//", "/\\")) and goal.isprintable()
    return goal if is_path and not parts.netloc and not parts.scheme else "/"


def _content(caller: Principal, goal: str) -> dict[str, Any]:
    return {"caller": caller, "next": local(goal), "problem": None}


def _set_cookie(answer: Response, sessions: Sessions, value: str, request: Request) -> None:
    answer.set_cookie(
        COOKIE,
        value,
        max_age=sessions.seconds,
        path="/",
        httponly=True,
        samesite="strict",
        secure=_is_public(request),
    )


def _is_public(request: Request) -> bool:
    """Whether callers come over TLS: on a loopback address there is none, and a browser would keep no secure cookie."""
    settings: Settings = request.app.state.settings
    return settings.public_url.startswith("https://")
