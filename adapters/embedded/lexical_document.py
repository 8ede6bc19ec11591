"""A passage as a tantivy document: its terms, its filter fields, and itself."""

from typing import cast

import tantivy

from adapters.indexing.analysis import document_terms, is_english
from adapters.indexing.stored_passage import (
    FILTER_FIELDS,
    engine_text,
    filter_values,
    number_of,
    passage_from_json,
    passage_to_json,
    record_term,
)
from service.domain.content import Passage


def passage_schema() -> tantivy.Schema:
    """`title`, `heading` and `text` hold terms that are analysed already, parted by blanks."""
    builder = tantivy.SchemaBuilder()
    for field in ("title", "heading", "text"):
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="freq")
    for field in ("key", "record", "visibleTo", *FILTER_FIELDS):
        builder.add_text_field(field, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("generation", indexed=True, fast=True)
    builder.add_unsigned_field("number", fast=True)
    builder.add_unsigned_field("record_number", fast=True)
    builder.add_bytes_field("stored", stored=True)
    return builder.build()


def passage_document(passage: Passage, generation: int) -> tantivy.Document:
    node = passage.node
    english = is_english(node.identity.locale)
    document = tantivy.Document()
    for field, text in (("title", node.title), ("heading", passage.heading), ("text", passage.text)):
        document.add_text(field, " ".join(document_terms(text, english=english)))
    document.add_text("key", engine_text(str(passage.key)))
    document.add_text("record", record_term(node.identity, passage.content_hash))
    for audience in node.visible_to:
        document.add_text("visibleTo", engine_text(audience))
    for name, values in filter_values(node).items():
        for value in values:
            document.add_text(name, value)
    document.add_unsigned("generation", generation)
    document.add_unsigned("number", number_of(str(passage.key)))
    document.add_unsigned("record_number", number_of(record_term(node.identity, passage.content_hash)))
    document.add_bytes("stored", passage_to_json(passage).encode())
    return document


def column(searcher: tantivy.Searcher, field: str, addresses: list[tantivy.DocAddress]) -> list[int]:
    """A column's values, without reading the documents."""
    return cast(list[int], searcher.fast_field_values(field, addresses))


def stored_passage(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> Passage:
    return passage_from_json(cast(bytes, searcher.doc(address).get_first("stored")))
