"""KeyStore in Neo4j: every replica knows the same keys.

Their label is none that a guarded query may name, and they have no `visibleTo`, which every pattern of a guarded query
asks of every node: no query of a caller reaches them, whatever its visibility class.
"""

import asyncio
from datetime import datetime
from typing import Any

from neo4j import AsyncDriver, RoutingControl

from adapters.neo4j.connection import engine_errors
from service.domain.deadline import Deadline
from service.domain.keys import ApiKey, key_from_json, key_to_json

_ADD = "CREATE (k:ApiKey {id: $id, body: $body, createdAt: datetime()})"
_FIND = "MATCH (k:ApiKey {id: $id}) RETURN k.id, k.body, k.revokedAt, k.lastUsedAt"
_ALL = "MATCH (k:ApiKey) RETURN k.id, k.body, k.revokedAt, k.lastUsedAt ORDER BY k.createdAt, k.id"
_REVOKE = "MATCH (k:ApiKey {id: $id}) SET k.revokedAt = coalesce(k.revokedAt, $at) RETURN k.id"
_USED = "MATCH (k:ApiKey {id: $id}) SET k.lastUsedAt = $at"


class Neo4jKeyStore:
    """Fulfils KeyStore over a driver that the caller closes."""

    def __init__(self, driver: AsyncDriver, *, database: str = "neo4j") -> None:
        self._driver = driver
        self._database = database

    async def add(self, key: ApiKey, *, deadline: Deadline) -> None:
        await self._run(_ADD, deadline, RoutingControl.WRITE, id=key.id, body=key_to_json(key))

    async def find(self, id: str, *, deadline: Deadline) -> ApiKey | None:
        rows = await self._run(_FIND, deadline, RoutingControl.READ, id=id)
        return key_from_json(*rows[0]) if rows else None

    async def all(self, *, deadline: Deadline) -> list[ApiKey]:
        return [key_from_json(*row) for row in await self._run(_ALL, deadline, RoutingControl.READ)]

    async def revoke(self, id: str, at: datetime, *, deadline: Deadline) -> bool:
        return bool(await self._run(_REVOKE, deadline, RoutingControl.WRITE, id=id, at=at.isoformat()))

    async def used(self, id: str, at: datetime, *, deadline: Deadline) -> None:
        await self._run(_USED, deadline, RoutingControl.WRITE, id=id, at=at.isoformat())

    async def close(self) -> None:
        """The driver is its opener's."""

    async def _run(self, text: str, deadline: Deadline, routing: RoutingControl, **values: str) -> list[Any]:
        with engine_errors():
            async with asyncio.timeout(deadline.seconds_left):
                answer = await self._driver.execute_query(
                    text,
                    values,
                    routing_=routing,
                    database_=self._database,
                )
        return [record.values() for record in answer.records]
