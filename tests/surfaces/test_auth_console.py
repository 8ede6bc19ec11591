"""Signing in to the console, and what other sites' pages can't do with a session."""

import pytest

from service.domain.keys import split
from service.domain.principal import Scope
from service.settings import Settings
from service.surfaces.authentication.sessions import COOKIE
from service.surfaces.console.sign_in import local
from tests.surfaces.access import REQUIRED, WITH_TOKENS, service

pytestmark = pytest.mark.anyio

BROWSER = {"Accept": "text/html,application/xhtml+xml"}


async def sign_in(running, key, goal="/graph"):
    return await running.client.post("/sign-in", data={"key": key, "next": goal}, headers=BROWSER)


async def test_a_person_is_led_to_the_sign_in_and_back(toolbox):
    async with service(toolbox) as running:
        answer = await running.client.get("/?q=rank%20fusion&filter=kind%3Dpage", headers=BROWSER)
        assert answer.status_code == 303
        page = await running.client.get(answer.headers["location"], headers=BROWSER)
        assert page.status_code == 200
        assert 'value="/?q=rank%20fusion&amp;filter=kind%3Dpage"' in page.text
        answer = await sign_in(running, running.keys.issue(Scope.SEARCH), "/?q=rank%20fusion&filter=kind%3Dpage")
        assert (answer.status_code, answer.headers["location"]) == (303, "/?q=rank%20fusion&filter=kind%3Dpage")
        page = await running.client.get(answer.headers["location"], headers=BROWSER)
        assert page.status_code == 200
        assert "Page 1" in page.text


async def test_the_cookie_is_out_of_reach_and_holds_no_key(toolbox):
    async with service(toolbox, WITH_TOKENS) as running:
        text = running.keys.issue(Scope.SEARCH)
        cookie = (await sign_in(running, text)).headers["set-cookie"]
        assert {"HttpOnly", "SameSite=strict", "Path=/", "Max-Age=28800", "Secure"} <= set(cookie.split("; "))
        assert split(text)[1] not in cookie
        events = [event for event in running.audit.events if event["event"] == "signed in"]
        assert [event["key"] for event in events] == [split(text)[0]]
    async with service(toolbox) as running:  # over plain HTTP on a loopback address, a secure one would be lost
        assert "Secure" not in (await sign_in(running, running.keys.issue())).headers["set-cookie"]


async def test_a_wrong_key_signs_nobody_in(toolbox):
    async with service(toolbox) as running:
        answer = await sign_in(running, running.keys.issue(Scope.SEARCH) + "a")
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        assert "credentials_invalid" in answer.text


async def test_a_session_ends_with_its_key_its_time_and_its_secret(toolbox):
    settings = REQUIRED.model_copy(update={"key_staleness": 0})
    async with service(toolbox, settings) as running:
        text = running.keys.issue(Scope.SEARCH)
        await sign_in(running, text)
        cookie = running.client.cookies[COOKIE]
        assert (await running.client.get("/v1/search?q=a")).status_code == 200
        id, until, signature = cookie.split(".")
        other, _ = split(running.keys.issue(Scope.SEARCH, Scope.OPERATE))
        forged = [
            f"{id}.{int(until) + 1}.{signature}",
            f"{other}.{until}.{signature}",
            f"{id}.{until}.{signature[:-1]}",
            f"{id}.1.{signature}",
            f"{id}.{until}.",
            f"{id}.٣.{signature}",
            "",
            "..",
            "a" * 10_000,
        ]
        running.client.cookies.clear()
        for value in forged:
            answer = await running.client.get("/v1/search?q=a", headers={"Cookie": f"{COOKIE}={value}".encode()})
            assert (answer.status_code, answer.json()["code"]) == (401, "credentials_missing"), value
        await running.keys.revoke(id, running.keys.keys[id].created_at, deadline=None)
        answer = await running.client.get("/v1/search?q=a", headers={"Cookie": f"{COOKIE}={cookie}"})
        assert answer.status_code == 401
        async with service(toolbox, settings) as restarted:
            restarted.keys.keys = running.keys.keys
            answer = await restarted.client.get("/v1/search?q=a", headers={"Cookie": f"{COOKIE}={cookie}"})
            assert answer.status_code == 401


async def test_signing_out_takes_the_cookie_away(toolbox):
    async with service(toolbox) as running:
        await sign_in(running, running.keys.issue(Scope.SEARCH))
        assert (await running.client.get("/v1/search?q=a")).status_code == 200
        await running.client.post("/sign-out")
        assert (await running.client.get("/v1/search?q=a")).status_code == 401


@pytest.mark.parametrize(
    "goal",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "evil",
        "",
        "/\n/evil",
        "/\t/a",
    ],
)
def test_nobody_is_led_elsewhere(goal):
    assert local(goal) == "/"


FOREIGN = ["https://evil.example", "null", "http://localhost.evil.example", "https://localhost:8443.evil.example"]


@pytest.mark.parametrize("origin", FOREIGN)
async def test_a_page_of_another_site_posts_nothing(toolbox, origin):
    """Whatever the path, session or not."""
    async with service(toolbox) as running:
        text = running.keys.issue(*Scope)
        await sign_in(running, text)
        paths = ("/sign-in", "/sign-out", "/v1/search", "/v1/publish", "/graphql", "/mcp", "/nowhere")
        for path in paths:
            answer = await running.client.post(path, content=b"{}", headers={"Origin": origin})
            assert (answer.status_code, answer.json()["code"]) == (403, "origin_forbidden"), path
            assert "access-control-allow-origin" not in answer.headers
        for path in ("/v1/search?q=a", "/", "/openapi.json"):
            answer = await running.client.get(path, headers={"Origin": origin})
            assert not [name for name in answer.headers if name.startswith("access-control")]
        answer = await running.client.options(
            "/v1/search", headers={"Origin": origin, "Access-Control-Request-Method": "POST"}
        )
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_a_page_of_another_site_posts_nothing_without_naming_its_origin(toolbox, site):
    async with service(toolbox) as running:
        await sign_in(running, running.keys.issue(*Scope))
        for path in ("/sign-in", "/sign-out", "/tuning", "/judge", "/v1/search"):
            answer = await running.client.post(path, content=b"{}", headers={"Sec-Fetch-Site": site})
            assert (answer.status_code, answer.json()["code"]) == (403, "origin_forbidden"), path
        assert (await running.client.get("/", headers={"Sec-Fetch-Site": site})).status_code == 200


@pytest.mark.parametrize("site", ["same-origin", "none"])
async def test_its_own_pages_post_without_naming_their_origin(toolbox, site):
    async with service(toolbox) as running:
        answer = await running.client.post(
            "/sign-in", data={"key": running.keys.issue()}, headers={"Sec-Fetch-Site": site}
        )
        assert answer.status_code == 303


async def test_its_own_pages_post(toolbox):
    async with service(toolbox) as running:
        for origin in ("http://localhost", "https://localhost", "http://127.0.0.1:9", "https://[::1]"):
            answer = await running.client.post(
                "/sign-in", data={"key": running.keys.issue()}, headers={"Origin": origin}
            )
            assert answer.status_code == 303, origin


HOSTS = {
    "localhost": 200,
    "localhost:8080": 200,
    "127.0.0.1:8080": 200,
    "[::1]:8080": 200,
    "cogitave-query:8080": 200,
    "docs.example.org": 200,
    "DOCS.example.org:443": 200,
    "evil.example": 421,
    "localhost.evil.example": 421,
    "127.0.0.1.evil.example": 421,
    "192.0.2.1": 421,
    "[2001:db8::1]": 421,
    "localhost@evil.example": 421,
    "": 421,
    "[": 421,
}


@pytest.mark.parametrize("host", HOSTS)
async def test_without_authentication_a_name_of_elsewhere_is_nobodys(toolbox, host):
    """DNS rebinding: a page of evil.example, whose name it has pointed here, asks as that name."""
    async with service(toolbox, Settings(allowed_hosts=("docs.example.org",))) as running:
        answer = await running.client.get("/v1/search?q=a", headers={"Host": host})
        assert answer.status_code == HOSTS[host]


async def test_with_authentication_any_name_will_do_unless_some_are_named(toolbox):
    for hosts, status in (((), 401), (("docs.example.org",), 421)):
        async with service(toolbox, REQUIRED.model_copy(update={"allowed_hosts": hosts})) as running:
            assert (await running.client.get("/v1/search?q=a", headers={"Host": "a.example"})).status_code == status


async def test_a_client_of_an_issuer_learns_where_to_get_a_token(toolbox):
    async with service(toolbox, WITH_TOKENS) as running:
        for path, below in (("/mcp", "/mcp"), ("/v1/search?q=a", "")):
            answer = await running.client.request("POST" if below else "GET", path)
            assert answer.status_code == 401
            where = f"https://docs.example.org/.well-known/oauth-protected-resource{below}"
            assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{where}"'
            document = (await running.client.get(where.removeprefix("https://docs.example.org"))).json()
            assert document["resource"] == f"https://docs.example.org{below}"
            assert document["authorization_servers"] == ["https://login.example.org/tenant"]
        wrong = await running.client.post("/mcp", headers={"Authorization": "Bearer a.b.c"})
        assert wrong.headers["www-authenticate"].startswith('Bearer error="invalid_token", resource_metadata="https://')
    async with service(toolbox) as running:
        assert (await running.client.get("/.well-known/oauth-protected-resource")).status_code == 404
