"""The log of runs on the surfaces: the command line, REST, and what the console leaves out of it."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from starlette.datastructures import QueryParams

from service import bootstrap
from service.domain.principal import Scope
from service.surfaces.application import application
from service.surfaces.command_line import main
from service.surfaces.console.search_page import SearchLink
from tests.application import write_estate
from tests.surfaces.conftest import OWNER_TOKEN
from tests.surfaces.serving import PATIENT

pytestmark = pytest.mark.timeout(120)

OWNER = {"Cogitave-Query-Owner": OWNER_TOKEN}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    assert main(["--data", str(folder / "data"), "publish", str(write_estate(folder / "estate"))]) == 0
    return folder / "data"


def run(capsys: pytest.CaptureFixture[str], data: Path, *words: str) -> tuple[int, dict]:
    capsys.readouterr()
    code = main(["--data", str(data), "--json", *words])
    return code, json.loads(capsys.readouterr().out)


def test_runs_are_listed_shown_and_asked_again(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = run(capsys, data, "search", "query the graph")
    code, listed = run(capsys, data, "runs", "list", "--limit", "1")
    assert (code, [kept["runId"] for kept in listed["runs"]]) == (0, [found["runId"]])
    code, shown = run(capsys, data, "runs", "show", found["runId"])
    assert (code, shown["text"], shown["contentRoot"]) == (0, None, found["contentRoot"])
    assert [hit["uid"] for hit in shown["hits"]] == [hit["uid"] for hit in found["hits"]]
    assert run(capsys, data, "runs", "show", found["runId"][:12])[1]["runId"] == found["runId"]
    code, again = run(capsys, data, "runs", "replay", found["runId"], "--text", "query the graph")
    assert (code, again["sameOrder"], again["sameSnapshot"]) == (0, True, True)
    code, again = run(capsys, data, "runs", "replay", found["runId"], "--text", "warm hues")
    assert (code, again["sameOrder"], again["sameText"]) == (4, False, None)


def test_another_question_than_the_runs_is_said_to_be_one(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGITAVE_QUERY_RUN_LOG_TEXTS", "true")
    _, found = run(capsys, data, "search", "query the graph")
    for words, same in (((), True), (("--text", "query the graph"), True), (("--text", "warm hues"), False)):
        _, again = run(capsys, data, "runs", "replay", found["runId"], *words)
        assert (again["sameText"], again["sameOrder"]) == (same, same)
    main(["--data", str(data), "runs", "replay", found["runId"], "--text", "warm hues"])
    assert "Another question than the run's" in capsys.readouterr().out


def test_runs_have_pages_for_people(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = run(capsys, data, "search", "query the graph")
    for words, shown in (
        (("list",), "(not kept)"),
        (("show", found["runId"]), "lexical 1"),
        (("replay", found["runId"], "--text", "query the graph"), "the same order"),
    ):
        assert main(["--data", str(data), "runs", *words]) == 0
        assert shown in capsys.readouterr().out


@pytest.mark.parametrize("command", ["show", "replay"])
def test_a_run_that_is_not_kept_is_refused(data: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = run(capsys, data, "runs", command, "nothing")
    assert (code, document["error"]["code"]) == (3, "run_unknown")


def test_a_replay_without_words_says_what_it_needs(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = run(capsys, data, "search", "query the graph")
    code, document = run(capsys, data, "runs", "replay", found["runId"])
    assert (code, document["error"]["code"]) == (3, "query_empty")


def test_over_rest_runs_are_for_operators(data: Path) -> None:
    """Without the scope, neither a list nor a run is shown, and nothing is asked again."""
    settings = PATIENT.model_copy(update={"authentication": "required", "anonymous_scopes": (Scope.SEARCH,)})

    async def work() -> None:
        async with bootstrap.open_toolbox(PATIENT, data) as toolbox:
            app = application(toolbox, settings, owner_token=OWNER_TOKEN)
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
                found = (await client.post("/v1/search", json={"text": "query the graph"})).json()
                asked = {"runs": {}, "runs/show": {"runId": found["runId"]}}
                asked["runs/replay"] = {"runId": found["runId"], "text": "query the graph"}
                for path, body in asked.items():
                    refused = await client.post(f"/v1/{path}", json=body)
                    assert refused.status_code in (401, 403)
                    assert found["runId"] not in refused.text
                    assert (await client.post(f"/v1/{path}", json=body, headers=OWNER)).status_code == 200
                lost = await client.post("/v1/runs/show", json={"runId": "nothing"}, headers=OWNER)
                assert (lost.status_code, lost.json()["code"]) == (404, "run_unknown")

    asyncio.run(work())


@pytest.mark.parametrize(("address", "kept"), [("q=rank&typing", False), ("q=rank", True), ("q=rank&typing=1", False)])
def test_the_console_keeps_no_run_of_what_is_still_being_typed(address: str, kept: bool) -> None:
    link = SearchLink.read(QueryParams(address))
    assert link.request().logged is kept
    assert "typing" not in str(link)
