"""The console's pages for operators and for the curious: what they show, ask, and leave out."""

import html
import re

import pytest
from starlette.datastructures import QueryParams

from service.domain.errors import EngineUnavailable
from service.domain.requests import LearningPathRequest, ListRequest, ReplayRequest, RunRequest, SearchRequest
from service.domain.results import EdgeResult, ExpandedTerms, LearningStep, PinnedBy
from service.surfaces.console.bars import waterfalls
from service.surfaces.console.compare import Placed, placed
from service.surfaces.console.edges import each_once
from service.surfaces.console.learning import ROW, PathLink, picture
from service.surfaces.console.neighbourhood import DRAWN, sides
from service.surfaces.console.profile import ProfileFields, several
from service.surfaces.console.runs import RunsLink
from tests.surfaces.fake_toolbox import CLAMP, GAIN, explanation, hit, logged_hit, logged_run, search_result, vote

pytestmark = pytest.mark.anyio


# Runs


def test_a_hits_steps_lead_from_its_votes_to_its_final_score():
    [first, _second] = waterfalls(logged_run(RunRequest(run_id="run-1")))
    fused = (vote(1) + vote(2)) / (2 * vote(1))
    highest = fused * (1 + GAIN * 0.5) * 1.05
    assert [(bar.label, bar.kind) for bar in first] == [
        ("lexical", "lexical"),
        ("vector", "vector"),
        ("fused", "fused"),
        ("graph prior", "prior up"),
        ("moniker", "signal up"),
        ("age", "signal down"),
        ("final", "final"),
    ]
    widths = {bar.label: bar.width * highest for bar in first}
    assert widths["lexical"] + widths["vector"] == pytest.approx(fused)
    assert widths["graph prior"] == pytest.approx(fused * GAIN * 0.5)
    assert widths["age"] == pytest.approx(highest * 0.1)
    assert widths["final"] == pytest.approx(logged_hit(1).final)
    assert max(bar.start + bar.width for bar in first) == pytest.approx(1)
    assert first[4].note == "× 1.050 · for net-8.0"


def test_what_the_clamp_took_is_a_step_of_its_own():
    kept = logged_run(RunRequest(run_id="run-1"))
    told = kept.hits[0]
    factors = [factor.model_copy(update={"factor": 1.2}) for factor in told.factors[:1]]
    fused = told.rrf_normalised
    clamped = told.model_copy(update={"factors": factors, "prior": 0.0, "final": fused * CLAMP})
    [steps] = waterfalls(kept.model_copy(update={"hits": [clamped]}))
    [clamp] = [bar for bar in steps if bar.label == "clamp"]
    assert clamp.kind == "clamp down"
    assert clamp.width * fused * 1.2 == pytest.approx(fused * (1.2 - CLAMP))


def test_a_run_without_hits_has_no_steps():
    assert waterfalls(logged_run(RunRequest(run_id="run-2"))) == []


def listed(page):
    assert page.status_code == 200
    return [html.unescape(one) for one in re.findall(r'class="words" href="([^"]*)"', page.text)]


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", ["run-1", "run-2", "run-3"]),
        ("?show=empty", ["run-2"]),
        ("?show=degraded", ["run-3"]),
        ("?text=FUSION", ["run-1"]),
        ("?show=empty&text=fusion", []),
        ("?show=%3Cscript%3E", ["run-1", "run-2", "run-3"]),
    ],
)
async def test_runs_are_narrowed(client, query, shown):
    page = await client.get(f"/runs{query}")
    assert listed(page) == [f"/runs?id={run}" for run in shown]
    assert "<b>" not in page.text


@pytest.mark.parametrize("query", ["", "show=empty", "text=a%26b&show=degraded"])
def test_the_address_of_runs_reads_back(query):
    link = RunsLink.read(QueryParams(query))
    assert RunsLink.read(QueryParams(str(link).partition("?")[2])) == link


async def test_a_run_is_shown_and_asked_again_only_when_told(client, toolbox):
    page = await client.get("/runs?id=run-1")
    assert "rank fusion" in page.text
    assert not any(isinstance(request, ReplayRequest) for request in toolbox.asked)
    again = await client.get("/runs?id=run-1&replay=1")
    assert "Hits have moved" in again.text
    assert toolbox.asked[-1] == ReplayRequest(run_id="run-1")


async def test_a_run_whose_words_were_not_kept_is_asked_with_those_given(client, toolbox):
    assert "Its words, which were not kept" in (await client.get("/runs?id=run-3")).text
    without = await client.get("/runs?id=run-3&replay=1")
    assert without.status_code == 400
    assert "give them along" in without.text
    await client.get("/runs?id=run-3&replay=1&text=rank")
    assert toolbox.asked[-1] == ReplayRequest(run_id="run-3", text="rank")


async def test_an_unknown_run_is_said(client):
    page = await client.get("/runs?id=%3Cb%3E")
    assert page.status_code == 404
    assert "No run of this id is kept" in page.text
    assert "<b>" not in page.text


# Status


async def test_the_status_says_what_answers_and_what_was_published(client):
    await client.get("/?q=fusion")
    page = await client.get("/status")
    assert page.status_code == 200
    for said in ("tantivy", "qdrant-edge", "c0ffeec0ffee", "cdcdcdcdcdcd", "Ready: searches are answered."):
        assert said in page.text
    assert re.search(r"<dt>searches</dt><dd>1</dd>", page.text)


async def test_refusals_are_counted_by_their_code(client):
    await client.get("/graph?cypher=MATCH+(n)+DELETE+n")
    page = await client.get("/status")
    assert page.text.count("<code>read_only</code> <span>1</span>") == 2


async def test_an_engine_that_is_not_ready_says_why(client, toolbox):
    toolbox.ready = False
    page = await client.get("/status")
    assert "Not ready: searches are not answered." in page.text
    assert "no shard" in page.text


async def test_what_was_counted_is_told_though_no_store_answers(client, toolbox):
    await client.get("/?q=fusion")
    toolbox.failure = EngineUnavailable("kglite", "closed")
    page = await client.get("/status")
    assert page.status_code == 503
    assert re.search(r"<dt>searches</dt><dd>1</dd>", page.text)


# Side by side


def test_places_are_set_against_each_other():
    here, there = [hit(1), hit(2), hit(3)], [hit(2), hit(1), hit(4)]
    first, second, third = placed(here, there)
    assert (first.there, first.moved, first.mark, first.said) == (2, 1, "▲ 1", "1 higher than there")
    assert (second.there, second.moved, second.mark) == (1, -1, "▼ 1")
    assert (third.there, third.mark, third.said) == (None, "new", "only here")
    assert Placed(hit(1), 1, 1).mark == "="
    assert len(placed(here, there, shown=2)) == 2


async def test_each_side_asks_with_its_own_switches_and_leaves_no_run(client, toolbox):
    query = (
        "q=fusion&filter=kind%3Dpage&a.role=developer&b.off=prior&b.off=age&b.off=nonsense&b.skills=x,+y&b.document=d"
    )
    page = await client.get(f"/compare?{query}")
    assert page.status_code == 200
    left, right = toolbox.asked
    assert (left.profile.role, left.without_signals, left.current_document) == ("developer", [], None)
    assert (right.profile.role, right.without_signals, right.current_document) == (None, ["prior", "age"], "d")
    assert right.profile.skills == ["x", "y"]
    assert left.filter == right.filter == {"kind": ["page"]}
    assert not left.logged
    assert not right.logged


async def test_without_a_choice_the_prior_is_what_differs(client, toolbox):
    await client.get("/compare?q=fusion")
    assert [request.without_signals for request in toolbox.asked] == [[], ["prior"]]


async def test_nothing_is_asked_without_a_question(client, toolbox):
    for path in ("/compare", "/graph", "/compare?q=+"):
        assert (await client.get(path)).status_code == 200
    assert toolbox.asked == []


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("/neighbourhood", "/neighbourhood?uid=manual.page-1&amp;locale=en-us"),
        ("/learning-path", "/learning-path?goal=manual.page-1"),
    ],
)
async def test_who_knows_no_uid_is_shown_where_to_begin(client, toolbox, path, to):
    assert f'<a href="{to}" dir="auto">Page 1</a>' in (await client.get(path)).text
    assert isinstance(toolbox.asked[0], ListRequest)
    toolbox.failure = EngineUnavailable("kglite", "closed")
    assert (await client.get(path)).status_code == 200


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("/neighbourhood?uid=nobody", "/neighbourhood?uid=manual.page-1&amp;locale=en-us"),
        ("/learning-path?goal=nobody", "/learning-path?goal=manual.page-1"),
    ],
)
async def test_an_unknown_uid_is_answered_with_those_like_it(client, path, to):
    answer = await client.get(path)
    assert answer.status_code == 404
    assert "Is it one of these?" in answer.text
    assert f'<a href="{to}" dir="auto">Page 1</a>' in answer.text


async def test_what_finds_nothing_names_pages_alike_and_the_way_out_of_filters(client, toolbox):
    toolbox.answer = search_result([], total=0)
    text = (await client.get("/?q=pgae&filter=kind%3Dmodule")).text
    assert 'href="/?q=pgae">Ask without the filters</a>' in text
    assert '<a href="/node?uid=manual.page-1&amp;locale=en-us" dir="auto">Page 1</a>' in text
    assert "Is it one of these?" not in (await client.get("/?q=pgae&typing")).text


async def test_a_person_sees_a_page_where_a_program_reads_json(client):
    visit = {"Accept": "text/html,*/*", "Sec-Fetch-Mode": "navigate"}
    page = await client.get("/nothing", headers=visit)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "<h1>No such page</h1>" in page.text
    for path, headers in (("/nothing", {}), ("/v1/nothing", visit), ("/nothing", {"Accept": "text/html"})):
        answer = await client.get(path, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


async def test_a_pin_and_synonyms_are_told_with_the_hit(client, toolbox):
    pin = PinnedBy(version=4, place=1, note="the new tutorial", unpinned=None)
    why = explanation(1, 2).model_copy(update={"pinned": pin})
    pinned = hit(1).model_copy(update={"pinned": True, "explain": why})
    told = search_result([pinned]).explain.model_copy(
        update={"expansions": [ExpandedTerms(of="k8s", alternatives=["kubernetes"])]}
    )
    toolbox.answer = search_result([pinned], explain=told)
    text = (await client.get("/?q=k8s")).text
    assert "Pinned at place 1 by version 4 of the tuning (the new tutorial); no hit without." in text
    assert "Besides <strong>k8s</strong>, its synonyms: kubernetes." in text


async def test_an_edge_that_two_places_say_is_listed_once():
    edge = EdgeResult(type="xref", uid="a", locale="en-us", title="A", kind="page", direction="out")
    other = edge.model_copy(update={"direction": "in"})
    assert each_once([edge, other, edge]) == [edge, other]


async def test_columns_of_numbers_are_set_as_such(client):
    text = (await client.get("/graph?cypher=MATCH+(n)+RETURN+n")).text
    assert re.findall(r'<td dir="auto"( class="number")?>', text) == ["", ' class="number"']


# Who asks


def test_a_profile_is_read_back():
    fields = ProfileFields(role="developer", monikers="net-8.0, net-9.0", document="a=b&c")
    assert ProfileFields.read(QueryParams(fields.pairs("a.")), "a.") == fields
    assert fields.profile().monikers == ["net-8.0", "net-9.0"]
    assert ProfileFields.read(QueryParams("")).is_empty
    assert several(" a ,, b,a") == ["a", "b"]


async def test_a_search_carries_who_asks_to_its_next_page(client, toolbox):
    page = await client.get(
        "/?q=fusion&role=developer&level=beginner&monikers=net-8.0&skills=a&document=d&locale=de-de"
    )
    asked = toolbox.asked[-1]
    assert isinstance(asked, SearchRequest)
    assert asked.profile.model_dump(exclude_defaults=True) == {
        "role": "developer",
        "level": "beginner",
        "locale": "de-de",
        "monikers": ["net-8.0"],
        "skills": ["a"],
    }
    assert asked.current_document == "d"
    [more] = re.findall(r'class="button" href="([^"]*)">More results', page.text)
    await client.get(html.unescape(more))
    assert toolbox.asked[-1].profile == asked.profile


# Neighbourhood


def edge(number, direction="out", type="xref"):
    return EdgeResult(type=type, uid=f"n{number}", locale="en-us", title="", kind="page", direction=direction)


def test_edges_stand_by_direction_and_type_and_a_line_leads_to_each_that_is_drawn():
    many = [edge(number) for number in range(DRAWN + 3)]
    inward, outward = sides([*many, edge(1, "in", "partOf"), edge(2, "out", "dependsOn")])
    assert [(group.type, len(group.edges)) for group in inward.groups] == [("partOf", 1)]
    assert [(group.type, len(group.drawn), group.left) for group in outward.groups] == [
        ("dependsOn", 1, 0),
        ("xref", DRAWN, 3),
    ]
    assert (len(inward.lines), len(outward.lines)) == (1, 1 + DRAWN)
    assert inward.rows == outward.rows == 2 + (1 + DRAWN + 1)


def test_a_node_without_edges_has_a_picture_too():
    inward, outward = sides([])
    assert (inward.lines, outward.lines, inward.rows) == ([], [], 1)


async def test_a_neighbour_leads_to_its_own_neighbourhood(client):
    page = await client.get("/neighbourhood?uid=manual.page-1")
    assert 'href="/neighbourhood?uid=manual&amp;locale=en-us"' in page.text
    assert (await client.get("/neighbourhood?uid=nobody")).status_code == 404


# Learning paths


def step(uid, *required_by):
    fields = {"locale": "en-us", "kind": "module", "title": uid, "url": None, "level": None, "minutes": 5}
    return LearningStep(uid=uid, required_by=list(required_by), teaches=[], alternatives=[], **fields)


def test_an_arc_leads_from_each_prerequisite_to_what_requires_it():
    drawn = picture([step("a", "b", "c", "elsewhere"), step("b"), step("c", "a")])
    assert drawn.height == 3 * ROW
    assert [y for _, y in drawn.dots] == [ROW // 2, ROW + ROW // 2, 2 * ROW + ROW // 2]
    assert [arc.long for arc in drawn.arcs] == [False, True]  # a to b beside it, a to c around it; none upwards


async def test_the_learner_says_what_is_known(client, toolbox):
    await client.get("/learning-path?goal=course.second&known=a,+b&level=beginner&minutes=30")
    assert toolbox.asked[-1] == LearningPathRequest(
        goal="course.second", known_skills=["a", "b"], level="beginner", minutes=30
    )


@pytest.mark.parametrize("minutes", ["", "0", "x", "-5", "٣"])
def test_minutes_that_are_none_are_left_out(minutes):
    assert PathLink(goal="g", minutes=minutes).request().minutes is None


async def test_what_is_missing_and_what_goes_round_is_said(client):
    page = await client.get("/learning-path?goal=course.second")
    for said in ("Algebra", "course.a → course.b", "Not all the way:", "course.other"):
        assert said in page.text
    assert 'href="/learning-path?goal=course.second&amp;known=course.first"' in page.text


# The guard


async def test_a_query_is_shown_from_its_text_to_its_rows(client):
    page = await client.get("/graph?cypher=MATCH+(n:Page)--(m)+RETURN+n.uid")
    text = html.unescape(page.text)
    assert "NodePattern variable='n'" in text
    assert "only a visible n matches" in text
    assert "MATCH (n:Page) RETURN n.uid AS uid, 3 AS n LIMIT 101" in text


@pytest.mark.parametrize("path", ["/status", "/runs", "/runs?id=run-1", "/compare?q=a", "/neighbourhood?uid=a"])
async def test_a_page_has_no_style_or_script_of_its_own(client, path):
    page = await client.get(path)
    assert "style=" not in page.text
    assert re.findall(r"<script[^>]*>", page.text) == ['<script type="module" src="/static/console.js">']
