"""What a person sees and does, in a real browser."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from service.domain.errors import AllLegsDown, EngineUnavailable, NodeUnknown
from service.domain.requests import SearchRequest
from service.domain.results import LegReport, SearchExplanation
from service.settings import Settings
from service.surfaces.application import application
from tests.surfaces.fake_toolbox import WINDOW, K, hit, search_result, vote
from tests.surfaces.serving import served

PHONE = {"viewport": {"width": 360, "height": 740}}
HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>{{7*7}}&amp;"\'\u202e'


def focused(page):
    return page.evaluate("document.activeElement.textContent")


def test_answers_come_as_one_types(url, open_page):
    page = open_page(url)
    expect(page.get_by_role("heading", name="Ask the documentation")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("rank fusion")
    expect(page.locator(".hit")).to_have_count(10)
    expect(page.get_by_role("status")).to_have_text(f"10 of {WINDOW} in reach · 2.5 ms")
    expect(page.locator("mark").first).to_have_text("rank fusion")
    expect(page).to_have_url(f"{url}/?q=rank+fusion")


def test_the_answer_of_the_last_key_stays(url, open_page, toolbox):
    page = open_page(url)
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("rank fusion votes", delay=20)
    expect(page).to_have_title("rank fusion votes · Cogitave Query")
    expect(page.locator(".hit")).to_have_count(10)
    assert [request.text for request in toolbox.asked if request is not None][-1] == "rank fusion votes"


def test_only_what_was_asked_to_the_end_is_kept_as_a_run(url, open_page, toolbox):
    page = open_page(url)
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("rank fusion")
    expect(page).to_have_title("rank fusion · Cogitave Query")
    searches = [request for request in toolbox.asked if isinstance(request, SearchRequest)]
    assert searches
    assert not any(request.logged for request in searches)
    expect(page).to_have_url(f"{url}/?q=rank+fusion")
    page.keyboard.press("Enter")
    page.wait_for_function("history.length > 2")
    assert toolbox.asked[-1].logged


def test_hits_are_walked_by_keys(url, open_page):
    page = open_page(f"{url}/?q=fusion")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("ArrowDown")
    assert focused(page) == "Page 1"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "Page 3"
    page.keyboard.press("ArrowUp")
    assert focused(page) == "Page 2"
    page.keyboard.press("e")
    expect(page.locator(".hit").nth(1).locator(".bars")).to_be_visible()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("searchbox")).to_be_focused()
    for _ in range(12):
        page.keyboard.press("ArrowDown")
    assert focused(page) == "Page 10"
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_enter_opens_the_hit(url, open_page, toolbox):
    toolbox.answer = search_result([hit(1, url=None)])
    page = open_page(f"{url}/?q=fusion")
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/node?uid=manual.page-1&locale=en-us#votes")
    expect(page.get_by_role("heading", level=1)).to_have_text("Page")
    expect(page.get_by_role("link", name="Manual", exact=True)).to_have_attribute(
        "href", "/node?uid=manual&locale=en-us"
    )


def test_focus_is_seen(url, open_page):
    page = open_page(f"{url}/?q=fusion")
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_bars_show_what_each_leg_gave(url, open_page):
    """Hit 3: rank 3 of the lexical leg, rank 4 of the vector leg; the scale ends at twice the vote of a first place."""
    page = open_page(f"{url}/?q=fusion")
    third = page.locator(".hit").nth(2)
    third.get_by_text("Why here").click()
    notes = third.locator(".note").all_text_contents()
    assert notes[0] == f"rank 3 · vote {1 / (K + 3):.5f} · score 12.500"
    assert notes[1] == f"rank 4 · vote {1 / (K + 4):.5f} · score 0.750"
    fused = (vote(3) + vote(4)) / (2 * vote(1))
    assert notes[2] == f"{fused:.4f} of 1"
    assert notes[3] == "× 1.050 · for net-8.0 · 2 places up"
    tracks = [track.bounding_box() for track in third.locator(".track").all()]
    parts = [part.bounding_box() for part in third.locator(".part").all()]
    shares = [part["width"] / track["width"] for part, track in zip(parts, tracks, strict=True)]
    best = 2 * vote(1) * max(1, fused * 1.05)
    assert shares[:3] == pytest.approx([vote(3) / best, vote(4) / best, (vote(3) + vote(4)) / best], abs=0.01)
    assert parts[1]["x"] == pytest.approx(parts[0]["x"] + parts[0]["width"], abs=1)


def test_filters_narrow_and_widen(url, open_page, toolbox):
    page = open_page(f"{url}/?q=fusion")
    page.get_by_label("page 13").check()
    page.wait_for_url("**/?q=fusion&filter=kind%3Dpage")
    expect(page.get_by_label("page 13")).to_be_checked()
    assert toolbox.asked[-1].filter == {"kind": ["page"]}
    page.get_by_label("page 13").uncheck()
    page.wait_for_url(re.compile(r"/\?q=fusion$"))
    assert toolbox.asked[-1].filter == {}


def test_more_results_are_added_until_there_are_none(url, open_page):
    page = open_page(f"{url}/?q=fusion")
    page.get_by_role("link", name="More results").click()
    expect(page.locator(".hit")).to_have_count(20)
    assert focused(page) == "Page 11"
    page.get_by_role("link", name="More results").click()
    expect(page.locator(".hit")).to_have_count(WINDOW)
    expect(page.get_by_role("link", name="More results")).to_have_count(0)


def test_back_shows_the_search_before(url, open_page):
    page = open_page(url)
    for text in ("first", "second"):
        page.get_by_role("searchbox").fill(text)
        page.keyboard.press("Enter")
        expect(page).to_have_title(f"{text} · Cogitave Query")
    page.go_back()
    expect(page).to_have_title("first · Cogitave Query")
    expect(page.get_by_role("searchbox")).to_have_value("first")


def test_why_not(url, open_page, toolbox):
    page = open_page(f"{url}/?q=fusion")
    page.get_by_text("A page is missing?").click()
    page.get_by_label("Its uid").fill("manual.page-30")
    page.keyboard.press("Enter")
    expect(page.locator("#verdict")).to_have_text("It lies deeper than the legs reach. Rank 140 of the lexical leg.")
    expect(page.locator(".rungs li")).to_have_class(["passed", "passed", "stopped", "unreached", "unreached"])
    assert (toolbox.asked[-1].uid, toolbox.asked[-1].search.text) == ("manual.page-30", "fusion")
    expect(page.locator(".hit")).to_have_count(10)


def test_a_missing_leg_and_notices_are_said(url, open_page, toolbox):
    legs = [
        LegReport(leg="lexical", engine="tantivy", state="live", hits=1, took_ms=1.0),
        LegReport(leg="vector", engine="qdrant-edge", state="down", hits=0, took_ms=0.0, reason="The shard is gone."),
    ]
    explain = SearchExplanation(legs=legs, anchors=[], timings_ms={}, k=K, as_of="2026-11-30T12:00:00Z")
    toolbox.answer = search_result(
        [hit(1, unverified=True)],
        degraded=["vector: The shard is gone."],
        notices=["Stop words only."],
        explain=explain,
    )
    page = open_page(f"{url}/?q=fusion")
    expect(page.locator(".notice")).to_have_text(["Answered without vector. The shard is gone.", "Stop words only."])
    expect(page.locator(".hit .flag")).to_have_text("unverified: the graph was down")


def test_nothing_found_is_said(url, open_page, toolbox):
    toolbox.answer = search_result([], total=0)
    page = open_page(f"{url}/?q=xyzzy")
    expect(page.get_by_role("status")).to_contain_text("Nothing found")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()


def test_a_failure_is_said_and_the_next_search_recovers(url, open_page, toolbox):
    toolbox.failure = AllLegsDown("No leg can answer.")
    page = open_page(f"{url}/?q=fusion")
    expect(page.get_by_role("alert")).to_contain_text("No leg can answer.")
    toolbox.failure = None
    page.get_by_role("searchbox").fill("rank")
    expect(page.locator(".hit")).to_have_count(10)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_markup_in_content_is_text(url, open_page, toolbox):
    nasty = hit(
        1,
        title=HOSTILE,
        uid=HOSTILE,
        docset=HOSTILE,
        type=HOSTILE,
        url="javascript:document.title=3",
        passage={"text": HOSTILE * 20, "heading": HOSTILE, "anchor": HOSTILE, "highlights": [(1, 9), (5, 90)]},
    )
    toolbox.answer = search_result(
        [nasty], facets={"kind": {HOSTILE: 1}}, notices=[HOSTILE], degraded=[HOSTILE], run_id=HOSTILE
    )
    page = open_page(f"{url}/?q=%3Cscript%3Edocument.title%3D4%3C%2Fscript%3E")
    assert page.locator(".title").text_content() == HOSTILE
    assert page.locator("#answer img, #answer script, #chips script").count() == 0
    page.get_by_role("searchbox").fill("once more, by the script")
    expect(page).to_have_title("once more, by the script · Cogitave Query")
    assert page.locator(".title").text_content() == HOSTILE
    assert page.locator("#answer img, #answer script, #chips script").count() == 0
    assert page.locator(".title").get_attribute("href").startswith("/node?uid=%3Cimg")


def test_without_a_script_it_works_too(url, open_page):
    page = open_page(url, java_script_enabled=False)
    page.get_by_role("searchbox").fill("rank fusion")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".hit")).to_have_count(10)
    page.get_by_role("link", name="More results").click()
    expect(page.locator(".title").first).to_have_text("Page 11")


def test_the_guard_points_at_what_it_refuses(url, open_page):
    page = open_page(f"{url}/graph")
    page.get_by_label("Query").fill("MATCH (n) DELETE n")
    page.get_by_role("button", name="Run").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Line 1, column 11")
    expect(alert.locator("mark")).to_have_text("DELETE")
    expect(alert).to_contain_text("Ask with MATCH … RETURN alone.")
    expect(page.get_by_label("Query")).to_have_value("MATCH (n) DELETE n")


def test_rows_are_shown_with_what_was_run(url, open_page):
    page = open_page(f"{url}/graph?cypher=MATCH+(n:Page)+RETURN+n.uid")
    expect(page.get_by_role("cell")).to_have_text(["manual.page-1", "3"])
    expect(page.get_by_role("status")).to_contain_text("1 row, and there are more")


def test_a_page_that_is_not_there_leads_back(url, open_page):
    page = open_page(f"{url}/nothing")
    expect(page.get_by_role("heading", level=1)).to_have_text("No such page")
    page.get_by_role("main").get_by_role("link", name="Search").press("Enter")
    expect(page.get_by_role("searchbox")).to_be_focused()


def test_an_example_is_run_and_the_refusal_shown(url, open_page):
    page = open_page(f"{url}/graph")
    page.get_by_role("link", name="A module and its units, in order").press("Enter")
    expect(page.get_by_label("Query")).to_have_value(re.compile("^MATCH .u:Unit"))
    expect(page.get_by_role("cell")).to_have_text(["manual.page-1", "3"])


def test_a_uid_is_found_by_its_name(url, open_page):
    page = open_page(f"{url}/neighbourhood")
    page.get_by_label("Node").press_sequentially("page")
    expect(page.locator("datalist option")).to_have_attribute("value", "manual.page-1")
    expect(page.locator("datalist option")).to_have_attribute("label", "Page 1 · page")


def test_filters_stand_beside_the_hits_where_there_is_room(url, open_page):
    page = open_page(f"{url}/?q=fusion", viewport={"width": 1440, "height": 900})
    filters, hits = page.locator("#chips").bounding_box(), page.locator("#hits").bounding_box()
    assert filters["x"] + filters["width"] < hits["x"]
    assert hits["y"] < 220
    page.set_viewport_size({"width": 820, "height": 900})
    filters, hits = page.locator("#chips .chips").bounding_box(), page.locator("#hits").bounding_box()
    assert filters["y"] + filters["height"] < hits["y"]


@pytest.mark.parametrize("width", [360, 820, 1440])
def test_where_one_is_is_seen_in_the_navigation(url, open_page, width):
    page = open_page(f"{url}/diagnostics", viewport={"width": width, "height": 740})
    box = page.locator("nav [aria-current]").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


def test_paper_shows_the_answer_without_its_controls(url, open_page):
    page = open_page(f"{url}/?q=fusion", color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="Search")).to_be_hidden()
    expect(page.locator(".top nav")).to_be_hidden()
    expect(page.locator(".hit").first).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


PAGES = {
    "first page": "/",
    "hits": "/?q=fusion&filter=kind%3Dpage&uid=manual.page-30",
    "node": "/node?uid=manual.page-1",
    "no node": "/node?uid=nobody",
    "graph": "/graph",
    "rows": "/graph?cypher=MATCH+(n)+RETURN+n",
    "violation": "/graph?cypher=MATCH+(n)+DELETE+n",
    "diagnostics": "/diagnostics",
    "who asks": "/?q=fusion&role=developer&level=beginner",
    "status": "/status",
    "runs": "/runs",
    "runs without a hit": "/runs?show=empty",
    "run": "/runs?id=run-1",
    "replay": "/runs?id=run-1&replay=1",
    "a run without words": "/runs?id=run-3",
    "no run": "/runs?id=nothing",
    "compare": "/compare",
    "compared": "/compare?q=fusion&b.off=prior&b.role=developer",
    "no page": "/nothing",
    "nothing found": "/?q=fusion&filter=kindz%3Dpage",
    "where to begin": "/neighbourhood",
    "no goal": "/learning-path?goal=nobody",
    "signing in": "/sign-in",
    "neighbourhood": "/neighbourhood?uid=manual.page-1",
    "learning path": "/learning-path?goal=course.second",
    "judging": "/judge?q=fusion",
    "judged": "/judge?saved=3",
    "tuning": "/tuning",
    "tuned": "/tuning?saved=4",
}


@pytest.mark.parametrize(("scheme", "size"), [("light", {}), ("dark", {}), ("dark", PHONE)])
@pytest.mark.parametrize("name", PAGES)
def test_no_page_shuts_anyone_out(url, open_page, name, scheme, size):
    page = open_page(url + PAGES[name], color_scheme=scheme, **size)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
    results = Axe().run(page, options=options)
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_shows_the_whole_width(url, open_page, name):
    page = open_page(url + PAGES[name], **PHONE)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("path", ["/judge?q=a", "/compare?q=a", "/?q=a&role=a"])
def test_long_titles_widen_no_page_of_hits(url, open_page, toolbox, path):
    toolbox.answer = search_result([hit(1, title="A title that goes on " * 12)])
    page = open_page(url + path, **PHONE)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_long_words_do_not_widen_a_phone(url, open_page, toolbox):
    word = "Überlänge" * 60
    passage = {"text": word, "heading": word, "anchor": "", "highlights": [(3, 400)]}
    toolbox.answer = search_result([hit(1, title=word, uid=word, docset=word, passage=passage)], notices=[word])
    page = open_page(f"{url}/?q={word}", **PHONE)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_dark_is_dark(url, open_page):
    def brightness(scheme):
        page = open_page(url, color_scheme=scheme)
        red, green, blue = map(
            int, re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))
        )
        return (red + green + blue) / 3

    assert brightness("dark") < 40
    assert brightness("light") > 230


def test_a_wrong_engine_shows_on_the_first_page(url, open_page, toolbox):
    toolbox.ready = False
    page = open_page(url)
    expect(page.locator(".engines .down")).to_have_text("vector: qdrant-edge not ready: no shard")


@pytest.mark.parametrize(
    ("failure", "status"), [(EngineUnavailable("tantivy", "closed"), 503), (NodeUnknown("No."), 404)]
)
def test_a_page_that_fails_says_so_to_programs_too(url, browser, toolbox, failure, status):
    toolbox.failure = failure
    context = browser.new_context()
    assert context.request.get(f"{url}/node?uid=a").status == status
    context.close()


def test_a_phones_button_holds_its_word(url, open_page):
    page = open_page(url, **PHONE)
    button = page.get_by_role("button", name="Search")
    assert button.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_a_late_answer_is_said(open_page, toolbox):
    with served(application(toolbox, Settings(request_deadline=200))) as url:
        page = open_page(url)
        toolbox.hang = True
        page.get_by_role("searchbox").fill("fusion")
        expect(page.get_by_role("status")).to_have_text("No answer within 200 ms. Ask for less, or try again.")
        toolbox.hang = False
        page.get_by_role("searchbox").fill("rank fusion")
        expect(page.locator(".hit")).to_have_count(10)


def test_diagnostics_are_narrowed_by_keys_alone(url, open_page):
    page = open_page(f"{url}/diagnostics", **PHONE)
    expect(page.locator(".finding")).to_have_count(3)
    page.get_by_label("File").focus()
    page.keyboard.type("graph")
    page.keyboard.press("Enter")
    expect(page.locator(".finding .place")).to_have_text(["articles/graph.md:7:1"])
    page.get_by_label("Severity").focus()
    page.keyboard.type("err")
    page.get_by_role("button", name="Narrow").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("None of this kind")


def test_names_are_offered_while_one_types(url, open_page, toolbox):
    page = open_page(url)
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("page")
    names = page.get_by_role("navigation", name="Pages of that name")
    expect(names.get_by_role("link")).to_have_text("Page 1 page")
    expect(page).to_have_url(f"{url}/?q=page")
    names.get_by_role("link").press("Enter")
    page.wait_for_url("**/node?uid=manual.page-1&locale=en-us")


def test_who_asks_ranks_anew_and_stands_in_the_address(url, open_page, toolbox):
    page = open_page(f"{url}/?q=fusion")
    page.get_by_text("Who asks").press("Enter")
    page.get_by_label("Level").select_option("beginner")
    page.wait_for_url("**/?q=fusion&level=beginner")
    page.get_by_label("Role").fill("developer")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=fusion&role=developer&level=beginner")
    searches = [request for request in toolbox.asked if isinstance(request, SearchRequest)]
    assert (searches[-1].profile.role, searches[-1].profile.level) == ("developer", "beginner")


def test_a_run_is_found_opened_and_asked_again_by_keys(url, open_page):
    page = open_page(f"{url}/runs", **PHONE)
    page.get_by_role("link", name="without a hit").press("Enter")
    expect(page.locator(".runs li")).to_have_count(1)
    page.get_by_role("link", name="all").press("Enter")
    page.get_by_role("link", name="rank fusion").press("Enter")
    expect(page.locator(".ranked > li")).to_have_count(2)
    page.get_by_role("button", name="Ask it again").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Hits have moved")
    expect(page.get_by_role("status").locator("tbody tr")).to_have_count(2)


def test_two_ways_of_asking_are_chosen_by_keys(url, open_page, toolbox):
    page = open_page(f"{url}/compare", **PHONE, java_script_enabled=False)
    page.get_by_label("Your question").fill("fusion")
    page.locator(".side").nth(0).get_by_label("age").press("Space")
    page.locator(".side").nth(1).get_by_placeholder("developer").fill("developer")
    page.get_by_role("button", name="Compare").press("Enter")
    expect(page.locator(".column")).to_have_count(2)
    expect(page.get_by_role("status")).to_have_text("The same order on both sides")
    assert [request.without_signals for request in toolbox.asked] == [["age"], ["prior"]]
    assert toolbox.asked[1].profile.role == "developer"


def test_a_neighbourhood_is_walked_by_keys(url, open_page):
    page = open_page(f"{url}/neighbourhood?uid=manual.page-1")
    expect(page.locator(".line")).to_have_count(1)
    page.get_by_role("region", name="Where this leads").get_by_role("link", name="Manual").press("Enter")
    page.wait_for_url("**/neighbourhood?uid=manual&locale=en-us")
    expect(page.locator(".centre .uid")).to_have_text("manual")


@pytest.mark.parametrize("size", [{}, PHONE])
def test_a_steps_dot_stands_beside_it(url, open_page, size):
    page = open_page(f"{url}/learning-path?goal=course.second", **size)
    dots = [dot.bounding_box() for dot in page.locator(".dot").all()]
    steps = [step.bounding_box() for step in page.locator(".way li").all()]
    assert len(dots) == len(steps) == 2
    for dot, step in zip(dots, steps, strict=True):
        assert dot["y"] + dot["height"] / 2 == pytest.approx(step["y"] + step["height"] / 2, abs=2)
    for link in page.get_by_role("link", name="Known").all():
        box = link.bounding_box()
        assert box["x"] + box["width"] <= page.viewport_size["width"]


def test_the_status_keeps_itself_fresh_when_asked_to(url, open_page, toolbox):
    page = open_page(f"{url}/status")
    toolbox.ready = False
    page.get_by_label("Keep fresh").press("Space")
    expect(page.locator(".verdict-line")).to_have_text("Not ready: searches are not answered.")


def test_hits_are_graded_by_keys_and_kept(url, open_page, judgments):
    page = open_page(f"{url}/compare?q=fusion", **PHONE)
    page.get_by_role("link", name="Judge their hits blind").press("Enter")
    expect(page.locator(".judging .hit")).to_have_count(10)
    title = page.locator(".judging .title").first.text_content()
    page.get_by_role("group", name=f"Grade of {title}", exact=True).get_by_label("3").press("Space")
    page.get_by_role("button", name="Keep the grades").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Kept.")
    assert judgments.count() == (1, 1)
