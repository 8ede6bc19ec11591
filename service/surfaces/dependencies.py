"""What the routes of every HTTP surface are handed: who asks, the tools, the instruments.

A route that needs more than a tool's own scope says so in its decorator:

    @pages.get("/diagnostics", dependencies=[require(Scope.OPERATE)])
"""

from typing import Annotated, Any

from fastapi import Depends, Request

from service.domain.principal import Principal, Scope
from service.surfaces.metrics import Metrics
from service.surfaces.problems import OwnerRequired, ScopeMissing
from service.tools.toolbox import Toolbox


async def principal(request: Request) -> Principal:
    """Who asks, as `authentication.middleware` found out before any route was looked for."""
    caller: Principal = request.state.principal
    return caller


async def toolbox(request: Request) -> Toolbox:
    box: Toolbox = request.app.state.toolbox
    return box


async def instruments(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


Caller = Annotated[Principal, Depends(principal)]
Tools = Annotated[Toolbox, Depends(toolbox)]
Instruments = Annotated[Metrics, Depends(instruments)]


class Requirement:
    """Lets a caller pass who has one scope; raises ScopeMissing for others. The route may take the caller from it."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    async def __call__(self, caller: Caller) -> Principal:
        if self.scope not in caller.scopes:
            raise ScopeMissing(self.scope)
        return caller


def require(scope: Scope) -> Any:
    """A dependency of a route or a router: callers without `scope` are answered 401 or 403."""
    return Depends(Requirement(scope))


async def require_owner(caller: Caller) -> None:
    """Raises OwnerRequired for whoever can't read the data folder: paths of this machine are the owner's to name."""
    if not caller.is_owner:
        raise OwnerRequired
