"""YAML keeps its lines, and a hostile document costs no more than a long one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.estates.yaml_document import DocumentMemory, YamlInvalid, parse_yaml


def test_values_know_their_lines_and_keep_their_spelling():
    node = parse_yaml("a: no\nb:\n  - 1.10\n  - 2024-01-01\nc: ~\nd: |\n  text\n  more\n", first_line=2)
    assert (node.text("a"), node.texts("b"), node.text("c")) == ("no", ("1.10", "2024-01-01"), None)
    assert [item.line for item in node.sequence("b")] == [4, 5]
    assert (node.get("d").value, node.get("d").line, node.get("d").block_scalar) == ("text\nmore\n", 7, True)


def test_nothing_is_nothing():
    assert parse_yaml("") is None
    assert parse_yaml("# only a comment\n") is None


def test_of_two_equal_keys_the_last_holds_and_the_other_is_remembered():
    node = parse_yaml("a: 1\nb: 2\na: 3\n")
    assert (node.text("a"), node.duplicates) == ("3", [("a", 3)])


def test_an_alias_is_a_copy_and_a_merge_gives_what_is_missing():
    node = parse_yaml("base: &base {x: 1, y: 2}\nother:\n  <<: *base\n  y: 3\ncopy: *base\n")
    assert (node.text("other", "x"), node.text("other", "y"), node.text("copy", "y")) == ("1", "3", "2")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: [1\n", 1),
        ("a: 1\n\tb: 2\n", 2),
        ("a: *nowhere\n", 1),
        ("a: &a\n  - *a\n", 2),
        ("a: \x01\n", 1),
        ("[" * 100_000, 1),
    ],
)
def test_what_is_no_yaml_says_where(text, line):
    with pytest.raises(YamlInvalid) as refused:
        parse_yaml(text)
    assert refused.value.line == line


@pytest.mark.parametrize("after", ["", "\n", "\nc: 2\n\n", "\r\nc: 2\r\n", "\nc: 2\n  # no more\n\n\n"])
@pytest.mark.parametrize(
    ("opened", "place"),
    [('"x', (2, 4)), ("'x", (2, 4)), ("[x", (2, 4)), ("{x: y", (2, 4)), ("[[x], [y", (2, 10))],
)
def test_what_is_never_closed_is_found_where_it_was_opened(opened, place, after):
    if opened[0] in "[{" and "c:" in after:
        after = after.replace("c: 2", ", c")
    with pytest.raises(YamlInvalid) as refused:
        parse_yaml(f"a: 1\nb: {opened}{after}")
    assert (refused.value.line, refused.value.column) == (place if after else (2, refused.value.column))


@pytest.mark.parametrize("after", ["", "\n", "\r\n", "\n\n\n"])
def test_what_lacks_its_end_is_found_no_further_than_the_text_goes(after):
    with pytest.raises(YamlInvalid) as refused:
        parse_yaml(f"a: 1\nb: [{after}")
    assert (refused.value.line, refused.value.column) == (2, 4)


def test_a_bomb_of_aliases_is_refused():
    levels = ["a: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"b{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(YamlInvalid, match="aliases written out"):
        parse_yaml("\n".join(levels))


@given(st.text("ab:-[]{}&*!|>'\"%@`#,?\n\t 1~<\\\u00e9", max_size=60))
def test_any_text_is_read_or_refused(text):
    lines = text.count("\n") + 2
    try:
        node = parse_yaml(text)
        places = [inner.line for inner in node.walk()] if node is not None else []
    except YamlInvalid as refused:
        places = [refused.line]
    assert all(1 <= place <= lines for place in places)


def test_the_same_text_further_down_a_file_has_lines_of_its_own():
    assert [parse_yaml("a: 1\nb: 2", line).at("b").line for line in (1, 7, 1)] == [2, 8, 2]


def test_a_text_that_is_no_yaml_is_refused_each_time():
    for _ in range(2):
        with pytest.raises(YamlInvalid):
            parse_yaml("a: [1")


def test_the_memory_of_documents_is_bounded():
    memory = DocumentMemory(most_nodes=8)
    memory.keep((b"large", 1), None, 3)
    assert memory.find((b"large", 1)) is None, "one document may not push out all others"
    for name in (b"a", b"b", b"c", b"d"):
        memory.keep((name, 1), None, 2)
    assert memory.find((b"a", 1)) == (None,), "eight nodes are room for four documents of two"
    memory.keep((b"e", 1), None, 2)
    assert [memory.find((name, 1)) for name in (b"a", b"d", b"e")] == [None, None, (None,)]
