import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.errors import CursorForeign, CursorStale, LimitOutOfRange
from service.domain.requests import SearchRequest
from service.domain.snapshots import Snapshot
from service.retrieval.paging import Cursor, decode, fingerprint, page_size
from service.settings import Settings

SNAPSHOT = Snapshot(content_root="root", generation=1)
CURSOR = Cursor("root", "request", "2026-01-01T00:00:00+00:00", ("lexical",), 10)


def read(text: str, request: str = "request", snapshot: Snapshot = SNAPSHOT) -> Cursor:
    return decode(text, request=request, snapshot=snapshot, longest=4096)


@given(
    st.integers(0, 10**9) | st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
    st.lists(st.sampled_from(["lexical", "vector"]), unique=True),
)
def test_a_cursor_reads_back(position: int | str, legs: list[str]) -> None:
    cursor = Cursor("root", "request", "now", tuple(legs), position)
    assert read(cursor.encode()) == cursor


@given(st.text(max_size=200))
def test_text_that_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(CursorForeign):
        read(text)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_cursor_are_refused(body: bytes) -> None:
    with pytest.raises(CursorForeign):
        read(base64.urlsafe_b64encode(body).decode().rstrip("="))


@given(st.integers(0, len(CURSOR.encode()) - 1))
def test_a_cursor_with_one_character_changed_is_refused(place: int) -> None:
    text = CURSOR.encode()
    changed = text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]
    if base64.urlsafe_b64decode(changed + "==") != base64.urlsafe_b64decode(text + "=="):
        with pytest.raises(CursorForeign):
            read(changed)


def test_a_cursor_of_another_request_is_refused() -> None:
    with pytest.raises(CursorForeign, match="another request"):
        read(CURSOR.encode(), request="other")


def test_a_cursor_of_a_replaced_snapshot_says_how_to_start_again() -> None:
    with pytest.raises(CursorStale, match="without it"):
        read(CURSOR.encode(), snapshot=Snapshot(content_root="next", generation=2))


def test_a_cursor_longer_than_any_of_ours_is_not_read() -> None:
    with pytest.raises(CursorForeign, match="longer"):
        read("A" * 5000)


def test_pages_of_one_request_share_a_fingerprint() -> None:
    plain = SearchRequest(text="a", filter={"kind": ["page"]})
    later = plain.model_copy(update={"cursor": "x", "limit": 3, "explain": True})
    assert fingerprint(plain, ("*",)) == fingerprint(later, ("*",))


def test_what_changes_the_ranking_or_the_caller_changes_the_fingerprint() -> None:
    plain = SearchRequest(text="a")
    others = [
        fingerprint(SearchRequest(text="b"), ("*",)),
        fingerprint(SearchRequest(text="a", filter={"kind": ["page"]}), ("*",)),
        fingerprint(plain, ("*", "staff")),
    ]
    assert fingerprint(plain, ("*",)) not in others


@pytest.mark.parametrize("limit", [0, -1, 101, 10**9])
def test_a_limit_out_of_range_is_refused(limit: int) -> None:
    with pytest.raises(LimitOutOfRange, match="between 1 and 100"):
        page_size(limit, Settings())


def test_a_limit_within_range_is_taken_and_none_is_the_default() -> None:
    assert page_size(100, Settings()) == 100
    assert page_size(None, Settings()) == 10
