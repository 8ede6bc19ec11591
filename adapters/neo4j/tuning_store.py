"""TuningStore in Neo4j: every replica ranks by the same tuning.

As with API keys, their labels are none that a guarded query may name, and they have no `visibleTo`.
"""

import asyncio
from typing import Any

from neo4j import AsyncDriver, RoutingControl

from adapters.neo4j.connection import engine_errors
from service.domain.deadline import Deadline
from service.domain.errors import TuningChanged
from service.domain.tuning import TuningResult, TuningVersion

_NEWEST = "OPTIONAL MATCH (h:TuningHead {workspace: $workspace}) RETURN coalesce(h.version, 0)"
_FIND = """
OPTIONAL MATCH (h:TuningHead {workspace: $workspace})
WITH coalesce($version, h.version, 0) AS version
OPTIONAL MATCH (t:Tuning {key: toString(version) + ':' + $workspace})
RETURN version, t.body
"""
_HISTORY = "MATCH (t:Tuning {workspace: $workspace}) RETURN t.about ORDER BY t.version DESC LIMIT $limit"
_WORKSPACES = """
MATCH (h:TuningHead) MATCH (t:Tuning {key: toString(h.version) + ':' + h.workspace}) RETURN t.about ORDER BY h.workspace
"""
# The head is written before it is read: whoever comes second waits for the lock, and reads what the first committed.
_APPEND = """
MERGE (h:TuningHead {workspace: $workspace})
SET h.asked = $version
WITH h, coalesce(h.version, 0) AS current
FOREACH (_ IN CASE WHEN current + 1 = $version THEN [1] ELSE [] END |
    CREATE (:Tuning {key: $key, workspace: $workspace, version: $version, about: $about, body: $body})
    SET h.version = $version
)
RETURN current
"""
_FORGET = "MATCH (t:Tuning {workspace: $workspace}) WHERE t.version <= $last DELETE t"


class Neo4jTuningStore:
    """Fulfils TuningStore over a driver that the caller closes."""

    def __init__(self, driver: AsyncDriver, *, database: str = "neo4j") -> None:
        self._driver = driver
        self._database = database

    async def newest(self, workspace: str, *, deadline: Deadline) -> int:
        ((version,),) = await self._run(_NEWEST, deadline, RoutingControl.READ, workspace=workspace)
        return int(version)

    async def find(self, workspace: str, version: int | None = None, *, deadline: Deadline) -> TuningResult | None:
        rows = await self._run(_FIND, deadline, RoutingControl.READ, workspace=workspace, version=version)
        number, body = rows[0]
        if number == 0:
            return TuningResult(workspace=workspace)
        return None if body is None else TuningResult.model_validate_json(body)

    async def history(self, workspace: str, *, limit: int, deadline: Deadline) -> list[TuningVersion]:
        rows = await self._run(_HISTORY, deadline, RoutingControl.READ, workspace=workspace, limit=limit)
        return [TuningVersion.model_validate_json(about) for (about,) in rows]

    async def workspaces(self, *, deadline: Deadline) -> list[TuningVersion]:
        rows = await self._run(_WORKSPACES, deadline, RoutingControl.READ)
        return [TuningVersion.model_validate_json(about) for (about,) in rows]

    async def append(self, tuning: TuningResult, *, kept: int, deadline: Deadline) -> None:
        written: dict[str, Any] = {
            "workspace": tuning.workspace,
            "version": tuning.version,
            "key": f"{tuning.version}:{tuning.workspace}",
            "about": tuning.about.model_dump_json(),
            "body": tuning.model_dump_json(),
        }
        ((current,),) = await self._run(_APPEND, deadline, RoutingControl.WRITE, **written)
        if tuning.version != current + 1:
            raise TuningChanged.to(current)
        last = tuning.version - kept
        if last > 0:
            await self._run(_FORGET, deadline, RoutingControl.WRITE, workspace=tuning.workspace, last=last)

    async def close(self) -> None:
        """The driver is its opener's."""

    async def _run(self, text: str, deadline: Deadline, routing: RoutingControl, **values: Any) -> list[Any]:
        with engine_errors():
            async with asyncio.timeout(deadline.seconds_left):
                answer = await self._driver.execute_query(
                    text,
                    values,
                    routing_=routing,
                    database_=self._database,
                )
        return [record.values() for record in answer.records]
