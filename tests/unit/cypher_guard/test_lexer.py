"""Text to tokens."""

import pytest

from cypher_guard.lexer import read_tokens
from cypher_guard.violation import Refusal


def kinds(text: str) -> list[str]:
    return read_tokens(text, max_nesting=64).kinds


def values(text: str) -> list[object]:
    return list(read_tokens(text, max_nesting=64).values[:-1])


def test_words_keep_their_case_and_are_known_in_capitals() -> None:
    assert kinds("Match n_1") == ["MATCH", "N_1", "end"]
    assert values("Match n_1") == ["Match", "n_1"]


def test_a_word_beyond_ascii_is_never_a_keyword() -> None:
    # 'ſKIP'.upper() is SKIP: a reader that folds case by Unicode would see a keyword.
    assert kinds("ſKIP größe") == ["word", "word", "end"]


def test_marks_of_two_characters_are_one_token() -> None:
    assert kinds("..<><=>==~||::!=")[:-1] == ["..", "<>", "<=", ">=", "=~", "||", "::", "!="]


def test_a_slice_is_not_read_as_a_float() -> None:
    assert kinds("[0..3]") == ["[", "integer", "..", "integer", "]", "end"]
    assert kinds("[..2]") == ["[", "..", "integer", "]", "end"]


def test_a_comparison_with_a_negative_number_is_not_an_arrow() -> None:
    assert kinds("r.weight<-0.5") == ["R", ".", "WEIGHT", "<", "-", "float", "end"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("0x1F", 31), ("0o17", 15), ("1_000", 1000), ("9223372036854775807", 2**63 - 1), ("1e3", 1000.0), (".5", 0.5)],
)
def test_numbers(text: str, value: float) -> None:
    assert values(text) == [value]


@pytest.mark.parametrize("text", ["010", "1a", "9223372036854775809", "1e999", "1" * 5000, "0x", "1٠"])
def test_numbers_that_cypher_has_not(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_tokens(text, max_nesting=64)
    assert refused.value.code == "syntax"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"'it\'s'", "it's"),
        (r'"say \"x\""', 'say "x"'),
        (r"'a\\b\n'", "a\\b\n"),
        (r"'\u00e9t\u00e9'", "été"),
        ("'// no comment /* at all */ DETACH DELETE'", "// no comment /* at all */ DETACH DELETE"),
        (r"'C:\\users'", "C:\\users"),
    ],
)
def test_strings(text: str, value: str) -> None:
    assert values(text) == [value]


@pytest.mark.parametrize("escape", ["0027", "0022", "0060", "005c", "000a", "000D", "0000", "d800", "2028"])
def test_an_escape_that_could_end_a_string_for_another_reader_is_refused(escape: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_tokens(f"'ab\\u{escape}'", max_nesting=64)
    assert refused.value.position == 3


@pytest.mark.parametrize("text", [r"\u0041", r"`a\u0060b`", r"/* \u002a\u002f */", "// \\u000d", r"'\q'", "'it"])
def test_a_backslash_stands_in_strings_alone(text: str) -> None:
    with pytest.raises(Refusal):
        read_tokens(text, max_nesting=64)


def test_comments_are_skipped_with_their_unbalanced_quotes() -> None:
    assert kinds("a // it's 'open\nb /*/ \" ` **/ c") == ["A", "B", "C", "end"]


def test_a_carriage_return_ends_a_line_comment() -> None:
    assert kinds("a // x\rb") == ["A", "B", "end"]


def test_comments_may_hold_any_letters() -> None:
    assert kinds("// größe “quoted” 数\na") == ["A", "end"]


@pytest.mark.parametrize("character", ["\u2028", "\x0b", "\u202e", "\x00", "\u200b"])
def test_comments_may_not_hide_anything(character: str) -> None:
    with pytest.raises(Refusal):
        read_tokens(f"a // x{character} y\nb", max_nesting=64)


def test_unicode_spaces_part_tokens_and_other_oddities_are_refused() -> None:
    assert kinds("a\u00a0b\u2003c\u3000d") == ["A", "B", "C", "D", "end"]
    for character in "\u200b\u202e\ufeff\u2212\u2014\u27e8\x00#@\\~?":
        with pytest.raises(Refusal):
            read_tokens(f"a {character} b", max_nesting=64)


def test_quoted_names_halve_their_backticks() -> None:
    tokens = read_tokens("`a``b`", max_nesting=64)
    assert (tokens.kinds[0], tokens.values[0]) == ("quoted", "a`b")


def test_brackets_know_their_partners() -> None:
    assert read_tokens("(a[0])", max_nesting=64).partners == {2: 4, 0: 5}


@pytest.mark.parametrize("text", ["(", ")", "(]", "{[}]", "(()"])
def test_unbalanced_brackets_are_refused(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_tokens(text, max_nesting=64)
    assert refused.value.code == "syntax"


def test_tokens_without_end_are_too_large() -> None:
    with pytest.raises(Refusal) as refused:
        read_tokens("a " * 8193, max_nesting=64)
    assert refused.value.code == "too_large"


def test_deep_brackets_are_too_large() -> None:
    with pytest.raises(Refusal) as refused:
        read_tokens("(" * 129 + ")" * 129, max_nesting=64)
    assert refused.value.code == "too_large"
