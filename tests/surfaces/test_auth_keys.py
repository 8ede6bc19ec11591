"""API keys as HTTP sees them: who is let in, for how long, and what a revocation takes."""

import asyncio
import time
from datetime import timedelta

import pytest

from service.domain.keys import split
from service.domain.principal import Scope
from service.settings import Settings
from tests.surfaces.access import OWNER_TOKEN, REQUIRED, bearer, service

pytestmark = pytest.mark.anyio

SEARCH = "/v1/search?q=fusion"


async def test_who_brings_nothing_is_told_what_to_bring(toolbox):
    async with service(toolbox) as running:
        answer = await running.client.get(SEARCH)
    assert (answer.status_code, answer.json()["code"]) == (401, "credentials_missing")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert toolbox.asked == []


async def test_a_key_is_its_principal(toolbox):
    async with service(toolbox) as running:
        text = running.keys.issue(Scope.SEARCH, classes=("staff",))
        answer = await running.client.get(SEARCH, headers=bearer(text))
    assert answer.status_code == 200
    (principal,) = toolbox.principals
    assert principal.name == f"key:{split(text)[0]}"
    assert (principal.audiences, principal.scopes) == ({"staff", "*"}, {Scope.SEARCH})


def changed(text):
    id, secret = split(text)
    return [
        f"cq_{id}_",
        f"cq_{id}_{secret[:-1]}",
        f"cq_{id}_{secret}a",
        f"cq_{'0' * len(id)}_{secret}",
        f"cq_{secret}_{id}",
        f"cq_{id}",
        text.upper(),
        text[3:],
        f"{text} {text}",
        "cq_",
        "",
        "null",
        "cq_" + "a" * 100_000,
        "cq_é_é",
    ]


async def test_what_is_nearly_a_key_is_none(toolbox):
    async with service(toolbox) as running:
        for wrong in changed(running.keys.issue(Scope.SEARCH)):
            answer = await running.client.get(SEARCH, headers={"Authorization": f"Bearer {wrong}".encode()})
            assert (answer.status_code, answer.json()["code"]) == (401, "credentials_invalid"), wrong
            assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert toolbox.asked == []


async def test_another_scheme_is_nobody(toolbox):
    async with service(toolbox) as running:
        text = running.keys.issue(Scope.SEARCH)
        for header in (f"Basic {text}", text, f"Bearer{text}", "Digest a"):
            answer = await running.client.get(SEARCH, headers={"Authorization": header})
            assert (answer.status_code, answer.json()["code"]) == (401, "credentials_missing"), header
        assert (await running.client.get(SEARCH, headers={"Authorization": f"bearer  {text}"})).status_code == 200


async def test_an_expired_key_opens_nothing(toolbox):
    async with service(toolbox) as running:
        expired = running.keys.issue(Scope.SEARCH, lasts=timedelta(seconds=-1))
        valid = running.keys.issue(Scope.SEARCH, lasts=timedelta(hours=1))
        assert (await running.client.get(SEARCH, headers=bearer(expired))).status_code == 401
        assert (await running.client.get(SEARCH, headers=bearer(valid))).status_code == 200


async def test_a_revocation_holds_once_what_is_known_is_stale(toolbox):
    settings = REQUIRED.model_copy(update={"key_staleness": 300})
    async with service(toolbox, settings) as running:
        text = running.keys.issue(Scope.SEARCH)
        assert (await running.client.get(SEARCH, headers=bearer(text))).status_code == 200
        id, _ = split(text)
        await running.keys.revoke(id, running.keys.keys[id].created_at, deadline=None)
        began = time.monotonic()
        while (await running.client.get(SEARCH, headers=bearer(text))).status_code == 200:
            assert time.monotonic() - began < 5
            await asyncio.sleep(0.02)


async def test_the_store_is_asked_once_in_a_while(toolbox):
    settings = REQUIRED.model_copy(update={"key_staleness": 600_000})
    async with service(toolbox, settings) as running:
        headers = bearer(running.keys.issue(Scope.SEARCH))
        await asyncio.gather(*(running.client.get(SEARCH, headers=headers) for _ in range(20)))
        await asyncio.gather(*(running.client.get(SEARCH, headers=headers) for _ in range(20)))
        assert running.keys.asked <= 2  # once to know it, once after its use was noted


async def test_made_up_ids_push_no_key_out(toolbox):
    settings = REQUIRED.model_copy(update={"key_staleness": 600_000, "key_cache": 2})
    async with service(toolbox, settings) as running:
        headers = bearer(running.keys.issue(Scope.SEARCH))
        await running.client.get(SEARCH, headers=headers)
        for number in range(10):
            await running.client.get(SEARCH, headers=bearer(f"cq_{number:012}_guess"))
        asked = running.keys.asked
        assert (await running.client.get(SEARCH, headers=headers)).status_code == 200
        assert running.keys.asked == asked


async def test_the_last_use_is_noted(toolbox):
    async with service(toolbox) as running:
        text = running.keys.issue(Scope.SEARCH)
        await running.client.get(SEARCH, headers=bearer(text))
        async with asyncio.timeout(5):
            while running.keys.keys[split(text)[0]].last_used_at is None:  # noqa: ASYNC110 there is no event
                await asyncio.sleep(0.01)


async def test_keys_that_are_known_outlast_their_store(toolbox):
    settings = REQUIRED.model_copy(update={"key_staleness": 0})
    async with service(toolbox, settings) as running:
        known, unknown = running.keys.issue(Scope.SEARCH), running.keys.issue(Scope.SEARCH)
        await running.client.get(SEARCH, headers=bearer(known))
        running.keys.is_down = True
        assert (await running.client.get(SEARCH, headers=bearer(known))).status_code == 200
        wrong = await running.client.get(SEARCH, headers=bearer(f"{known}a"))
        assert wrong.status_code == 401
        answer = await running.client.get(SEARCH, headers=bearer(unknown))
        assert (answer.status_code, answer.json()["code"]) == (503, "engine_unavailable")
        assert answer.headers["retry-after"]


async def test_an_outage_is_outlasted_for_so_long_and_no_longer(toolbox):
    settings = REQUIRED.model_copy(update={"key_staleness": 0, "key_outage": 0})
    async with service(toolbox, settings) as running:
        text = running.keys.issue(Scope.SEARCH)
        await running.client.get(SEARCH, headers=bearer(text))
        running.keys.is_down = True
        assert (await running.client.get(SEARCH, headers=bearer(text))).status_code == 503


async def test_without_authentication_a_key_still_says_who_asks(toolbox):
    async with service(toolbox, Settings()) as running:
        text = running.keys.issue(Scope.SEARCH, classes=("staff",))
        assert (await running.client.get(SEARCH, headers=bearer(text))).status_code == 200
        assert toolbox.principals[-1].audiences == {"staff", "*"}
        assert (await running.client.get(SEARCH, headers=bearer(text + "a"))).status_code == 401
        meant_for_a_proxy = await running.client.get(SEARCH, headers=bearer("opaque"))
        assert meant_for_a_proxy.status_code == 200
        assert toolbox.principals[-1].audiences == {"*"}


async def test_the_owner_may_do_everything_and_sees_what_everyone_sees(toolbox):
    async with service(toolbox) as running:
        headers = {"Cogitave-Query-Owner": OWNER_TOKEN}
        assert (await running.client.get(SEARCH, headers=headers)).status_code == 200
        assert (await running.client.get("/v1/roots", headers=headers)).status_code == 200
        assert toolbox.principals[0].audiences == {"*"}
        wrong = await running.client.get(SEARCH, headers={"Cogitave-Query-Owner": OWNER_TOKEN[:-1]})
        assert wrong.status_code == 401


async def test_who_brings_nothing_may_what_the_settings_say(toolbox):
    settings = REQUIRED.model_copy(update={"anonymous_scopes": (Scope.SEARCH,)})
    async with service(toolbox, settings) as running:
        assert (await running.client.get(SEARCH)).status_code == 200
        answer = await running.client.post("/v1/query-graph", json={"cypher": "MATCH (n:Page) RETURN n.uid"})
        assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
        assert answer.headers["www-authenticate"] == 'Bearer error="insufficient_scope", scope="graph"'
        wrong = await running.client.get(SEARCH, headers=bearer("cq_a_b"))
        assert wrong.status_code == 401


async def test_refusals_are_audited_without_a_secret(toolbox):
    async with service(toolbox) as running:
        text = running.keys.issue(Scope.SEARCH)
        await running.client.get(SEARCH)
        await running.client.get("/v1/search?q=secretly", headers=bearer(text + "wrong"))
        await running.client.post("/v1/schema", json={}, headers=bearer(text))
        events = running.audit.events
    assert [(event["code"], event["principal"], event["path"]) for event in events] == [
        ("credentials_missing", "anonymous", "/v1/search"),
        ("credentials_invalid", "unknown", "/v1/search"),
        ("scope_missing", f"key:{split(text)[0]}", "/v1/schema"),
    ]
    assert split(text)[1] not in str(events)
    assert "secretly" not in str(events)
