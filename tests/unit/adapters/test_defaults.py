"""An adapter opened without settings behaves as one that the default settings open."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from adapters.embedded.graph_reader import EmbeddedGraphReader
from adapters.embedded.graph_store import EmbeddedGraphStore
from adapters.embedded.lexical import TantivyIndex
from adapters.embedded.ranker import ScipyRanker
from adapters.embedded.vectors import QdrantEdgeIndex
from adapters.neo4j import connection as neo4j
from adapters.neo4j.ranker import GdsRanker
from adapters.neo4j.store import Neo4jGraphStore
from adapters.opensearch import connection as opensearch
from adapters.opensearch.lexical import OpenSearchIndex
from adapters.qdrant import connection as qdrant
from adapters.qdrant.migrator import QdrantMigrator
from adapters.qdrant.vectors import QdrantIndex
from service.settings import Settings

BOOSTS = {"title_boost": "title_boost", "heading_boost": "heading_boost"}
THREADS = {"workers": "embedded_threads", "waiting": "embedded_waiting"}
RANK = {"damping": "page_rank_damping", "iterations": "page_rank_iterations", "kept": "page_rank_classes"}
PREFIX = {"prefix": "engine_prefix"}
POOL = {"connections": "engine_connections"}

OPENED: list[tuple[Callable[..., Any], dict[str, str]]] = [
    (
        TantivyIndex.open,
        {
            **BOOSTS,
            **THREADS,
            "memory": "text_index_memory",
            "kept_keys": "passage_names",
            "kept_passages": "passage_cache",
        },
    ),
    (
        QdrantEdgeIndex.open,
        {
            **THREADS,
            "exact_until": "vector_exact_passages",
            "index_seconds": "vector_graph_deadline",
            "reserve": "vector_disk_reserve",
            "kept_keys": "passage_names",
        },
    ),
    (EmbeddedGraphStore.open, {"waiting": "embedded_waiting"}),
    (EmbeddedGraphReader, THREADS),
    (ScipyRanker, {**RANK, "waiting": "embedded_waiting"}),
    (GdsRanker, RANK),
    (Neo4jGraphStore, {"rows_in_transaction": "publish_transaction"}),
    (OpenSearchIndex, {**BOOSTS, **PREFIX}),
    (QdrantIndex, PREFIX),
    (QdrantMigrator, PREFIX),
    (neo4j.open_driver, POOL),
    (opensearch.open_client, POOL),
    (qdrant.open_client, POOL),
]


@pytest.mark.parametrize(("opened", "settings"), OPENED, ids=[opened.__qualname__ for opened, _ in OPENED])
def test_a_default_is_the_setting_s(opened: Callable[..., Any], settings: dict[str, str]) -> None:
    parameters, table = inspect.signature(opened).parameters, Settings()
    for name, setting in settings.items():
        assert parameters[name].default == getattr(table, setting), f"{name} is {setting}"
