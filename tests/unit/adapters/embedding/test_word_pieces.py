from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.embedding.word_pieces import WordPieces
from service.ports import Span


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    return WordPieces.load()


def test_spans_are_characters_of_the_original_text(pieces: WordPieces):
    text = "Hello,  Wörld"
    assert [text[span.start : span.end] for span in pieces.spans(text)] == ["Hello", ",", "Wörld"]


def test_a_word_unknown_to_the_model_falls_into_pieces_that_join_up(pieces: WordPieces):
    text = "tokenizers"
    spans = pieces.spans(text)
    assert len(spans) > 1
    assert "".join(text[span.start : span.end] for span in spans) == text


def test_spans_count_characters_and_not_bytes_or_utf16_units(pieces: WordPieces):
    text = "🧭🧭 compass"
    assert pieces.spans(text)[-1] == Span(3, 10)


def test_no_text_has_no_tokens_but_the_special_ones(pieces: WordPieces):
    assert pieces.spans("") == []
    assert pieces.spans(" \n\t") == []
    assert pieces.model_input("") == [101, 102]  # [CLS] [SEP] of BERT's vocabulary


def test_the_model_reads_256_tokens_and_no_padding(pieces: WordPieces):
    assert len(pieces.model_input("word")) == 3
    assert len(pieces.model_input("word " * 254)) == 256
    assert len(pieces.model_input("word " * 255)) == 256
    assert len(pieces.spans("word " * 1000)) == 1000


def test_a_lone_surrogate_is_one_character_like_any_other(pieces: WordPieces):
    text = "before \ud800 after"
    assert text[pieces.spans(text)[-1].start :] == "after"
    assert pieces.model_input(text)[0] == 101


@given(st.text(st.characters(exclude_categories=())))
def test_spans_lie_within_the_text_in_order(text: str):
    spans = _PIECES.spans(text)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(one.start <= other.start for one, other in pairwise(spans))


_PIECES = WordPieces.load()
