"""Where somebody may begin who knows no uid: courses and modules, or names like what was typed."""

from collections.abc import Sequence

from service.domain.errors import Refused, Unavailable
from service.domain.principal import Principal
from service.domain.requests import ListRequest, SuggestRequest
from service.domain.results import NodeSummary, Suggestion
from service.tools import catalogue
from service.tools.toolbox import Toolbox

SHOWN = 12

_KINDS = (["learningPath", "module"], ["page"])
"""Those of the first that the estate has."""


async def starting_points(toolbox: Toolbox, caller: Principal) -> Sequence[NodeSummary]:
    """Some nodes worth looking around from. A convenience: that it can't be had is no news."""
    try:
        for kinds in _KINDS:
            request = ListRequest(limit=SHOWN, filter={"kind": kinds})
            if nodes := (await toolbox.call(catalogue.LIST, request, caller)).nodes:
                return nodes
    except (Refused, Unavailable):
        pass
    return ()


async def alike(text: str, toolbox: Toolbox, caller: Principal) -> Sequence[Suggestion]:
    """Nodes whose title or uid is like the text. A convenience, as above."""
    try:
        return (await toolbox.call(catalogue.SUGGEST, SuggestRequest(text=text), caller)).suggestions
    except (Refused, Unavailable):
        return ()
