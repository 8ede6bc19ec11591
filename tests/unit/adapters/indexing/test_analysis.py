import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.indexing.analysis import QUESTION_WORDS, document_terms, is_english, query_terms, spans_of


def english(text: str) -> list[str]:
    return document_terms(text, english=True)


def plain(text: str) -> list[str]:
    return document_terms(text, english=False)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Swapping the deployment slots", ["swap", "deploy", "slot"]),
        ("True or false: an editor/IDE?", ["true", "fals", "editor", "ide"]),
        ("the and of", []),
        ("Don't, Azure's", ["dont", "azur"]),
        ("C# and C++ and F#", ["c#", "c++", "f#"]),
        ("dotnet build --no-restore", ["dotnet", "build", "--no-restore", "restor"]),
        ("0x80070005", ["0x80070005"]),
        ("net-maui-8.0.", ["net-maui-8.0", "net", "maui", "8.0"]),
        (".NET 8", [".net", "net", "8"]),
        ("System.Net.Http", ["system.net.http", "system", "net", "http"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("/b testing", ["b", "test"]),
        ('tb- "unbalanced node: *', ["tb", "unbalanc", "node"]),
        ("x--y z", ["x--y", "z"]),
        ("wait...what", ["wait", "what"]),
        ("Überprüfung café", ["uberprufung", "cafe"]),
        ("🎉 \ud800 a\x00bc", ["bc"]),
        ("x" * 129, []),
    ],
)
def test_english(text: str, terms: list[str]) -> None:
    assert english(text) == terms


def test_an_identifier_is_kept_whole_beside_its_parts() -> None:
    whole, *parts = english("IHttpClientFactory")
    assert whole == "ihttpclientfactori"
    assert parts == ["http", "client", "factori"]


def test_other_languages_are_folded_and_nothing_else() -> None:
    assert plain("Die Überprüfungen the Läufe") == ["die", "uberprufungen", "the", "laufe"]


def test_scripts_without_blanks_are_cut_into_pairs() -> None:
    assert plain("日本語 テ") == ["日本", "本語", "テ"]
    assert plain("net8の型") == ["の型", "net8"]


def test_a_query_holds_each_term_once_in_every_form() -> None:
    assert [term.forms for term in query_terms("Running the slots, running C#")] == [
        ("run", "running"),
        ("slot", "slots"),
        ("c#",),
    ]


def test_question_words_are_asked_for_only_where_nothing_else_is() -> None:
    assert [term.name for term in query_terms("How can I swap a slot, and why?")] == ["swap", "slot"]
    assert [term.name for term in query_terms("how and what")] == ["how", "what"]


@pytest.mark.parametrize(
    ("locale", "expected"),
    [("en-us", True), ("EN", True), ("und", True), ("de-de", False), ("eng", False), ("", False)],
)
def test_which_locales_are_stemmed(locale: str, expected: bool) -> None:
    assert is_english(locale) == expected


@given(st.text(max_size=300), st.booleans())
def test_a_term_is_one_word(text: str, in_english: bool) -> None:
    terms = document_terms(text, english=in_english)
    assert " ".join(terms).split() == terms


@given(st.text(max_size=300), st.booleans())
def test_a_document_is_found_by_each_of_its_words(text: str, in_english: bool) -> None:
    """Every term of a document is a form of a term of the query that holds the same words, but for stop words and
    question words."""
    forms = {form for term in query_terms(text) for form in term.forms}
    forms |= QUESTION_WORDS | set(english(" ".join(QUESTION_WORDS)))
    terms = set(document_terms(text, english=in_english))
    assert terms - forms <= (set() if in_english else set(plain(text)) - set(english(text)))


@given(st.text(max_size=300), st.booleans())
def test_highlights_lie_on_words_in_order(text: str, in_english: bool) -> None:
    terms = frozenset(document_terms(text, english=in_english))
    spans = spans_of(text, terms, english=in_english)
    assert bool(spans) == bool(terms)
    end_before = 0
    for start, end in spans:
        assert end_before <= start < end <= len(text)
        assert document_terms(text[start:end], english=in_english)
        assert text[start:end] == text[start:end].strip()
        end_before = end
    assert spans_of(text, frozenset(), english=in_english) == []
