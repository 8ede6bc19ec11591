"""Nodes and edges as the graph stores them."""

from typing import Any

from adapters.indexing.analysis import document_terms, is_english
from adapters.indexing.stored_passage import engine_text
from adapters.neo4j.values import ALIAS_WORDS, NAME_AUDIENCES, NAME_BEGINNINGS, TITLE_TERMS, whole_word
from service.domain.graph import Edge, Node
from service.domain.names import beginnings, name_words, node_names

Row = dict[str, Any]


def node_row(node: Node, content_hash: str | None) -> Row:
    """The node's properties by the names of the graph's schema; what it lacks is left out, a list may be empty.

    What INDEX_ONLY names is for the full-text indexes: title and aliases analysed, how names
    begin, and aliases as they are.
    """
    english = is_english(node.identity.locale)
    named = (node.title, *node.aliases)
    names = node_names(node.kind.value, node.identity.uid, node.title, node.aliases)
    properties: Row = {
        **node.extra,
        "key": node.identity.key,
        "uid": node.identity.uid,
        "locale": node.identity.locale,
        "kind": node.kind.value,
        "title": node.title,
        "type": node.type,
        "url": node.url,
        "summary": node.summary,
        "path": node.path,
        "docset": node.docset,
        "workspace": node.workspace,
        "level": node.level,
        "language": node.language,
        "monikerRange": node.moniker_range,
        "lastModified": node.last_modified,
        "contentHash": content_hash,
        "products": node.products,
        "topics": node.topics,
        "roles": node.roles,
        "audience": node.audience,
        "region": node.region,
        "monikers": node.monikers,
        "aliases": node.aliases,
        "visibleTo": node.visible_to,
        TITLE_TERMS: " ".join(term for text in named for term in document_terms(text, english=english)),
        NAME_BEGINNINGS: " ".join(beginnings(name_words(names))),
        NAME_AUDIENCES: " ".join(map(whole_word, node.visible_to)),
        ALIAS_WORDS: " ".join(map(whole_word, node.aliases)),
    }
    return {name: _storable(value) for name, value in properties.items() if value is not None}


def edge_row(edge: Edge, publish_id: str) -> Row:
    """What finds the edge (source, target, via) and its properties."""
    properties: Row = {
        "weight": float(edge.weight),
        "via": engine_text(edge.via),
        "file": engine_text(edge.file),
        "line": edge.line,
        "publishId": publish_id,
    }
    if edge.ordinal is not None:
        properties["ordinal"] = edge.ordinal
    return {
        "source": engine_text(edge.source.key),
        "target": engine_text(edge.target.key),
        "via": engine_text(edge.via),
        "properties": properties,
    }


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return engine_text(value)
    return [engine_text(item) for item in value] if isinstance(value, tuple) else value
