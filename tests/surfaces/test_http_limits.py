"""The limits as ASGI sees them, and once more on a socket."""

import asyncio
import json
import socket
import threading

import httpx
import pytest

from service.settings import Settings
from service.surfaces.application import application
from service.surfaces.http_limits import HttpLimits
from service.surfaces.problems import ProblemResponses
from tests.surfaces.fake_toolbox import FakeToolbox
from tests.surfaces.serving import served

pytestmark = pytest.mark.timeout(30)

SCOPE = {"type": "http", "method": "POST", "path": "/", "headers": []}


class Application:
    """Reads the body, then waits for `go_on`; knows whether it was stopped."""

    def __init__(self) -> None:
        self.body: bytes | None = None
        self.go_on = asyncio.Event()
        self.reading = asyncio.Event()
        self.stopped = False
        self.failure: Exception | None = None

    async def __call__(self, _scope, receive, send):
        self.body = (await receive())["body"]
        self.reading.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.stopped = True
            raise
        if self.failure is not None:
            raise self.failure
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})


class Connection:
    """Messages in, messages out; after the last one in it stays open, or closes when told to."""

    def __init__(self, *messages: dict) -> None:
        self.incoming: asyncio.Queue[dict] = asyncio.Queue()
        for message in messages:
            self.incoming.put_nowait(message)
        self.sent: list[dict] = []

    async def receive(self):
        return await self.incoming.get()

    async def send(self, message):
        self.sent.append(message)

    def close(self) -> None:
        self.incoming.put_nowait({"type": "http.disconnect"})

    @property
    def status(self) -> int:
        return self.sent[0]["status"]

    @property
    def code(self) -> str:
        return json.loads(self.sent[1]["body"])["code"]


def chunk(body: bytes, *, more: bool = False) -> dict:
    return {"type": "http.request", "body": body, "more_body": more}


def limits(app, *, body_bytes=10, milliseconds=5_000, untimed=()):
    return HttpLimits(
        app,
        problems=ProblemResponses(retry_after=1),
        body_bytes=body_bytes,
        milliseconds=milliseconds,
        untimed=untimed,
    )


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 10))


def test_a_body_of_exactly_the_cap_arrives_whole():
    async def story():
        app, connection = Application(), Connection(chunk(b"12345", more=True), chunk(b"67890"))
        app.go_on.set()
        await limits(app)(SCOPE, connection.receive, connection.send)
        assert app.body == b"1234567890"
        assert connection.status == 200

    run(story())


def test_one_byte_more_is_413_and_the_application_never_runs():
    async def story():
        app, connection = Application(), Connection(chunk(b"1234567890", more=True), chunk(b"1"))
        await limits(app)(SCOPE, connection.receive, connection.send)
        assert (connection.status, connection.code) == (413, "body_too_large")
        assert app.body is None

    run(story())


def test_who_asks_first_whether_to_send_too_much_is_told_at_once():
    async def story():
        connection = Connection()  # receiving from it would hang
        scope = SCOPE | {"headers": [(b"content-length", b"11"), (b"expect", b"100-continue")]}
        await limits(Application())(scope, connection.receive, connection.send)
        assert connection.status == 413

    run(story())


def test_a_body_that_never_ends_is_given_up():
    async def story():
        app, connection = Application(), Connection(chunk(b"1", more=True))
        await limits(app, milliseconds=20)(SCOPE, connection.receive, connection.send)
        assert (connection.status, connection.code) == (408, "body_late")

    run(story())


def test_late_work_is_stopped_and_said():
    async def story():
        app, connection = Application(), Connection(chunk(b""))
        await limits(app, milliseconds=50)(SCOPE, connection.receive, connection.send)
        assert (connection.status, connection.code) == (504, "request_late")
        assert app.stopped

    run(story())


def test_an_untimed_path_may_take_longer():
    async def story():
        app, connection = Application(), Connection(chunk(b""))
        work = asyncio.create_task(
            limits(app, milliseconds=10, untimed={"/"})(SCOPE, connection.receive, connection.send)
        )
        await app.reading.wait()
        done, _ = await asyncio.wait({work}, timeout=0.1)
        assert not done
        app.go_on.set()
        await work
        assert connection.status == 200

    run(story())


def test_the_work_for_a_caller_who_leaves_is_stopped():
    async def story():
        app, connection = Application(), Connection(chunk(b""))
        work = asyncio.create_task(limits(app)(SCOPE, connection.receive, connection.send))
        await app.reading.wait()
        connection.close()
        await work
        assert app.stopped
        assert connection.sent == []

    run(story())


def test_a_caller_who_leaves_within_the_body_is_no_error():
    async def story():
        app, connection = Application(), Connection(chunk(b"1", more=True))
        connection.close()
        await limits(app)(SCOPE, connection.receive, connection.send)
        assert app.body is None
        assert connection.sent == []

    run(story())


def test_a_stopped_server_stops_the_work():
    async def story():
        app, connection = Application(), Connection(chunk(b""))
        work = asyncio.create_task(limits(app)(SCOPE, connection.receive, connection.send))
        await app.reading.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert app.stopped

    run(story())


def test_a_bug_becomes_a_problem():
    async def story():
        app, connection = Application(), Connection(chunk(b""))
        app.failure = KeyError("a detail of ours")
        app.go_on.set()
        await limits(app)(SCOPE, connection.receive, connection.send)
        assert (connection.status, connection.code) == (500, "internal")
        assert b"a detail of ours" not in connection.sent[1]["body"]

    run(story())


def test_ten_megabytes_on_a_socket_get_an_answer():
    with served(application(FakeToolbox(), Settings())) as url:
        answer = httpx.post(f"{url}/v1/search", content=b"x" * 10_000_000, timeout=10)
        assert answer.status_code == 413
        chunks = (b"x" * 100_000 for _ in range(100))
        assert httpx.post(f"{url}/v1/search", content=chunks, timeout=10).status_code == 413
        assert httpx.get(f"{url}/livez", timeout=10).status_code == 200


def test_hanging_up_on_a_socket_stops_the_tool():
    stopped = threading.Event()

    class Hanging(FakeToolbox):
        async def call(self, _tool, _request, _principal):
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

    with served(application(Hanging(), Settings(request_deadline=60_000))) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(b"GET /v1/search?q=a HTTP/1.1\r\nHost: service\r\n\r\n")
        assert stopped.wait(10)


def test_a_slow_tool_on_a_socket_is_answered_for():
    toolbox = FakeToolbox(hang=True)
    with served(application(toolbox, Settings(request_deadline=50))) as url:
        answer = httpx.get(f"{url}/v1/search?q=a", timeout=10)
    assert (answer.status_code, answer.json()["code"]) == (504, "request_late")
    assert answer.headers["retry-after"]
    assert toolbox.stopped.is_set()
