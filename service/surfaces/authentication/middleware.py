"""Asks every HTTP request who it is from, before its body is read and before any route is looked for."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from service.domain.errors import Refused, Unavailable
from service.surfaces.authentication.authenticator import Authenticator
from service.surfaces.problems import CredentialsMissing, ProblemResponses

OPEN_PATHS = frozenset({"/livez", "/readyz"})
OPEN_FOLDERS = ("/static/", "/.well-known/")
"""What anyone may ask for: probes, the sign-in page's looks, and where to get a token."""


class Authentication:
    """Puts the principal into the request's state. A path that isn't open is closed to who may do nothing."""

    def __init__(self, app: ASGIApp, *, authenticator: Authenticator, problems: ProblemResponses) -> None:
        self.app = app
        self.authenticator = authenticator
        self.problems = problems

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            principal = await self.authenticator.principal(Headers(scope=scope))
            if not (principal.scopes or is_open(scope["path"])):
                raise CredentialsMissing
        except (Refused, Unavailable) as error:
            await self.problems.of(error)(scope, receive, send)
            return
        scope.setdefault("state", {})["principal"] = principal
        await self.app(scope, receive, send)


def is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDERS)
