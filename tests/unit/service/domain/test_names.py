from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.names import (
    LONGEST_WORD,
    beginnings,
    edits_forgiven,
    edits_to_begin,
    name_words,
    node_names,
    typed_words,
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Query the graph", ["query", "the", "graph"]),
        ("Microsoft.EntityFrameworkCore", ["microsoft", "entityframeworkcore", "frameworkcore", "core"]),
        ("IHttpClientFactory", ["ihttpclientfactory", "httpclientfactory", "clientfactory", "factory"]),
        ("HTTPClient", ["httpclient", "client"]),
        ("List`1.Add*", ["list", "1", "add"]),
        ("net-maui-8.0 8th", ["net", "maui", "8", "0", "8th"]),
        ("snake_case Vector3", ["snake", "case", "vector3", "3"]),
        ("Übergröße naïve", ["ubergrosse", "naive"]),
        ("日本語", ["日本語", "本語", "語"]),
        ("*** 🎉", []),
        ("a" * 50, ["a" * LONGEST_WORD]),
    ],
)
def test_a_name_is_found_by_its_words_and_the_pieces_of_its_compounds(name: str, words: list[str]) -> None:
    assert name_words([name]) == words


def test_typed_text_is_not_taken_apart_at_capitals() -> None:
    assert typed_words("DbContext of  DbContext") == ["dbcontext", "of"]
    assert typed_words(" '*~\" ") == []
    assert typed_words("a b " * 100) == ["a", "b"]


def test_redirected_paths_and_code_have_no_names() -> None:
    assert node_names("page", "u", "T", ["a"]) == ("T", "u", "a")
    assert node_names("retired", "u", "T", []) == node_names("codeSample", "u", "T", []) == ()


def test_beginnings() -> None:
    assert beginnings(["abc", "x"]) == ["a", "ab", "abc", "x"]


@pytest.mark.parametrize(
    ("typed", "word", "edits"),
    [
        ("graph", "graphs", 0),
        ("grpah", "graphs", 1),  # swapped
        ("gaph", "graphs", 1),  # missing
        ("graaph", "graphs", 1),  # too many
        ("greph", "graphs", 1),  # wrong
        ("frmaewrok", "frameworkcore", 2),
        ("relatoinsh", "relationships", 1),
        ("colour", "graphs", 3),
        ("x", "", 1),
    ],
)
def test_edits_to_begin_a_word(typed: str, word: str, edits: int) -> None:
    assert edits_to_begin(typed, word, 2) == edits


@pytest.mark.parametrize(("word", "forgiven"), [("abc", 0), ("abcd", 1), ("abcdefg", 1), ("abcdefgh", 2)])
def test_longer_words_are_forgiven_more(word: str, forgiven: int) -> None:
    assert edits_forgiven(word) == forgiven


LETTERS = st.text("abcd", max_size=8)


@given(LETTERS, LETTERS)
def test_edits_to_begin_are_the_least_to_any_beginning(typed: str, word: str) -> None:
    assert edits_to_begin(typed, word, 20) == min(alignment(typed, word[:length]) for length in range(len(word) + 1))


def alignment(one: str, other: str) -> int:
    """Optimal string alignment, as its recursion is written in any textbook."""
    table = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            table[i, j] = min(
                table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (one[i - 1] != other[j - 1])
            )
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(one), len(other)]


@given(st.text(max_size=40))
def test_every_text_that_is_a_name_is_found_by_itself(text: str) -> None:
    """Whatever is typed of a name, each of its words begins a word of the name."""
    held = name_words([text])
    for typed in typed_words(text):
        assert any(word.startswith(typed) for word in held)
    assert all(word == word.casefold() and not any(map(str.isspace, word)) for word in held)
    assert all(one != other for one, other in pairwise(held))
