"""Judging blind: what a judge sees, what is kept, and that `evaluate` reads it."""

import html
import re

import httpx
import pytest

from adapters.embedded.judgments import JudgmentFolder, question_id
from service.domain.errors import JudgmentsFull, QueryEmpty, QueryMalformed
from service.evaluation.sets import find_set
from service.settings import Settings
from service.surfaces.application import application
from service.surfaces.console.judge import mixed, read_grades
from tests.surfaces.fake_toolbox import hit

pytestmark = pytest.mark.anyio

ODD = "a uid with spaces, * and (#) | 漢"


@pytest.fixture
def judgments(tmp_path):
    return JudgmentFolder(tmp_path / "judgments", most=5)


@pytest.fixture
async def judging(toolbox, judgments):
    app = application(toolbox, Settings(), judgments=judgments)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        yield client


def test_what_was_judged_is_a_set_to_evaluate(judgments, tmp_path):
    judgments.add("Rank  fusion?", {ODD: 3, "b": 0})
    judgments.add("rank fusion?", {"b": 2})
    judgments.add("Other", {"c": 1})
    judged = find_set(tmp_path / "judgments")
    assert [(query.id, query.text) for query in judged.queries] == [
        (question_id("rank fusion?"), "Rank  fusion?"),
        (question_id("Other"), "Other"),
    ]
    assert judged.judgments == {question_id("rank fusion?"): {ODD: 3, "b": 2}, question_id("Other"): {"c": 1}}
    assert judgments.count() == (2, 3)


def test_no_more_are_kept_than_may_be_and_a_changed_mind_needs_no_room(judgments):
    judgments.add("q", {f"n{number}": 1 for number in range(5)})
    judgments.add("q", {"n0": 3})
    with pytest.raises(JudgmentsFull):
        judgments.add("q", {"n5": 1})
    assert judgments.count() == (1, 5)


def test_two_writers_lose_nothing(judgments, tmp_path):
    other = JudgmentFolder(tmp_path / "judgments", most=5)
    judgments.add("q", {"a": 1})
    other.add("q", {"b": 2})
    judgments.add("r", {"c": 3})
    assert other.count() == (2, 3)


def test_the_order_tells_nothing_of_either_ranking():
    here, there = [hit(number) for number in range(1, 13)], [hit(number) for number in range(12, 0, -1)]
    shown = [one.uid for one in mixed("fusion", (here, there))]
    assert sorted(shown) == sorted(one.uid for one in here)
    assert shown == [one.uid for one in mixed("fusion", (there, here))]
    assert shown != [one.uid for one in here]
    assert shown != [one.uid for one in mixed("another question", (here, there))]


async def test_a_judge_sees_no_score_place_or_origin(judging, toolbox):
    page = await judging.get("/judge?q=fusion&a.off=age&b.off=prior")
    form = page.text.split('class="judging"')[1]
    assert form.count("Passage") == 10
    assert not re.findall(r"\d\.\d{3}|<mark>|rank \d|vote|badge", form.split("</ol>")[0].replace("adds votes", ""))
    assert [request.without_signals for request in toolbox.asked] == [["age"], ["prior"]]
    assert not any(request.logged for request in toolbox.asked)


async def test_grades_are_kept_by_uid(judging, judgments, tmp_path):
    page = await judging.get("/judge?q=fusion")
    uids = [html.unescape(uid) for uid in re.findall(r'name="uid\.\d+" value="([^"]*)"', page.text)]
    form = {f"uid.{number}": uid for number, uid in enumerate(uids)} | {"q": "fusion", "grade.0": "3", "grade.4": "0"}
    answer = await judging.post("/judge", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/judge?saved=2")
    assert find_set(tmp_path / "judgments").judgments == {question_id("fusion"): {uids[0]: 3, uids[4]: 0}}


@pytest.mark.parametrize(
    ("form", "refusal"),
    [
        ({}, QueryEmpty),
        ({"q": ["a"]}, QueryEmpty),
        ({"q": ["a"], "uid.0": ["b"]}, QueryEmpty),
        ({"q": ["a"], "uid.0": ["b"], "grade.0": ["4"]}, QueryMalformed),
        ({"q": ["a"], "uid.0": ["b"], "grade.0": ["٣"]}, QueryMalformed),
        ({"q": ["a"], "grade.0": ["1"]}, QueryMalformed),
        ({"q": ["a"], "uid.0": ["b\tc"], "grade.0": ["1"]}, QueryMalformed),
        ({"q": ["a"], "uid.0": ["b\nc"], "grade.0": ["1"]}, QueryMalformed),
        ({"q": ["a"], "uid.0": ["b" * 2_001], "grade.0": ["1"]}, QueryMalformed),
        ({"q": ["\0"], "uid.0": ["b"], "grade.0": ["1"]}, QueryMalformed),
    ],
)
def test_a_form_that_is_none_is_refused(form, refusal):
    with pytest.raises(refusal):
        read_grades(form)


async def test_a_refused_form_says_why_and_keeps_nothing(judging, judgments):
    answer = await judging.post("/judge", data={"q": "a", "uid.0": "b", "grade.0": "9"})
    assert answer.status_code == 400
    assert "A grade is 0, 1, 2 or 3." in answer.text
    assert (await judging.post("/judge", data={f"x{n}": "1" for n in range(500)})).status_code == 400
    assert judgments.count() == (0, 0)


async def test_other_sites_pages_judge_nothing(judging, judgments):
    form = {"q": "a", "uid.0": "b", "grade.0": "1"}
    answer = await judging.post("/judge", data=form, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert judgments.count() == (0, 0)


async def test_a_server_that_keeps_none_says_so(client):
    assert "keeps no judgments" in (await client.get("/judge?q=fusion")).text
    assert (await client.post("/judge", data={"q": "a"})).status_code == 503
