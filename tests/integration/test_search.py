"""The main job from end to end on the embedded engines: publish an estate, search it, page through it, explain it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.domain.errors import (
    CursorForeign,
    CursorStale,
    EngineUnavailable,
    FacetUnknown,
    FilterUnknown,
    LimitOutOfRange,
    NodeUnknown,
    QueryEmpty,
    QueryMalformed,
    QueryTooLong,
)
from service.domain.graph import NodeIdentity
from service.retrieval.window import UNSUPPORTED
from tests.application import PAGES, Application, running, write_estate


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("search")
    with running(folder / "data") as opened:
        opened.publish(write_estate(folder / "estate"))
        yield opened


def test_the_page_that_says_it_comes_first(application: Application) -> None:
    assert application.uids("how do I install it")[0] == "install"
    assert application.uids("query deadline")[0] == "query"


@pytest.mark.parametrize("identifier", ["IHttpClientFactory", "net-maui-8.0", "C#", "ihttpclientfactory"])
def test_code_identifiers_are_found_whole_and_split(application: Application, identifier: str) -> None:
    assert application.uids(identifier)[0] == "clients"


@pytest.mark.parametrize("identifier", ["--no-restore", "0x80070005"])
def test_options_and_error_codes_are_found(application: Application, identifier: str) -> None:
    assert application.uids(identifier)[0] == "install"


def test_a_hit_names_its_passage_heading_and_anchor(application: Application) -> None:
    hit = application.search("deadline of a long query").hits[0]
    assert hit.passage.heading == "Time limits"
    assert hit.passage.anchor == "time-limits"
    marked = {hit.passage.text[start:end].lower() for start, end in hit.passage.highlights}
    assert "deadline" in marked


def test_explain_is_the_arithmetic_of_the_order(application: Application) -> None:
    result = application.search("install the command line", explain=True)
    assert result.explain is not None
    assert {leg.leg for leg in result.explain.legs} == {"lexical", "vector"}
    for hit in result.hits:
        assert hit.explain is not None
        rrf = sum(1 / (60 + leg.rank) for leg in hit.explain.legs)
        assert hit.explain.rrf == pytest.approx(rrf)
        assert hit.explain.rrf_normalised == pytest.approx(rrf / (2 / 61))
        boosts = demotions = 1.0
        for factor in hit.explain.factors:
            boosts, demotions = boosts * max(1, factor.factor), demotions * min(1, factor.factor)
        final = hit.explain.rrf_normalised * (1 + 0.07 * hit.explain.prior) * min(1.15, boosts) * demotions
        assert hit.score == pytest.approx(final)
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)


def test_pages_put_together_are_the_whole_window(application: Application) -> None:
    whole = application.uids("graph command colours clients", limit=50)
    paged: list[str] = []
    cursor = None
    while True:
        page = application.search("graph command colours clients", limit=1, cursor=cursor)
        paged += [hit.uid for hit in page.hits]
        assert page.total == len(whole)
        cursor = page.next_cursor
        if cursor is None:
            break
    assert paged == whole


def test_filters_narrow_every_leg(application: Application) -> None:
    assert set(application.uids("graph", filter={"product": ["design"]})) <= {"colours"}
    assert set(application.uids("graph", filter={"product": ["library", "graph"]})) == {"clients", "query"}
    assert application.uids("graph", filter={"product": ["none"]}) == []


def test_facets_count_the_filtered_estate(application: Application) -> None:
    result = application.search("graph", facets=["product", "kind"], filter={"kind": ["page"]})
    assert result.facets["product"] == {"tool": 2, "design": 1, "graph": 1, "library": 1}
    chosen = application.search("graph", facets=["product"], filter={"kind": ["page"], "product": ["design"]})
    assert chosen.facets["product"] == result.facets["product"]


def test_why_not_names_what_left_a_page_out(application: Application) -> None:
    assert application.why_not("install", "install").reason == "hit"
    filtered = application.why_not("install", "install", filter={"product": ["design"]})
    assert filtered.reason == "filter"
    assert "product is tool, not design" in filtered.detail
    with pytest.raises(NodeUnknown):
        application.why_not("no such page", "install")


def test_a_page_that_only_resembles_nonsense_is_said_to_be_unsupported(application: Application) -> None:
    nonsense = "xyzzyplugh quux frobnicate"
    assert application.search(nonsense).notices == [UNSUPPORTED]
    verdict = application.why_not("install", nonsense)
    assert verdict.reason == "unsupported"
    assert verdict.detail.startswith("vector ranks it ")


def test_a_listing_reaches_every_node_once(application: Application) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        page = application.nodes(limit=2, cursor=cursor)
        seen += [node.uid for node in page.nodes]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == page.total
    assert {"install", "query", "clients", "colours", "product:tool"} <= set(seen)


def test_a_node_is_fetched_whole(application: Application) -> None:
    node = application.fetch("query")
    assert node.title == "Query the graph"
    assert [section.heading for section in node.sections][-1] == "Time limits"
    assert {(edge.type, edge.uid, edge.direction) for edge in node.edges} >= {
        ("xref", "install", "out"),
        ("xref", "clients", "in"),
        ("appliesTo", "product:tool", "out"),
    }
    assert "visibleTo" not in node.properties


HOSTILE = [
    "C#", "/b testing", "tb-", '"unbalanced', "node:", "*", "a:b", "editor/IDE?", "(", ")", "[x", "\\", "AND OR NOT",
    "True or false: it's so?", "🙂🙂", "שלום עולם", "the of and", "x" * 2_000, "a\tb\nc", "%00", "${jndi}", "'; DROP",
    "+-&&||!(){}[]^\"~*?:\\/", "zxqvbnpl wkjhgf",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_odd_text_gets_an_answer_and_no_error(application: Application, text: str) -> None:
    result = application.search(text)
    assert result.degraded == []
    assert len(result.hits) <= 10


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"text": ""}, QueryEmpty),
        ({"text": " \n\t"}, QueryEmpty),
        ({"text": "x" * 10_000}, QueryTooLong),
        ({"text": "a\0b"}, QueryMalformed),
        ({"text": "\ud800"}, QueryMalformed),
        ({"text": "a", "limit": 0}, LimitOutOfRange),
        ({"text": "a", "limit": 10**9}, LimitOutOfRange),
        ({"text": "a", "filter": {"colour": ["red"]}}, FilterUnknown),
        ({"text": "a", "facets": ["colour"]}, FacetUnknown),
        ({"text": "a", "cursor": "bm90IG91cnM"}, CursorForeign),
    ],
)
def test_what_cannot_be_answered_is_refused_by_type(application: Application, fields: dict, error: type) -> None:
    with pytest.raises(error):
        application.search(**fields)


def test_a_cursor_of_another_request_is_refused(application: Application) -> None:
    cursor = application.search("graph", limit=1).next_cursor
    with pytest.raises(CursorForeign):
        application.search("colours", limit=1, cursor=cursor)


def test_a_leg_that_is_down_is_named_and_the_other_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path / "data") as application:
        application.publish(write_estate(tmp_path / "estate"))

        async def down(*_args: object, **_fields: object) -> None:
            raise EngineUnavailable("qdrant-edge", "it is gone")

        monkeypatch.setattr(application.tools.retrieval.vectors, "search", down)
        result = application.search("install")
        assert result.hits[0].uid == "install"
        assert result.degraded == ["vector: it is gone"]


def without_vectors(application: Application, *kept: str) -> None:
    """As while the vectors fill in: those of all but these nodes are not there yet."""
    retrieval = application.tools.retrieval
    gone = [
        (NodeIdentity(node.uid, node.locale), node.content_hash)
        for node in application.nodes(limit=100).nodes
        if node.uid not in kept and node.content_hash is not None
    ]
    application.run(retrieval.vectors.remove(gone))
    retrieval.covered_generation = -1


def test_a_node_without_a_vector_stands_where_the_words_put_it_while_the_vectors_fill_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One page in five has its vector, and is not put before those that answer better only for that."""
    front = "---\nuid: page-{0}\n---\n# Page {0}\n\n"
    pages = {f"{n}.md": front.format(n) + "Install the archive. " * (5 - n) + "Other words.\n" for n in range(5)}
    with running(tmp_path / "data") as application:
        application.publish(write_estate(tmp_path / "estate", pages))
        retrieval = application.tools.retrieval

        async def down(*_args: object, **_fields: object) -> None:
            raise EngineUnavailable("qdrant-edge", "it is gone")

        with monkeypatch.context() as patched:
            patched.setattr(retrieval.vectors, "search", down)
            by_words = application.uids("install archive")
        assert len(by_words) == 5
        last = by_words.pop()
        without_vectors(application, last)
        filling = application.search("install archive", explain=True)
        assert any("% indexed" in note for note in filling.degraded)
        found = [hit.uid for hit in filling.hits]
        assert (found[0], [uid for uid in found if uid != last]) == (by_words[0], by_words)
        first = filling.hits[0].explain
        assert first is not None
        assert [leg.leg for leg in first.legs] == ["lexical"]
        assert first.rrf_normalised == pytest.approx(1.0)
        with monkeypatch.context() as patched:
            patched.setattr(retrieval.vectors, "passages", down)
            assert application.uids("install archive") == found


def test_with_the_graph_down_hits_are_served_unverified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path / "data") as application:
        application.publish(write_estate(tmp_path / "estate"))

        async def down(*_args: object, **_fields: object) -> None:
            raise EngineUnavailable("kglite", "it is gone")

        monkeypatch.setattr(application.tools.retrieval.graph.reader, "run", down)
        result = application.search("install")
        assert result.hits[0].uid == "install"
        assert result.hits[0].title == "Install the command line"
        assert all(hit.unverified for hit in result.hits)
        assert "graph: it is gone" in result.degraded


def test_an_empty_store_says_so(tmp_path: Path) -> None:
    with running(tmp_path / "data") as application:
        result = application.search("anything")
        assert result.hits == []
        assert result.notices == ["Nothing has been published here yet."]


def test_a_cursor_goes_stale_with_its_snapshot(tmp_path: Path) -> None:
    with running(tmp_path / "data") as application:
        application.publish(write_estate(tmp_path / "estate"))
        cursor = application.search("graph", limit=1).next_cursor
        application.publish(write_estate(tmp_path / "estate", PAGES | {"new.md": "# New\n\nA new page.\n"}))
        with pytest.raises(CursorStale):
            application.search("graph", limit=1, cursor=cursor)


def test_reopening_answers_the_same(tmp_path: Path) -> None:
    with running(tmp_path / "data") as application:
        application.publish(write_estate(tmp_path / "estate"))
        before = [(hit.uid, hit.score) for hit in application.search("install").hits]
    with running(tmp_path / "data") as application:
        assert [(hit.uid, hit.score) for hit in application.search("install").hits] == before
