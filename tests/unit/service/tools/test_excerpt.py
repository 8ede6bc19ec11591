"""Excerpts: nothing is lost between one and the next, and none is larger than its room."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.errors import CursorForeign
from service.domain.results import EdgeResult, SectionResult
from service.ports import Span
from service.retrieval.sizes import size_of
from service.tools.excerpt import Allowance, Place, excerpt

ROOMY = 1_000_000


class Letters:
    """Every character that is no white space is a token: arithmetic that a reader can redo."""

    def spans(self, text):
        return [Span(place, place + 1) for place, letter in enumerate(text) if not letter.isspace()]


def section(text, heading="", anchor="a"):
    return SectionResult(heading=heading, anchor=anchor, level=2, text=text, moniker_range=None)


def read_on(sections, tokens, size=ROOMY):
    """All excerpts, each from where the one before ended."""
    place, read = Place(), []
    while place is not None:
        shown, place = excerpt(sections, place, Allowance(Letters(), tokens, size))
        read.append(shown)
        assert len(read) < 1_000
    return read


def test_what_fits_is_whole():
    sections = [section("one two"), section("three")]
    assert excerpt(sections, Place(), Allowance(Letters(), 11, ROOMY)) == (sections, None)
    assert excerpt(sections, Place(), Allowance(Letters(), None, ROOMY)) == (sections, None)


def test_the_heading_counts_and_the_text_is_cut_at_a_word():
    shown, rest = excerpt([section("four five six", heading="Nine")], Place(), Allowance(Letters(), 4 + 8, ROOMY))
    assert [one.text for one in shown] == ["four five "]
    assert rest == Place(0, 10)


def test_a_paragraph_is_a_better_end_than_a_word():
    shown, _ = excerpt([section("aaaa bbbb\n\ncccc dddd")], Place(), Allowance(Letters(), 12, ROOMY))
    assert shown[0].text == "aaaa bbbb\n\n"


def test_a_section_that_has_no_room_at_all_is_left_for_the_next_time():
    shown, rest = excerpt([section("aa"), section("bb", heading="Head")], Place(), Allowance(Letters(), 6, ROOMY))
    assert [one.text for one in shown] == ["aa"]
    assert rest == Place(1, 0)


WORDS = st.text(alphabet='ab 日\n"\\\x01🦀', max_size=60)


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS, max_size=5), st.integers(1, 30), st.integers(700, 2_000))
def test_reading_on_reads_everything_once_within_the_room(texts, tokens, size):
    sections = [section(text, heading="h") for text in texts]
    read = read_on(sections, tokens, size)
    assert "".join(one.text for shown in read for one in shown) == "".join(texts)
    for shown in read:
        assert sum(size_of(one) for one in shown) <= size
        last_word = max((len(word) for one in shown[-1:] for word in one.text.split()), default=0)
        counted = sum(1 + len("".join(one.text.split())) for one in shown)
        assert counted <= tokens + last_word, "one word at most is over"


def test_bytes_are_those_of_json():
    """A control character is six bytes there."""
    bare = size_of(section(""))
    shown, rest = excerpt([section("\x01" * 100)], Place(), Allowance(Letters(), None, bare + 60))
    assert shown[0].text == "\x01" * 10
    assert rest == Place(0, 10)


def test_edges_take_what_the_text_leaves():
    edge = EdgeResult(type="xref", uid="u" * 10, locale="en", title="t" * 6, kind="page", direction="out")
    allowance = Allowance(Letters(), 45, ROOMY)
    excerpt([section("aaaaa")], Place(), allowance)
    assert allowance.take_edges([edge] * 5) == 2
    assert allowance.spent == 5 + 2 * 20


@pytest.mark.parametrize("text", ["", "1", "0:9", "-1:0", "1:0", "0:x", "٣:0"])
def test_a_place_that_is_none_is_refused(text):
    with pytest.raises(CursorForeign):
        Place.read(text, [section("aaa")])
