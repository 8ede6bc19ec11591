"""A tuning over REST: its version as an entity tag, and who wrote what in the audit log."""

import httpx
import pytest

from service.domain.principal import Scope
from service.domain.tuning import ReplaceTuningRequest, RollbackTuningRequest, TuningRequest
from tests.surfaces.access import bearer, service
from tests.surfaces.fake_toolbox import TUNING, FakeToolbox

pytestmark = pytest.mark.anyio

CONTENT = {"pins": [{"words": "fusion", "uid": "a"}], "synonyms": [{"terms": ["k8s", "kubernetes"]}]}


async def test_a_version_is_its_entity_tag(client: httpx.AsyncClient, toolbox: FakeToolbox) -> None:
    answer = await client.get("/v1/tuning")
    assert (answer.status_code, answer.headers["etag"]) == (200, '"3"')
    assert answer.json() == TUNING.model_dump(mode="json", by_alias=True)
    answer = await client.get("/v1/tuning?workspace=other&version=2")
    assert (answer.json()["workspace"], answer.headers["etag"]) == ("other", '"2"')
    assert toolbox.asked[-1] == TuningRequest(workspace="other", version=2)
    answer = await client.get("/v1/tuning?version=9")
    assert (answer.status_code, answer.json()["code"]) == (404, "tuning_unknown")


async def test_a_version_is_replaced_by_whoever_has_read_it(client: httpx.AsyncClient, toolbox: FakeToolbox) -> None:
    path = "/v1/tuning?workspace=other&reason=because"
    answer = await client.put(path, json=CONTENT, headers={"If-Match": '"3"'})
    assert (answer.status_code, answer.headers["etag"], answer.json()["version"]) == (200, '"4"', 4)
    assert toolbox.asked == [
        ReplaceTuningRequest.model_validate(CONTENT | {"version": 3, "workspace": "other", "reason": "because"})
    ]
    answer = await client.put(path, json=CONTENT, headers={"If-Match": '"2"'})
    assert (answer.status_code, answer.json()["code"], answer.json()["suggestion"]) == (412, "tuning_changed", "3")


@pytest.mark.parametrize("tag", [None, "*", "", "3", '"x"', '"03"', '"3", "4"', '"-1"', '"٣"'.encode()])
async def test_whoever_names_no_version_replaces_none(
    client: httpx.AsyncClient, toolbox: FakeToolbox, tag: str | bytes | None
) -> None:
    headers = {} if tag is None else {"If-Match": tag}
    answer = await client.put("/v1/tuning", json=CONTENT, headers=headers)  # type: ignore[arg-type]
    assert (answer.status_code, answer.json()["code"]) == (428, "version_required")
    assert toolbox.asked == []


@pytest.mark.parametrize(
    "content",
    [
        [],
        {"pin": []},
        {"pins": [{"words": "a"}]},
        {"pins": [{"words": "a", "uid": "b", "place": 0}]},
        {"pins": [{"words": "a", "uid": "b", "place": "1"}]},
        {"pins": [{"words": "a", "uid": "b", "until": "tomorrow"}]},
        {"pins": [{"words": "a", "uid": "b", "match": "some"}]},
        {"synonyms": [{"terms": []}]},
        {"synonyms": [{"of": "a"}]},
    ],
)
async def test_content_of_the_wrong_shape_is_refused(
    client: httpx.AsyncClient, toolbox: FakeToolbox, content: object
) -> None:
    answer = await client.put("/v1/tuning", json=content, headers={"If-Match": '"3"'})
    assert (answer.status_code, answer.json()["code"]) == (422, "request_invalid")
    assert toolbox.asked == []


async def test_content_is_json_alone(client: httpx.AsyncClient) -> None:
    answer = await client.put("/v1/tuning", content="{}", headers={"If-Match": '"3"', "Content-Type": "text/plain"})
    assert (answer.status_code, answer.json()["code"]) == (415, "media_type_refused")


async def test_history_difference_and_rollback(client: httpx.AsyncClient, toolbox: FakeToolbox) -> None:
    history = (await client.get("/v1/tuning/history?limit=2")).json()
    assert [one["version"] for one in history["versions"]] == [3, 2]
    told = (await client.get("/v1/tuning/difference?before=2&after=3")).json()
    assert ([pin["uid"] for pin in told["addedPins"]], told["removedPins"]) == (["manual.page-1"], [])
    answer = await client.post("/v1/tuning/rollback", json={"to": 1, "version": 3, "reason": "oops"})
    assert (answer.status_code, answer.json()["restored"]) == (200, 1)
    assert toolbox.asked[-1] == RollbackTuningRequest(to=1, version=3, reason="oops")


async def test_each_change_is_audited_and_no_word_of_it() -> None:
    async with service(FakeToolbox()) as running:
        key = bearer(running.keys.issue(Scope.OPERATE, name="the editor"))
        await running.client.put("/v1/tuning?reason=secretly", json=CONTENT, headers={**key, "If-Match": '"3"'})
        await running.client.post("/v1/tuning/rollback", json={"to": 1, "version": 3}, headers=key)
        await running.client.put("/v1/tuning", json=CONTENT, headers={**key, "If-Match": '"1"'})
        await running.client.get("/v1/tuning", headers=key)
    told = [
        {k: v for k, v in event.items() if k not in ("address", "method", "path")} for event in running.audit.events
    ]
    who = told[0]["principal"]
    assert who.startswith("key:")
    assert told == [
        {
            "event": "tuning changed",
            "outcome": "done",
            "principal": who,
            "workspace": "default",
            "from": 3,
            "version": 4,
            "pins": 1,
            "synonyms": 1,
        },
        {
            "event": "tuning rolled back",
            "outcome": "done",
            "principal": who,
            "workspace": "default",
            "from": 3,
            "to": 1,
            "version": 4,
            "pins": 2,
            "synonyms": 2,
        },
        {
            "event": "tuning changed",
            "outcome": "failed",
            "principal": who,
            "workspace": "default",
            "from": 1,
            "code": "tuning_changed",
        },
    ]
