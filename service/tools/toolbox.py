"""The tools as every surface knows them: request and principal in, result out.

Two things fulfil it: the process that owns the stores (`service.bootstrap`), and a client that goes through such a
process.
"""

from typing import Protocol

from service.domain.principal import Principal
from service.domain.progress import Progress, silent
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
