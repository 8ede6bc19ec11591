"""The tools as every surface knows them: request and principal in, result out.

Two things fulfil it: the process that owns the stores (`service.bootstrap`), and a client that goes through such a
process.
"""

from typing import Protocol

from service.domain.principal import Principal
from service.domain.progress import Progress, silent
from service.domain.requests import PublishRequest
from service.domain.results import DiagnosticsResult, DoctorResult, PublishResult, ReadinessResult, RootsResult
from service.domain.submission import MissingRequest, MissingResult, Submission
from service.tools.catalogue import Asked, Given, Tool


class Toolbox(Protocol):
    """Raises `Refused`, `cypher_guard.Violation`, `Unavailable` or `PublishFailed`, and nothing else on purpose."""

    async def call(self, tool: Tool[Asked, Given], request: Asked, principal: Principal) -> Given:
        """Run one tool of the catalogue for whoever may."""

    async def publish(self, request: PublishRequest, progress: Progress = silent) -> PublishResult:
        """This and what follows are the owner's: no caller of a tool may do them."""

    async def missing(self, request: MissingRequest) -> MissingResult:
        """Which records a publisher elsewhere must send; this and `submit` are for callers with the scope publish."""

    async def submit(self, submission: Submission, progress: Progress = silent) -> PublishResult:
        """Publish what a client has read."""

    async def rollback(self, content_root: str, progress: Progress = silent) -> PublishResult: ...

    async def roots(self) -> RootsResult: ...

    async def diagnostics(self, principal: Principal) -> DiagnosticsResult:
        """What the last publish found in the sources, as far as this caller may see them."""

    async def doctor(self, repair: bool, progress: Progress = silent) -> DoctorResult: ...

    async def readiness(self) -> ReadinessResult: ...

    async def close(self) -> None: ...
