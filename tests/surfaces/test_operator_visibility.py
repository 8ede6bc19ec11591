"""Who runs the service learns no hidden name by it: of runs and findings that name what the operator may not see, there
is a count and nothing else."""

import json

import pytest

from service import bootstrap
from service.domain.principal import Scope
from service.domain.requests import PublishRequest
from service.tools import catalogue
from tests.surfaces.access import bearer, listed_routes, service
from tests.surfaces.hidden_estate import CLASS, MARK, write_whole
from tests.surfaces.serving import PATIENT

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

SETTINGS = PATIENT.model_copy(update={"authentication": "required", "run_log_texts": True})

FLAWED = {
    "secret/flawed.md": f"""---
uid: secret.flawed
title: Flawed
---
# Flawed

See [a page that is not there]({MARK}-lost.md).
""",
    "flawed.md": """---
uid: flawed
title: Flawed in the open
---
# Flawed in the open

See [a page that is not there](lost.md).
""",
    "circle.md": """---
uid: circle
title: One of a circle
---
# One of a circle

## Prerequisites

- [The other](secret/circle.md)
""",
    "secret/circle.md": f"""---
uid: secret.{MARK}.circle
title: The other of a circle
---
# The other

## Prerequisites

- [The one](../circle.md)
""",
    "twin.md": f"---\nuid: secret.{MARK}\ntitle: Of the same name\n---\n\nTwo have one uid.\n",
}


@pytest.fixture
async def running(tmp_path):
    estate = write_whole(tmp_path / "estate")
    for path, text in FLAWED.items():
        (estate / path).write_text(text)
    async with bootstrap.open_toolbox(SETTINGS, tmp_path / "data") as toolbox, service(toolbox, SETTINGS) as running:
        await toolbox.publish(PublishRequest(paths=[str(estate)]))
        yield running


def key(running, *classes):
    return bearer(running.keys.issue(*Scope, classes=classes))


async def search(running, headers):
    answer = await running.client.post("/v1/search", json={"text": f"the {MARK} plan"}, headers=headers)
    return answer.json()["runId"]


async def test_nothing_that_an_operator_is_shown_names_what_it_may_not_see(running):
    staff, operator = key(running, CLASS), key(running, "sales")
    hidden_run = await search(running, staff)
    told = {}
    for tool in catalogue.OPERATOR_TOOLS:
        asked = {"runId": hidden_run} if "run_id" in tool.request.model_fields else {}
        told[tool.name] = answer = await running.client.post(f"/v1/{tool.path}", json=asked, headers=operator)
        assert not asked or (answer.status_code, answer.json()["code"]) == (404, "run_unknown")
    pages = {path for method, path in listed_routes(running.app.routes) if method == "GET" and "{" not in path}
    for path in sorted(pages | {f"/runs?id={hidden_run}", f"/runs?id={hidden_run}&replay=1"}):
        told[path] = await running.client.get(path, headers=operator)
    assert {"/runs", "/diagnostics", "/status", "/metrics", "/judge"} <= told.keys()
    assert [name for name, answer in told.items() if MARK in answer.text.lower()] == []


async def test_who_may_see_it_reads_all_of_it(running):
    staff = key(running, CLASS)
    run = await search(running, staff)
    shown = await running.client.post("/v1/runs/show", json={"runId": run}, headers=staff)
    assert MARK in json.dumps(shown.json()["hits"])
    page = await running.client.get("/diagnostics", headers=staff)
    assert f"{MARK}-lost.md" in page.text
    assert f"secret.{MARK}.circle" in page.text
    assert "that you may not see" not in page.text


async def test_runs_of_others_who_see_no_more_are_shown_and_the_rest_is_counted(running):
    everyones = await search(running, key(running))
    sales = await search(running, key(running, "sales"))
    await search(running, key(running, CLASS))
    await search(running, key(running, CLASS, "sales"))
    answer = (await running.client.post("/v1/runs", json={}, headers=key(running, "sales"))).json()
    assert [run["runId"] for run in answer["runs"]] == [sales, everyones]
    assert answer["withheld"] == 2
    page = await running.client.get("/runs", headers=key(running, "sales"))
    assert "2 more were asked by callers who see what you don't" in page.text.replace("&#39;", "'")


async def test_findings_about_the_open_part_are_shown_and_the_rest_is_counted(running):
    page = await running.client.get("/diagnostics", headers=key(running))
    assert "flawed.md:7" in page.text
    assert "secret/flawed.md" not in page.text
    assert "circle.md" not in page.text
    assert "more are about sources that you may not see" in page.text


async def test_a_docset_is_named_to_an_operator_who_sees_something_of_it(tmp_path):
    opened, closed = tmp_path / "opened", tmp_path / MARK
    for estate in (opened, closed):
        estate.mkdir()
        (estate / "plan.md").write_text(f"---\nuid: {estate.name}.plan\ntitle: Plan\n---\n# Plan\n")
    (closed / "cogitave-query.yml").write_text("visibility:\n  default: [board]\n")
    async with bootstrap.open_toolbox(SETTINGS, tmp_path / "data") as toolbox, service(toolbox, SETTINGS) as running:
        await toolbox.publish(PublishRequest(paths=[str(opened), str(closed)]))
        board = await running.client.get("/diagnostics", headers=key(running, "board"))
        others = await running.client.get("/diagnostics", headers=key(running))
    assert "opened" in board.text
    assert MARK in board.text
    assert "opened" in others.text
    assert MARK not in others.text
