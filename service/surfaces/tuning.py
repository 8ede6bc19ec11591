"""Editing a tuning from a form or a command: one change, made to whatever version is current."""

from service.domain.errors import TuningChanged
from service.domain.principal import Principal
from service.domain.tuning import Edit, ReplaceTuningRequest, TuningRequest, TuningResult, content_of
from service.tools import catalogue
from service.tools.toolbox import Toolbox

_ATTEMPTS = 8
"""How often a change is made anew because another editor was faster; each time, one of them is done."""


async def amend(toolbox: Toolbox, principal: Principal, workspace: str, edit: Edit, reason: str) -> TuningResult:
    """Make one change; nobody else's is lost by it. What changes nothing makes no version.

    Raises TuningInvalid, EngineUnavailable, and TuningChanged where others go on being faster.
    """
    attempt = 0
    while True:
        current = await toolbox.call(catalogue.TUNING, TuningRequest(workspace=workspace), principal)
        content = edit(content_of(current))
        if content == content_of(current):
            return current
        request = ReplaceTuningRequest(
            workspace=workspace,
            version=current.version,
            reason=reason,
            pins=content.pins,
            synonyms=content.synonyms,
        )
        try:
            return await toolbox.call(catalogue.REPLACE_TUNING, request, principal)
        except TuningChanged:
            attempt += 1
            if attempt == _ATTEMPTS:
                raise
