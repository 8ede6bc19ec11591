"""Asks every HTTP request who it is from, before its body is read and before any route is looked for."""

from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from service.domain.errors import Refused, Unavailable
from service.settings import Settings
from service.surfaces.audit import asking
from service.surfaces.authentication.authenticator import Authenticator
from service.surfaces.authentication.metadata import challenge
from service.surfaces.problems import AccessRefused, CredentialsMissing, ProblemResponses

SIGN_IN = "/sign-in"
OPEN_PATHS = frozenset({"/livez", "/readyz", SIGN_IN})
OPEN_FOLDERS = ("/static/", "/.well-known/")
"""What anyone may ask for: probes, the way to sign in and its looks, and where to get a token."""

_PATH_CHARACTERS = 100


class Authentication:
    """Puts the principal into the request's state. A path that isn't open is closed to who may do nothing."""

    def __init__(
        self, app: ASGIApp, *, authenticator: Authenticator, settings: Settings, problems: ProblemResponses
    ) -> None:
        self.app = app
        self.settings = settings
        self.authenticator = authenticator
        self.problems = problems

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        with asking(scope["method"], scope["path"][:_PATH_CHARACTERS], address_of(scope)) as asked:
            try:
                principal = await self.authenticator.principal(headers)
                asked.principal = principal
                if not (principal.scopes or is_open(scope["path"])):
                    raise CredentialsMissing
            except (Refused, Unavailable) as error:
                await self._refusal(error, scope, headers)(scope, receive, send)
                return
            scope.setdefault("state", {})["principal"] = principal
            await self.app(scope, receive, send)

    def _refusal(self, error: Exception, scope: Scope, headers: Headers) -> Response:
        """A person with a browser is asked to sign in; a program is told what it lacks."""
        is_person = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
        if isinstance(error, AccessRefused) and is_person and self.authenticator.sessions is not None:
            return RedirectResponse(f"{SIGN_IN}?next={quote(_asked_for(scope))}", 303)
        answer = self.problems.of(error, scope)
        if answer.status_code == 401 and (where := challenge(self.settings, scope["path"])):
            told = answer.headers["WWW-Authenticate"]
            answer.headers["WWW-Authenticate"] = f"{told} {where}" if told == "Bearer" else f"{told}, {where}"
        return answer


def is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDERS)


def address_of(scope: Scope) -> str:
    """Where the connection comes from; a proxy's own address behind one."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def _asked_for(scope: Scope) -> str:
    query = scope["query_string"].decode("latin-1")
    return quote(scope["path"]) + (f"?{query}" if query else "")
