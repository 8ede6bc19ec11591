"""What the routes of every HTTP surface are handed: who asks, the tools, the instruments."""

from typing import Annotated

from fastapi import Depends, Request

from service.domain.principal import ANONYMOUS, Principal
from service.surfaces.metrics import Metrics
from service.tools.toolbox import Toolbox


async def principal(_request: Request) -> Principal:
    """Who asks. The one place where HTTP's credentials become a principal."""
    return ANONYMOUS


async def toolbox(request: Request) -> Toolbox:
    box: Toolbox = request.app.state.toolbox
    return box


async def instruments(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


Caller = Annotated[Principal, Depends(principal)]
Tools = Annotated[Toolbox, Depends(toolbox)]
Instruments = Annotated[Metrics, Depends(instruments)]
