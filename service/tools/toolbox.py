"""The tools as every surface knows them: request and principal in, result out.

Two things fulfil it: the process that owns the stores (`service.bootstrap`), and a client that goes through such a
process.
"""

from collections.abc import Callable
from typing import Protocol

from service.domain.principal import Principal
from service.domain.requests import (
    GraphQueryRequest,
    ListRequest,
    NodeRequest,
    PublishRequest,
    SearchRequest,
    WhyNotRequest,
)
from service.domain.results import (
    GraphQueryResult,
    ListResult,
    NodeResult,
    PublishResult,
    ReadinessResult,
    SearchResult,
    WhyNotResult,
)

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is (0: not known)."""


def silent(_stage: str, _done: int, _total: int) -> None:
    """The progress of somebody who does not look."""


class Toolbox(Protocol):
    """Raises `Refused`, `cypher_guard.Violation`, `Unavailable` or `PublishFailed`, and nothing else on purpose."""

    async def docs_search(self, request: SearchRequest, principal: Principal) -> SearchResult: ...

    async def why_not(self, request: WhyNotRequest, principal: Principal) -> WhyNotResult: ...

    async def list_nodes(self, request: ListRequest, principal: Principal) -> ListResult: ...

    async def docs_fetch(self, request: NodeRequest, principal: Principal) -> NodeResult: ...

    async def query_graph(self, request: GraphQueryRequest, principal: Principal) -> GraphQueryResult: ...

    async def publish(self, request: PublishRequest, progress: Progress = silent) -> PublishResult: ...

    async def readiness(self) -> ReadinessResult: ...

    async def close(self) -> None: ...
