"""Nodes by their titles and aliases: a small index in memory beside a snapshot's graph."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import tantivy
from tantivy import Occur, Query

from adapters.indexing.analysis import document_terms, is_english, query_terms
from service.domain.graph import NodeIdentity

# tantivy takes no less than 15 MB a writing thread.
_WRITER_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class TitledNode:
    """What the index knows of a node."""

    key: str
    title: str
    aliases: tuple[str, ...]
    visible_to: tuple[str, ...]


class TitleIndex:
    """BM25 over titles and aliases, and aliases by heart. Immutable; any number of threads may ask at once.

    The nodes come in the order of their keys.
    """

    def __init__(self, nodes: Iterable[TitledNode]) -> None:
        self._nodes: list[TitledNode] = []
        self._by_alias: dict[str, list[TitledNode]] = {}
        self._schema = _schema()
        index = tantivy.Index(self._schema)
        writer = index.writer(_WRITER_BYTES, 1)
        for place, node in enumerate(nodes):
            self._nodes.append(node)
            for alias in node.aliases:
                self._by_alias.setdefault(alias, []).append(node)
            writer.add_document(_document(place, node))
        writer.commit()
        index.reload()
        self._searcher = index.searcher()

    def by_title(self, text: str, audiences: Sequence[str], limit: int) -> list[tuple[str, float]]:
        """The visible nodes that share a term with the text, best first: (key, score)."""
        forms = [form for term in query_terms(text) for form in term.forms]
        if not forms or limit < 1:
            return []
        terms = Query.boolean_query(
            [(Occur.Should, Query.term_query(self._schema, "terms", form, "freq")) for form in forms]
        )
        visible = Query.const_score_query(Query.term_set_query(self._schema, "visibleTo", list(audiences)), 0.0)
        hits = self._searcher.search(
            Query.boolean_query([(Occur.Must, terms), (Occur.Must, visible)]), limit, count=False
        ).hits
        places = cast(list[int], self._searcher.fast_field_values("place", [address for _, address in hits]))
        found = [(self._nodes[place].key, score) for (score, _), place in zip(hits, places, strict=True)]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))

    def by_alias(self, alias: str, audiences: Sequence[str]) -> list[str]:
        """The keys of the visible nodes that carry the alias."""
        visible = frozenset(audiences)
        return [node.key for node in self._by_alias.get(alias, ()) if not visible.isdisjoint(node.visible_to)]


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("visibleTo", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("place", fast=True)
    return builder.build()


def _document(place: int, node: TitledNode) -> tantivy.Document:
    english = is_english(NodeIdentity.from_key(node.key).locale)
    document = tantivy.Document()
    document.add_text(
        "terms",
        " ".join(term for text in (node.title, *node.aliases) for term in document_terms(text, english=english)),
    )
    for audience in node.visible_to:
        document.add_text("visibleTo", audience)
    document.add_unsigned("place", place)
    return document
