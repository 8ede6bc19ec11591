"""The composition root: the only place that chooses adapters."""

from service.bootstrap.engines import open_migrators
from service.bootstrap.profile import (
    EDGE_PROPERTIES,
    GRAPH_PROPERTIES,
    edge_weights,
    estate_readers,
    graph_profile,
    reading_rules,
)
from service.bootstrap.records import open_audit_log, open_judgments, open_keys
from service.bootstrap.stores import Owned, open_owned, open_stores, open_toolbox, owner
from service.bootstrap.traces import trace_headers
from service.bootstrap.upkeep import back_up, open_reembedding, restore

__all__ = [
    "EDGE_PROPERTIES",
    "GRAPH_PROPERTIES",
    "Owned",
    "back_up",
    "edge_weights",
    "estate_readers",
    "graph_profile",
    "open_audit_log",
    "open_judgments",
    "open_keys",
    "open_migrators",
    "open_owned",
    "open_reembedding",
    "open_stores",
    "open_toolbox",
    "owner",
    "reading_rules",
    "restore",
    "trace_headers",
]
