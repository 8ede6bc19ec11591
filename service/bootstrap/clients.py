"""Clients of the engines that are reached by URL. They take longer to import than all else together, so each is
imported where a setting names its engine, and every other command starts without them."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from service.settings import Settings

if TYPE_CHECKING:
    from neo4j import AsyncDriver
    from opensearchpy import AsyncOpenSearch
    from qdrant_client import AsyncQdrantClient


def open_neo4j(settings: Settings, opened: AsyncExitStack) -> "AsyncDriver":
    from adapters.neo4j.connection import open_driver

    driver = open_driver(
        settings.neo4j_url,
        settings.neo4j_user,
        settings.neo4j_password.get_secret_value(),
        connections=settings.engine_connections,
    )
    opened.push_async_callback(driver.close)
    return driver


def open_opensearch(settings: Settings, opened: AsyncExitStack) -> "AsyncOpenSearch":
    from adapters.opensearch.connection import open_client

    client = open_client(
        settings.opensearch_url,
        settings.opensearch_user,
        settings.opensearch_password.get_secret_value(),
        connections=settings.engine_connections,
    )
    opened.push_async_callback(client.close)
    return client


def open_qdrant(settings: Settings, opened: AsyncExitStack) -> "AsyncQdrantClient":
    from adapters.qdrant.connection import open_client

    client = open_client(
        settings.qdrant_url, settings.qdrant_key.get_secret_value(), connections=settings.engine_connections
    )
    opened.push_async_callback(client.close)
    return client
