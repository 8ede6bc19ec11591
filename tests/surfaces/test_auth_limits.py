"""What one caller may ask for beside others, and what all may together; and how a server stops."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import uvicorn

from service.domain.errors import SettingInvalid
from service.domain.principal import Scope
from service.settings import Settings
from service.surfaces.application import application
from service.surfaces.command_line.serving import DrainedServer
from service.surfaces.rates import Rates
from tests.surfaces.access import OWNER_TOKEN, REQUIRED, bearer, service
from tests.surfaces.fake_toolbox import FakeToolbox

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

SEARCH = "/v1/search?q=fusion"


def limited(**changed):
    return REQUIRED.model_copy(update=changed)


async def statuses(running, headers, count):
    return [(await running.client.get(SEARCH, headers=headers)).status_code for _ in range(count)]


async def test_a_caller_has_so_many_requests_a_minute_and_others_have_theirs(toolbox):
    async with service(toolbox, limited(caller_rate=3)) as running:
        one, other = bearer(running.keys.issue(Scope.SEARCH)), bearer(running.keys.issue(Scope.SEARCH))
        assert await statuses(running, one, 5) == [200, 200, 200, 429, 429]
        answer = await running.client.get(SEARCH, headers=one)
        assert answer.json()["code"] == "rate_exceeded"
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert await statuses(running, other, 2) == [200, 200]
        assert await statuses(running, {"Cogitave-Query-Owner": OWNER_TOKEN}, 5) == [200] * 5
        assert len(toolbox.asked) == 10
        refusals = [event for event in running.audit.events if event["code"] == "rate_exceeded"]
        assert len(refusals) == 3


async def test_callers_without_credentials_share_by_address(toolbox):
    async with service(toolbox, limited(anonymous_scopes=(Scope.SEARCH,), address_rate=2)) as running:

        async def ask(address):
            transport = httpx.ASGITransport(running.app, client=(address, 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return (await client.get(SEARCH)).status_code

        assert [await ask("192.0.2.1") for _ in range(3)] == [200, 200, 429]
        assert await ask("192.0.2.2") == 200
        sixes = ["2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3", "2001:db8:0:1::1"]
        assert [await ask(address) for address in sixes] == [200, 200, 429, 200]


@pytest.mark.parametrize(
    ("proxies", "peer", "forwarded", "counted"),
    [
        ((), "192.0.2.1", "198.51.100.7", "192.0.2.1"),
        (("10.0.0.0/8",), "192.0.2.1", "198.51.100.7", "192.0.2.1"),
        (("10.0.0.0/8",), "10.1.2.3", "198.51.100.7", "198.51.100.7"),
        (("10.1.2.3", "2001:db8::/32"), "10.1.2.3", "203.0.113.9, 198.51.100.7, 2001:db8::1", "198.51.100.7"),
        (("10.1.2.3",), "10.1.2.3", None, "10.1.2.3"),
    ],
)
async def test_a_caller_behind_a_proxy_has_its_own_address_where_the_proxy_is_trusted(
    toolbox, proxies, peer, forwarded, counted
):
    settings = limited(address_rate=2, trusted_proxies=proxies)
    settings = Settings.model_validate(settings.model_dump() | {"anonymous_scopes": (Scope.SEARCH,)})
    async with service(toolbox, settings) as running:

        async def ask(peer, forwarded=None, **more):
            headers = ({"X-Forwarded-For": forwarded} if forwarded else {}) | more
            transport = httpx.ASGITransport(running.app, client=(peer, 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
                return (await client.get(SEARCH)).status_code

        assert [await ask(peer, forwarded, Forwarded=f"for=192.0.2.{n}") for n in range(3)] == [200, 200, 429]
        assert await ask(counted) == 429
        assert running.audit.events[-1]["address"] == counted
        assert await ask("192.0.2.77") == 200


@pytest.mark.parametrize("proxy", ["*", "proxy.example.org", "10.0.0.1/8", "10.0.0.0/99", ""])
def test_a_proxy_that_is_no_address_is_refused(proxy):
    with pytest.raises(ValueError, match="trusted_proxies"):
        Settings(trusted_proxies=(proxy,))


async def test_probes_are_never_limited(toolbox):
    async with service(toolbox, limited(address_rate=1, requests_at_once=1)) as running:
        for _ in range(5):
            assert (await running.client.get("/livez")).status_code == 200
            assert (await running.client.get("/readyz")).status_code == 200


async def test_without_authentication_there_is_one_caller_and_no_limit(toolbox):
    async with service(toolbox, Settings(caller_rate=1, address_rate=1, caller_requests=1)) as running:
        assert await statuses(running, {}, 3) == [200] * 3


async def hanging(running, headers, count):
    """Requests that are being worked on."""
    tasks = [asyncio.create_task(running.client.get(SEARCH, headers=headers)) for _ in range(count)]
    await asyncio.sleep(0.2)
    return tasks


async def test_a_caller_has_so_many_at_once(toolbox):
    toolbox.hang = True
    async with service(toolbox, limited(caller_requests=2)) as running:
        one, other = bearer(running.keys.issue(Scope.SEARCH)), bearer(running.keys.issue(Scope.SEARCH))
        tasks = await hanging(running, one, 2)
        answer = await running.client.get(SEARCH, headers=one)
        assert (answer.status_code, answer.json()["code"]) == (429, "too_many_at_once")
        assert answer.headers["retry-after"] == "1"
        tasks += await hanging(running, other, 1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        toolbox.hang = False
        assert (await running.client.get(SEARCH, headers=one)).status_code == 200


async def test_what_is_too_much_for_all_is_shed_before_anything_is_done(toolbox):
    toolbox.hang = True
    async with service(toolbox, limited(requests_at_once=3)) as running:
        callers = [bearer(running.keys.issue(Scope.SEARCH)) for _ in range(3)]
        tasks = [task for caller in callers for task in await hanging(running, caller, 1)]
        asked = running.keys.asked
        answer = await running.client.get(SEARCH, headers=bearer("cq_a_b"))
        assert (answer.status_code, answer.json()["code"]) == (503, "overloaded")
        assert int(answer.headers["retry-after"]) >= 1
        assert running.keys.asked == asked
        assert (await running.client.get("/livez")).status_code == 200
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        toolbox.hang = False
        assert (await running.client.get(SEARCH, headers=callers[0])).status_code == 200


@pytest.fixture(scope="module")
def redis_url():
    """A Redis server of this module's own."""
    program = shutil.which("redis-server")
    assert program, "redis-server is missing: apt-get install redis-server"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    give_up = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            assert time.monotonic() < give_up
            time.sleep(0.05)
    yield f"redis://127.0.0.1:{port}"
    server.terminate()
    server.wait(10)


def counting(url, **changed):
    return Rates(Settings(redis_url=url, redis_deadline=5_000, **changed))


async def test_two_servers_count_together_in_redis(redis_url):
    one, other = counting(redis_url), counting(redis_url)
    waits = [await rates.wait("together", 4) for rates in (one, other, one, other, one, other)]
    assert waits[:4] == [None] * 4
    assert all(1 <= wait <= 60 for wait in waits[4:])
    assert await one.wait("somebody else", 4) is None
    await one.close()
    await other.close()


async def test_many_at_once_get_no_more_than_their_share_of_redis(redis_url):
    servers = [counting(redis_url) for _ in range(2)]
    waits = await asyncio.gather(*(servers[number % 2].wait("crowd", 10) for number in range(60)))
    assert waits.count(None) == 10
    for rates in servers:
        await rates.close()


@pytest.mark.parametrize("accepts", [False, True], ids=["refuses", "hangs"])
async def test_without_redis_each_server_counts_for_itself(accepts):
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        if accepts:
            listening.listen()
        url = f"redis://:a-secret@127.0.0.1:{listening.getsockname()[1]}"
        rates = Rates(Settings(redis_url=url, redis_deadline=100))
        began = time.monotonic()
        assert [await rates.wait("alone", 2) is None for _ in range(3)] == [True, True, False]
        assert time.monotonic() - began < 5
        await rates.close()


def test_a_redis_that_is_no_url_is_refused():
    with pytest.raises(SettingInvalid, match="redis_url") as refused:
        Rates(Settings(redis_url="a-secret"))
    assert "a-secret" not in refused.value.message


async def test_a_server_that_is_being_stopped_is_not_ready(toolbox):
    async with service(toolbox) as running:
        assert (await running.client.get("/readyz")).status_code == 200
        running.app.state.is_draining = True
        answer = await running.client.get("/readyz")
        assert (answer.status_code, answer.json()["ready"]) == (503, False)
        assert (await running.client.get("/livez")).status_code == 200


async def test_a_probe_without_credentials_learns_no_more_than_it_needs(toolbox):
    async with service(toolbox) as running:
        toolbox.ready = False
        told = (await running.client.get("/readyz")).json()
        assert {engine["reason"] for engine in told["engines"]} == {None}
        assert (told["contentRoot"], told["passages"], told["vectors"], told["generation"]) == ("", 0, 0, 0)
        headers = bearer(running.keys.issue(Scope.OPERATE))
        told = (await running.client.get("/readyz", headers=headers)).json()
        assert "no shard" in {engine["reason"] for engine in told["engines"]}
        assert told["contentRoot"]


def test_sigterm_is_said_first_then_what_runs_is_finished(tmp_path):
    """The notice: /readyz says so while searches are still answered. Then nothing new is accepted."""
    environment = os.environ | {"COGITAVE_QUERY_DRAIN_NOTICE": "1500", "COGITAVE_QUERY_PORT": "0"}
    code = "import sys; from service.surfaces.command_line import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "--data", str(tmp_path), "--json", "serve"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, env=environment, text=True)
    try:
        assert server.stdout is not None
        lines = ""
        while not lines.rstrip().endswith("}"):
            lines += server.stdout.readline()
        url = json.loads(lines)["url"]
        with httpx.Client(base_url=url, timeout=30) as client:
            give_up = time.monotonic() + 20
            while client.get("/readyz").status_code != 200:
                assert time.monotonic() < give_up
            server.send_signal(signal.SIGTERM)
            while client.get("/readyz").status_code != 503:
                assert time.monotonic() < give_up
            assert httpx.get(f"{url}/livez", timeout=10).status_code == 200
        assert server.wait(30) == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/livez", timeout=10)
    finally:
        server.kill()
        server.wait(10)


class Slow(FakeToolbox):
    """Answers a search when it is let go."""

    def __init__(self):
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()

    async def call(self, tool, request, principal):
        if getattr(request, "text", "") == "slow":
            self.begun.set()
            await asyncio.to_thread(self.go_on.wait, 30)
        return await super().call(tool, request, principal)


def test_a_stopping_server_answers_during_its_notice_and_finishes_what_it_has():
    toolbox, settings = Slow(), Settings(drain_notice=1_000, shutdown_deadline=20_000, request_deadline=30_000)
    app = application(toolbox, settings)
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(2) as threads:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=20)
        server = DrainedServer(config, app, settings)

        async def serve():
            asyncio.get_running_loop().call_later(2, server.handle_exit, signal.SIGTERM, None)
            await server.serve(sockets=[listening])

        stopped = threads.submit(lambda: asyncio.run(serve()))  # outside the main thread no signal is caught
        slow = threads.submit(httpx.get, f"{url}/v1/search?q=slow", timeout=40)
        assert toolbox.begun.wait(20)
        give_up = time.monotonic() + 20
        while httpx.get(f"{url}/readyz", timeout=10).status_code != 503:
            assert time.monotonic() < give_up
        assert httpx.get(f"{url}/v1/search?q=quick", timeout=10).status_code == 200
        while accepts(url):
            assert time.monotonic() < give_up
            time.sleep(0.05)
        assert not stopped.done()
        toolbox.go_on.set()
        assert slow.result(30).status_code == 200
        stopped.result(30)


def accepts(url):
    try:
        return httpx.get(f"{url}/livez", timeout=10).is_success
    except httpx.TransportError:
        return False
