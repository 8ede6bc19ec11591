"""Nodes by the beginnings of their names: a small index in memory beside a snapshot's graph."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import tantivy
from tantivy import Occur, Query, TextAnalyzerBuilder, Tokenizer

from service.domain.names import LONGEST_WORD, edits_forgiven, name_words, typed_words

# tantivy takes no less than 15 MB a writing thread.
_WRITER_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class NamedNode:
    """What the index knows of a node."""

    key: str
    names: tuple[str, ...]
    aliases: tuple[str, ...]
    visible_to: tuple[str, ...]


class NameIndex:
    """Immutable; any number of threads may ask at once."""

    def __init__(self, nodes: Iterable[NamedNode]) -> None:
        self._keys: list[str] = []
        self._aliases: dict[str, tuple[str, ...]] = {}
        self._schema = _schema()
        index = tantivy.Index(self._schema)
        index.register_tokenizer("beginnings", _beginnings())
        writer = index.writer(_WRITER_BYTES, 1)
        for place, node in enumerate(nodes):
            self._keys.append(node.key)
            if node.aliases:
                self._aliases[node.key] = node.aliases
            writer.add_document(_document(place, node))
        writer.commit()
        index.reload()
        self._searcher = index.searcher()

    def by_name(self, text: str, audiences: Sequence[str], limit: int, *, typos: bool) -> list[tuple[str, float]]:
        """The visible nodes with a word for each of the text's, best first: (key, score)."""
        words = typed_words(text)
        if not words or limit < 1:
            return []
        visible = Query.const_score_query(Query.term_set_query(self._schema, "visibleTo", list(audiences)), 0.0)
        wanted = [(Occur.Must, self._begins(word, typos=typos)) for word in words]
        hits = self._searcher.search(Query.boolean_query([*wanted, (Occur.Must, visible)]), limit, count=False).hits
        places = cast(list[int], self._searcher.fast_field_values("place", [address for _, address in hits]))
        found = [(self._keys[place], score) for (score, _), place in zip(hits, places, strict=True)]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))

    def aliases(self, key: str) -> list[str]:
        """What else a node is called."""
        return list(self._aliases.get(key, ()))

    def _begins(self, word: str, *, typos: bool) -> Query:
        exact = Query.term_query(self._schema, "beginnings", word, "freq")
        if not typos or not (edits := edits_forgiven(word)):
            return exact
        near = Query.fuzzy_term_query(self._schema, "beginnings", word, distance=edits)
        return Query.boolean_query([(Occur.Should, exact), (Occur.Should, near)])


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("beginnings", tokenizer_name="beginnings", index_option="freq")
    builder.add_text_field("visibleTo", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("place", fast=True)
    return builder.build()


def _beginnings() -> tantivy.TextAnalyzer:
    """What `service.domain.names.beginnings` says, without a step into Python a letter."""
    return TextAnalyzerBuilder(Tokenizer.ngram(1, LONGEST_WORD, prefix_only=True)).build()


def _document(place: int, node: NamedNode) -> tantivy.Document:
    document = tantivy.Document()
    for word in name_words(node.names):
        document.add_text("beginnings", word)
    for audience in node.visible_to:
        document.add_text("visibleTo", audience)
    document.add_unsigned("place", place)
    return document
