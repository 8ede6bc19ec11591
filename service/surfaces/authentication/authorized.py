"""A tool's own scope, checked where every surface calls it: a surface can't forget."""

from service.domain.principal import Principal
from service.domain.progress import Progress, silent
from service.domain.requests import PublishRequest
from service.domain.results import DiagnosticsResult, DoctorResult, PublishResult, ReadinessResult, RootsResult
from service.domain.submission import MissingRequest, MissingResult, Submission
from service.surfaces.problems import ScopeMissing
from service.tools.catalogue import Asked, Given, Tool
from service.tools.toolbox import Toolbox


class AuthorizedToolbox:
    """Fulfils Toolbox. What takes no principal is guarded by its route: `dependencies.require`."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    async def call(self, tool: Tool[Asked, Given], request: Asked, principal: Principal) -> Given:
        """Raises ScopeMissing for a caller who may not use this tool."""
        if tool.scope not in principal.scopes:
            raise ScopeMissing(tool.scope)
        return await self._toolbox.call(tool, request, principal)

    async def publish(self, request: PublishRequest, progress: Progress = silent) -> PublishResult:
        return await self._toolbox.publish(request, progress)

    async def missing(self, request: MissingRequest) -> MissingResult:
        return await self._toolbox.missing(request)

    async def submit(self, submission: Submission, progress: Progress = silent) -> PublishResult:
        return await self._toolbox.submit(submission, progress)

    async def rollback(self, content_root: str, progress: Progress = silent) -> PublishResult:
        return await self._toolbox.rollback(content_root, progress)

    async def diagnostics(self, principal: Principal) -> DiagnosticsResult:
        return await self._toolbox.diagnostics(principal)

    async def roots(self) -> RootsResult:
        return await self._toolbox.roots()

    async def doctor(self, repair: bool, progress: Progress = silent) -> DoctorResult:
        return await self._toolbox.doctor(repair, progress)

    async def readiness(self) -> ReadinessResult:
        return await self._toolbox.readiness()

    async def close(self) -> None:
        await self._toolbox.close()
