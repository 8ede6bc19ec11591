"""Brings an OpenSearch to the templates and indexes that this version needs."""

import contextlib
import json
from datetime import UTC, datetime
from typing import Any

from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import ConflictError, NotFoundError, RequestError

from adapters.opensearch.connection import ENGINE, engine_errors
from migrations import Migration, load_migrations, pending

_MOST_MIGRATIONS = 1_000


class OpenSearchMigrator:
    """Puts are idempotent, an index that is there stays, and a record is created once: two may start at once.

    prefix: begins the name of every index, template and alias, so that several installations share a cluster.
    """

    def __init__(self, client: AsyncOpenSearch, *, prefix: str = "cogitave", seconds: float = 60.0) -> None:
        self._client = client
        self._prefix = prefix
        self._seconds = seconds

    @property
    def engine(self) -> str:
        return ENGINE

    async def plan(self) -> tuple[Migration, ...]:
        """What `apply` would do. Raises MigrationConflict."""
        async with engine_errors(self._seconds):
            try:
                found = await self._client.search(
                    index=self._record_index, body={"size": _MOST_MIGRATIONS, "query": {"match_all": {}}}
                )
            except NotFoundError:
                found = {"hits": {"hits": []}}
        applied = {int(hit["_id"]): hit["_source"]["checksum"] for hit in found["hits"]["hits"]}
        return pending(load_migrations(ENGINE), applied)

    async def apply(self) -> tuple[Migration, ...]:
        """Do what is pending, in order. Raises MigrationConflict."""
        todo = await self.plan()
        async with engine_errors(self._seconds):
            if todo:
                await self._put(f"/{self._record_index}", {"mappings": {"dynamic": True}})
            for migration in todo:
                for request in json.loads(migration.text.replace("{prefix}", self._prefix)):
                    await self._put(request["put"], request["body"])
                await self._record(migration)
        return todo

    @property
    def _record_index(self) -> str:
        return f"{self._prefix}-migrations"

    async def _put(self, path: str, body: dict[str, Any]) -> None:
        try:
            await self._client.transport.perform_request("PUT", path, body=body)
        except RequestError as error:
            if error.error != "resource_already_exists_exception":
                raise

    async def _record(self, migration: Migration) -> None:
        record = {
            "name": migration.name,
            "checksum": migration.checksum,
            "applied_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        with contextlib.suppress(ConflictError):  # the other starter was quicker
            await self._client.create(
                index=self._record_index, id=str(migration.number), body=record, params={"refresh": "true"}
            )
