"""Brings a Qdrant to the collection that one embedding model needs."""

import json
import math
import uuid
from datetime import UTC, datetime

from pydantic import TypeAdapter
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from adapters.qdrant.connection import ENGINE, engine_errors
from adapters.qdrant.vectors import collection_name
from migrations import Migration, load_migrations, pending

_RECORDS = uuid.UUID("4b0a4c35-7f2e-5f0c-9d0e-2c9d9c3f1a77")
"""The name space of the records' ids."""

_CONFLICT = 409
_MOST_MIGRATIONS = 1_000
_SCHEMA: TypeAdapter[models.PayloadSchemaParams] = TypeAdapter(models.PayloadSchemaParams)


class QdrantMigrator:
    """A collection a model; what was applied to which is recorded in a collection without vectors.

    A collection that is there stays, an index is made once, a record has one id: two may start at once.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        *,
        model: str,
        dimensions: int,
        prefix: str = "cogitave",
        seconds: float = 60.0,
    ) -> None:
        self._client = client
        self._collection = collection_name(prefix, model, dimensions)
        self._record_collection = f"{prefix}-migrations"
        self._dimensions = dimensions
        self._seconds = seconds

    @property
    def engine(self) -> str:
        return ENGINE

    async def plan(self) -> tuple[Migration, ...]:
        """What `apply` would do. Raises MigrationConflict."""
        return pending(load_migrations(ENGINE), await self._applied())

    async def apply(self) -> tuple[Migration, ...]:
        """Do what is pending, in order. Raises MigrationConflict."""
        todo = await self.plan()
        if todo:
            await self._create(self._record_collection, {})
        for migration in todo:
            for step in json.loads(migration.text.replace('"{dimensions}"', str(self._dimensions))):
                if "collection" in step:
                    await self._create(self._collection, step["collection"])
                else:
                    await self._index(step["index"], step["schema"])
            await self._record(migration)
        return todo

    async def _applied(self) -> dict[int, str]:
        async with engine_errors(self._seconds):
            if not await self._client.collection_exists(self._record_collection):
                return {}
            records, _ = await self._client.scroll(
                self._record_collection,
                scroll_filter=models.Filter(
                    must=[models.FieldCondition(key="collection", match=models.MatchValue(value=self._collection))]
                ),
                limit=_MOST_MIGRATIONS,
            )
        payloads = [record.payload or {} for record in records]
        return {payload["number"]: payload["checksum"] for payload in payloads}

    async def _create(self, name: str, config: dict[str, object]) -> None:
        body = models.CreateCollection.model_validate(
            {"vectors": config.get("vectors_config", {}), "quantization_config": config.get("quantization_config")}
        )
        async with engine_errors(self._seconds):
            if await self._client.collection_exists(name):
                return
            try:
                await self._client.create_collection(
                    name, vectors_config=body.vectors, quantization_config=body.quantization_config
                )
            except UnexpectedResponse as error:
                if error.status_code != _CONFLICT:  # else the other starter was quicker
                    raise

    async def _index(self, field: str, schema: object) -> None:
        async with engine_errors(self._seconds):
            await self._client.create_payload_index(
                self._collection, field, _SCHEMA.validate_python(schema), wait=True, timeout=math.ceil(self._seconds)
            )

    async def _record(self, migration: Migration) -> None:
        payload = {
            "collection": self._collection,
            "number": migration.number,
            "name": migration.name,
            "checksum": migration.checksum,
            "applied_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        id = str(uuid.uuid5(_RECORDS, f"{self._collection}/{migration.number}"))
        async with engine_errors(self._seconds):
            await self._client.upsert(
                self._record_collection, [models.PointStruct(id=id, vector={}, payload=payload)], wait=True
            )
