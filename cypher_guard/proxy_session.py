"""One run of the proxy: connect, learn the schema, then write a profile or serve."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from neo4j.exceptions import DriverError, Neo4jError

from cypher_guard import Violation, Visibility
from cypher_guard.profile import Profile
from cypher_guard.proxy_database import DatabaseRefused, GuardedDatabase
from cypher_guard.proxy_inference import infer_schema
from cypher_guard.proxy_schema import LiveSchema
from cypher_guard.proxy_server import GuardedGraph, serve_stdio


class Unreachable(Exception):
    """The database can't be reached, or doesn't let us in."""


@dataclass(frozen=True, slots=True)
class Connection:
    uri: str
    user: str
    password: str = field(repr=False)
    database: str | None = None


async def serve(connection: Connection, profile: Profile | None, visibility: Visibility | None) -> None:
    """Serve over stdio until the client leaves, with `profile` or the one that the graph suggests."""
    async with _opened(connection) as database:
        schema = await _schema(database, visibility)
        profile = profile or schema.profile()
        await serve_stdio(GuardedGraph(database, profile, schema.within(profile), visibility))


async def suggest_profile(connection: Connection, visibility: Visibility | None) -> str:
    """The inferred profile as JSON for a file that a person then tightens."""
    async with _opened(connection) as database:
        schema = await _schema(database, visibility)
    return json.dumps(schema.profile().as_mapping(), indent=2, ensure_ascii=False) + "\n"


async def _schema(database: GuardedDatabase, visibility: Visibility | None) -> LiveSchema:
    try:
        schema = await infer_schema(database, visibility)
    except (DatabaseRefused, Violation) as error:
        raise Unreachable(f"the schema cannot be read: {error}") from None
    if schema.left_out:
        print(f"cypher-guard mcp: not in the profile: {', '.join(map(repr, schema.left_out))}", file=sys.stderr)
    return schema


@asynccontextmanager
async def _opened(connection: Connection) -> AsyncIterator[GuardedDatabase]:
    try:
        database = GuardedDatabase(connection.uri, connection.user, connection.password, database=connection.database)
    except (DriverError, ValueError) as error:
        raise Unreachable(str(error)) from None
    try:
        await database.__aenter__()
    except (DriverError, Neo4jError) as error:
        await database.__aexit__(None, None, None)
        raise Unreachable(f"{connection.uri} cannot be used: {type(error).__name__}") from None
    try:
        yield database
    finally:
        await database.__aexit__(None, None, None)
