"""Budgets of tokens from end to end: what is said stays within them, and the rest can be read on."""

from collections.abc import Iterator

import pytest

from service.domain.errors import CursorForeign, CursorStale, LimitOutOfRange, SectionUnknown
from service.domain.principal import ANONYMOUS, Principal
from service.domain.requests import NodeRequest, NodesRequest
from service.domain.results import NodeResult
from service.publishing.measured_text import MeasuredText
from service.retrieval.sizes import size_of
from service.settings import Settings
from service.surfaces.encoding import encode
from service.tools import catalogue
from tests.application import PAGES, Application, running, write_estate

WORDS = " ".join(f"word{number}" for number in range(400))
LONG = f"""---
title: A long page
uid: long
---
# A long page

Begin here. {WORDS}

## First

{WORDS}

### Within the first

Deeper. See [the query](query.md).

## Second

{WORDS}
"""
HUGE = "---\ntitle: A huge page\nuid: huge\n---\n# A huge page\n\n" + ("All work and no play. " * 20 + "\n\n") * 500
ROOM = 65_536


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("budgets")
    estate = write_estate(folder / "estate", PAGES | {"long.md": LONG, "huge.md": HUGE})
    with running(folder / "data", Settings(result_bytes=ROOM, request_deadline=60_000)) as application:
        application.publish(estate)
        yield application


def tokens_of(application: Application, node: NodeResult) -> int:
    counter = application.tools.retrieval.tokens
    texts = [text for section in node.sections for text in (section.heading, section.text)]
    edges = [f"{edge.type} {edge.uid} {edge.title}" for edge in node.edges]
    return sum(MeasuredText(text, counter).tokens for text in (*texts, *edges))


def text_of(node: NodeResult) -> str:
    return "".join(section.text for section in node.sections)


def test_a_page_is_read_on_to_its_end_within_the_budget(application: Application) -> None:
    whole = application.fetch("long")
    assert whole.cut is None
    read, cursor = "", None
    turns = 0
    while True:
        turns += 1
        part = application.fetch("long", max_tokens=300, cursor=cursor)
        assert tokens_of(application, part) <= 300
        read += text_of(part)
        if part.cut is None:
            break
        assert part.cut.tokens <= 300
        assert part.cut.next_section in {section.anchor for section in whole.sections}
        cursor = part.cut.next_cursor
    assert read == text_of(whole)
    assert turns > 4


def test_the_budget_may_change_between_the_parts(application: Application) -> None:
    part = application.fetch("long", max_tokens=50)
    assert part.cut is not None
    rest = application.fetch("long", cursor=part.cut.next_cursor)
    assert rest.cut is None
    assert text_of(part) + text_of(rest) == text_of(application.fetch("long"))


@pytest.mark.parametrize("name", ["first", "#first", "First", "FIRST"])
def test_a_section_comes_with_those_below_it(application: Application, name: str) -> None:
    sections = application.fetch("long", section=name).sections
    assert [section.heading for section in sections] == ["First", "Within the first"]


def test_a_section_that_there_is_not_suggests_the_nearest(application: Application) -> None:
    with pytest.raises(SectionUnknown) as raised:
        application.fetch("long", section="secnd")
    assert raised.value.suggestion == "second"


def test_edges_that_have_no_room_are_said_to_be_more(application: Application) -> None:
    tight = application.fetch("long", max_tokens=50)
    assert (tight.edges, tight.edges_truncated) == ([], True)
    roomy = application.fetch("long", max_tokens=100_000)
    assert [edge.uid for edge in roomy.edges] == ["query"]
    assert not roomy.edges_truncated


def test_a_cursor_of_another_node_section_or_caller_is_foreign(application: Application) -> None:
    part = application.fetch("long", max_tokens=50)
    assert part.cut is not None
    for fields in ({"uid": "huge"}, {"uid": "long", "section": "first"}, {"uid": "long", "locale": "en-us"}):
        with pytest.raises(CursorForeign):
            application.fetch(cursor=part.cut.next_cursor, **fields)
    with pytest.raises(CursorForeign):
        application.fetch("long", Principal("other", frozenset({"staff"})), cursor=part.cut.next_cursor)
    listing = application.nodes(limit=1).next_cursor
    with pytest.raises(CursorForeign):
        application.fetch("long", cursor=listing)


def test_what_is_larger_than_an_answer_is_cut_and_can_be_read_on(application: Application) -> None:
    read, cursor, turns = "", None, 0
    while True:
        part = application.fetch("huge", cursor=cursor)
        assert len(encode(part)) <= ROOM
        read += text_of(part)
        turns += 1
        if part.cut is None:
            break
        cursor = part.cut.next_cursor
    assert read.count("All work and no play.") == 20 * 500
    assert turns == -(-len(HUGE) // ROOM)


def fetch_all(application: Application, *uids: str, **fields: object):
    request = NodesRequest.model_validate({"uids": list(uids), **fields})
    return application.run(application.tools.call(catalogue.FETCH_BATCH, request, ANONYMOUS))


def test_several_are_fetched_each_as_alone_and_a_refusal_leaves_the_others(application: Application) -> None:
    result = fetch_all(application, "query", "nobody", "long", "query")
    assert [fetched.asked for fetched in result.nodes] == ["query", "nobody", "long", "query"]
    assert result.nodes[0].node == result.nodes[3].node == application.fetch("query")
    assert result.nodes[2].node == application.fetch("long")
    refusal = result.nodes[1].refusal
    assert refusal is not None
    assert (refusal.code, result.nodes[1].node) == ("node_unknown", None)


def test_several_share_one_budget_and_each_can_be_read_on_alone(application: Application) -> None:
    result = fetch_all(application, "query", "long", "huge", max_tokens=200)
    nodes = [fetched.node for fetched in result.nodes]
    assert all(nodes)
    assert sum(tokens_of(application, node) for node in nodes if node) <= 200
    query, long, huge = nodes
    assert query is not None
    assert long is not None
    assert huge is not None
    assert long.cut is not None
    assert huge.cut is not None
    assert query.cut is None
    assert huge.sections == []
    rest = application.fetch("long", cursor=long.cut.next_cursor)
    assert text_of(long) + text_of(rest) == text_of(application.fetch("long"))


def test_several_share_the_size_of_one_answer(application: Application) -> None:
    assert size_of(fetch_all(application, *["huge"] * 20)) <= ROOM


def test_too_many_are_refused(application: Application) -> None:
    with pytest.raises(LimitOutOfRange):
        fetch_all(application, *["query"] * 21)


def test_passages_of_a_search_stay_within_the_budget_best_first(application: Application) -> None:
    whole = application.search("word7 graph type", limit=10)
    tight = application.search("word7 graph type", limit=10, max_tokens=100)
    assert [hit.uid for hit in tight.hits] == [hit.uid for hit in whole.hits]
    counter = application.tools.retrieval.tokens
    assert sum(MeasuredText(hit.passage.text, counter).tokens for hit in tight.hits) <= 100
    was_cut = False
    for shown, of in zip(tight.hits, whole.hits, strict=True):
        assert of.passage.text.startswith(shown.passage.text)
        assert shown.passage.is_cut == (shown.passage.text != of.passage.text)
        assert shown.passage.is_cut or not was_cut, "what comes after a cut is cut"
        was_cut = shown.passage.is_cut
        assert all(end <= len(shown.passage.text) for _, end in shown.passage.highlights)
    assert was_cut


def test_a_cursor_does_not_outlive_its_snapshot(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("stale")
    estate = write_estate(folder / "estate", {"long.md": LONG})
    with running(folder / "data") as application:
        application.publish(estate)
        part = application.run(
            application.tools.call(catalogue.FETCH, NodeRequest(uid="long", max_tokens=50), ANONYMOUS)
        )
        assert part.cut is not None
        write_estate(folder / "estate", {"long.md": LONG.replace("Begin", "Start")})
        application.publish(estate)
        with pytest.raises(CursorStale):
            application.fetch("long", cursor=part.cut.next_cursor)
