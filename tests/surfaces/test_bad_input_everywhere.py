"""The same kinds of bad input at every surface: refused or cut, and said; never a 5xx, a hang, or a wrong answer.

Each surface says what a request of its own looks like, with a hole in it; the table of kinds fills the hole.
"""

import asyncio
import gzip
import io
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx
import pytest
from starlette.types import ASGIApp

from service import bootstrap
from service.domain.requests import PublishRequest
from service.settings import Settings
from service.surfaces.application import application
from service.surfaces.command_line import main
from tests.application import write_estate
from tests.surfaces.fake_toolbox import FakeToolbox
from tests.surfaces.serving import PATIENT, served, served_opening
from tests.surfaces.test_rest import ODD_UIDS

pytestmark = pytest.mark.timeout(120)

MOST = 65_536
LARGE = PATIENT.model_copy(update={"result_bytes": MOST})

JSON = "application/json"
MCP_HEADERS = {"Accept": f"{JSON}, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


@dataclass(frozen=True)
class Ask:
    """One HTTP request."""

    method: str
    path: str
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    def raw(self, *, body: bytes | None = None) -> bytes:
        sent = self.body if body is None else body
        headers = {"Host": "service", **self.headers, "Content-Length": str(len(self.body))}
        lines = [f"{self.method} {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode() + sent


def posted(path: str, before: bytes, after: bytes, **headers: str) -> Callable[[bytes], Ask]:
    """A surface that takes JSON: the hole is a value within the body."""
    return lambda hole: Ask("POST", path, before + hole + after, {"Content-Type": JSON, **headers})


REST = posted("/v1/fetch", b'{"uid": ', b"}")
MCP = posted(
    "/mcp",
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "docs_fetch", "arguments": {"uid": ',
    b"}}}",
    **MCP_HEADERS,
)
GRAPHQL = posted("/graphql", b'{"query": "query($u: String!) { node(uid: $u) { uid } }", "variables": {"u": ', b"}}")

BODIES = {"REST": REST, "MCP": MCP, "GraphQL": GRAPHQL}

HOLES = {
    "a wrong type: a number": b"7",
    "a wrong type: a list": b'["a"]',
    "a wrong type: an object": b'{"a": 1}',
    "a wrong type: null": b"null",
    "a number of 5,000 digits": b"9" * 5_000,
    "a number of 10^400": b"1" + b"0" * 400,
    "deep JSON": b"[" * 100_000,
    "deep JSON that ends": b"[" * 5_000 + b"]" * 5_000,
    "an unknown field": b'"a", "unknown": 1',
    "5,000 unknown fields": b'"a", ' + b", ".join(b'"x%d": 1' % number for number in range(5_000)),
    "NaN": b"NaN",
    "an infinity": b"-Infinity",
    "half a surrogate pair, escaped": b'"\\ud800"',
    "half a surrogate pair, encoded": b'"\xed\xa0\x80"',
    "no UTF-8": b'"\xff\xfe"',
    "a NUL": b'"a\\u0000b"',
    "a field twice": b'"a", "uid": "b"',
    "JSON cut off": b'"a',
    "two documents": b'"a"}{"uid": "b"',
    "a comment": b'"a" /* b */',
    "single quotes": b"'a'",
}
"""What fills the hole of a JSON body. GraphQL's variables and MCP's arguments are JSON, too."""

MAY_BE_ANSWERED = {
    ("GraphQL", "an unknown field"): "a variable that the operation does not name is nobody's",
    ("GraphQL", "5,000 unknown fields"): "the same",
    ("GraphQL", "a wrong type: a number"): "GraphQL's String takes no number; its own words are an error with data",
    ("GraphQL", "a field twice"): "the hole is in variables, whose name differs",
    ("MCP", "a field twice"): "the SDK takes the last value",
}

WHOLE_BODIES: dict[str, Callable[[Ask], Ask]] = {
    "no body": lambda ask: Ask("POST", ask.path, b"", ask.headers),
    "a list": lambda ask: Ask("POST", ask.path, b"[]", ask.headers),
    "a body of another type": lambda ask: Ask("POST", ask.path, ask.body, {**ask.headers, "Content-Type": "text/csv"}),
    "a body of no type": lambda ask: Ask("POST", ask.path, ask.body, {**ask.headers, "Content-Type": ""}),
    "UTF-16": lambda ask: Ask("POST", ask.path, ask.body.decode().encode("utf-16"), ask.headers),
    "Latin-1": lambda ask: Ask("POST", ask.path, ask.body.replace(b"a", "é".encode("latin-1")), ask.headers),
    "gzip": lambda ask: Ask("POST", ask.path, gzip.compress(ask.body), {**ask.headers, "Content-Encoding": "gzip"}),
    "ten megabytes": lambda ask: Ask("POST", ask.path, ask.body + b" " * 10_000_000, ask.headers),
}

LINKS = {
    "link": "/v1/search?q=a&limit={hole}",
    "content": "/catalog?limit={hole}",
    "console": "/?q=a&cursor={hole}",
}

TEXTS = {
    "a wrong type: words": "ten",
    "a wrong type: a fraction": "1.5",
    "a wrong type: an exponent": "1e999",
    "nothing": "",
    "a number of 5,000 digits": "9" * 5_000,
    "a negative number": "-1",
    "digits of another script": quote("١٢"),
    "a NUL": "%00",
    "no UTF-8": "%ff%fe",
    "half a surrogate pair": "%ED%A0%80",
    "an overlong encoding": "%C0%AF",
    "a broken percent": "%zz",
    "an unknown parameter": "1&unknown=1",
    "5,000 unknown parameters": "1" + "".join(f"&x{number}=1" for number in range(5_000)),
    "markup": quote("<script>alert(1)</script>"),
    "a cursor of nobody": "1&cursor=" + quote("é" * 3_000),
    "a line break": "%0d%0aSet-Cookie:%20a=b",
}

LINKS_ANSWERED = {
    ("console", "an unknown parameter"): "a page takes what it knows",
    ("console", "5,000 unknown parameters"): "the same",
    ("console", "nothing"): "an empty cursor is none",
}


def cases() -> Iterator[tuple[str, str, Ask]]:
    for surface, make in BODIES.items():
        for kind, hole in HOLES.items():
            yield surface, kind, make(hole)
        for kind, change in WHOLE_BODIES.items():
            yield surface, kind, change(make(b'"a"'))
    for surface, path in LINKS.items():
        for kind, text in TEXTS.items():
            yield surface, kind, Ask("GET", path.format(hole=text))


CASES = list(cases())


def test_every_surface_meets_seventeen_kinds_and_more():
    met = {surface: {kind for one, kind, _ in CASES if one == surface} for surface in (*BODIES, *LINKS)}
    assert all(len(kinds) >= 17 for kinds in met.values())
    assert len(COMMANDS) >= 17


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The real application over pages whose summaries are long, and whose names are odd."""
    folder = tmp_path_factory.mktemp("bad-input")
    long = "word " * 1_600
    pages = {
        f"long-{number}.md": f"---\nuid: long-{number}\ntitle: Long {number}\ndescription: {long}\n---\n"
        f"# Long {number}\n\nA long text. See [the first](long-0.md).\n"
        for number in range(12)
    }
    pages["text.md"] = "---\nuid: text\ntitle: Text\n---\n# Text\n\n" + "\n\n".join(
        f"## Part {number}\n\n" + "= " * 8_000 for number in range(6)
    )
    for number, uid in enumerate(ODD_UIDS):
        pages[f"odd-{number}.md"] = (
            f"---\nuid: {json.dumps(uid, ensure_ascii=False)}\ntitle: Odd {number}\n---\n# Odd\n\nOdd {number}.\n"
        )
    estate = write_estate(folder / "estate", pages)

    @asynccontextmanager
    async def opening() -> AsyncIterator[ASGIApp]:
        async with bootstrap.open_toolbox(LARGE, folder / "data") as toolbox:
            await toolbox.publish(PublishRequest(paths=[str(estate)]))
            yield application(toolbox, LARGE)

    with served_opening(opening()) as url:
        yield url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=60) as client:
        yield client


def send(client: httpx.Client, ask: Ask) -> httpx.Response:
    return client.request(ask.method, ask.path, content=ask.body or None, headers=ask.headers)


def is_refused(surface: str, answer: httpx.Response) -> bool:
    """By the status, or as the surface's protocol says it within a 200."""
    if 400 <= answer.status_code < 500:
        return True
    if surface == "MCP":
        told = answer.json()
        return "error" in told or bool(told.get("result", {}).get("isError"))
    return surface == "GraphQL" and bool(answer.json().get("errors"))


@pytest.mark.parametrize(("surface", "kind", "ask"), CASES, ids=[f"{surface}: {kind}" for surface, kind, _ in CASES])
def test_bad_input_is_refused(client: httpx.Client, surface: str, kind: str, ask: Ask) -> None:
    began = time.monotonic()
    try:
        answer = send(client, ask)
    except httpx.InvalidURL:
        pytest.fail("the request never left")
    assert answer.status_code < 500, answer.text[:500]
    allowed = MAY_BE_ANSWERED | LINKS_ANSWERED
    assert is_refused(surface, answer) or (surface, kind) in allowed, answer.text[:500]
    assert len(answer.content) < 20_000
    assert "set-cookie" not in answer.headers
    assert "<script>alert" not in answer.text
    assert time.monotonic() - began < 20
    assert client.get("/livez").status_code == 200


# Requests that take their time, and callers who leave

FIRST_BYTES = [("REST", REST), ("MCP", MCP), ("GraphQL", GRAPHQL)]


@pytest.fixture(scope="module")
def impatient() -> Iterator[str]:
    with served(application(FakeToolbox(), Settings(request_deadline=300))) as url:
        yield url


def connected(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


@pytest.mark.parametrize(("surface", "make"), FIRST_BYTES)
def test_a_slow_body_is_given_up(impatient: str, surface: str, make: Callable[[bytes], Ask]) -> None:
    with connected(impatient) as connection:
        ask = make(b'"a"')
        connection.sendall(ask.raw(body=ask.body[:10]))
        head = connection.recv(65_536)
    assert head.startswith(b"HTTP/1.1 408 "), surface


class Stopped(FakeToolbox):
    """Works for ever at whatever it is asked; knows whether it was stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.ended = threading.Event()

    async def _meet(self, request, principal=None):
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()


LEAVING = {
    "REST": REST(b'"a"'),
    "MCP": MCP(b'"a"'),
    "GraphQL": GRAPHQL(b'"a"'),
    "link": Ask("GET", "/v1/search?q=a"),
    "content": Ask("GET", "/content/a"),
    "content, streamed": Ask("GET", "/content"),
    "catalog": Ask("GET", "/catalog"),
    "xrefmap": Ask("GET", "/xrefmap.yml"),
    "console": Ask("GET", "/?q=a"),
}


@pytest.mark.parametrize("surface", LEAVING)
def test_the_work_for_a_caller_who_leaves_is_stopped(surface: str) -> None:
    toolbox = Stopped()
    with served(application(toolbox, Settings(request_deadline=60_000))) as url:
        with connected(url) as connection:
            connection.sendall(LEAVING[surface].raw())
            assert toolbox.begun.wait(20)
        assert toolbox.ended.wait(10)


def test_who_leaves_within_a_stream_stops_the_reading() -> None:
    reading = threading.Semaphore(0)

    class Endless(FakeToolbox):
        """Its estate has no end."""

        async def call(self, tool, request, principal):
            answer = await super().call(tool, request, principal)
            if tool.name == "documents":
                reading.release()
                text = "x" * 100_000
                documents = [one.model_copy(update={"summary": text}) for one in answer.documents]
                answer = answer.model_copy(update={"next_cursor": "1", "documents": documents})
            return answer

    toolbox = Endless()
    with served(application(toolbox, Settings())) as url:
        with connected(url) as connection:
            connection.sendall(Ask("GET", "/content").raw())
            assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
            assert all(reading.acquire(timeout=10) for _ in range(3))
            unread = quiet(toolbox)
            assert unread < 2_000, "it went on although nobody read"
        assert quiet(toolbox) <= unread + 1, "it went on although nobody was there"


def quiet(toolbox: FakeToolbox) -> int:
    """How many pages were asked for once no more are for a while."""
    asked, since = len(toolbox.asked), time.monotonic()
    give_up = since + 20
    while time.monotonic() - since < 0.5:
        assert time.monotonic() < give_up
        time.sleep(0.05)
        if len(toolbox.asked) != asked:
            asked, since = len(toolbox.asked), time.monotonic()
    return asked


# Answers that would be too large

LARGE_ANSWERS = {
    "REST: a search": Ask("POST", "/v1/search", b'{"text": "long", "limit": 50}', {"Content-Type": JSON}),
    "REST: a listing": Ask(
        "POST", "/v1/nodes", b'{"filter": {"kind": ["page"]}, "limit": 100}', {"Content-Type": JSON}
    ),
    "REST: what is related": Ask("POST", "/v1/related", b'{"uid": "long-0", "limit": 50}', {"Content-Type": JSON}),
    "REST: rows": Ask(
        "POST", "/v1/query-graph", b'{"cypher": "MATCH (n:Page) RETURN n.summary"}', {"Content-Type": JSON}
    ),
    "REST: one row": Ask(
        "POST", "/v1/query-graph", b'{"cypher": "MATCH (n:Page) RETURN collect(n.summary)"}', {"Content-Type": JSON}
    ),
    "link: a listing": Ask("GET", "/v1/nodes?filter=kind%3Dpage&limit=100"),
    "content: the catalog": Ask("GET", "/catalog?type=pages"),
    "content: a document": Ask("GET", "/content/text"),
    "content: the index": Ask("GET", "/llms.txt"),
}


@pytest.mark.parametrize("name", LARGE_ANSWERS)
def test_a_large_answer_is_cut_and_says_so(client: httpx.Client, name: str) -> None:
    answer = send(client, LARGE_ANSWERS[name])
    assert answer.status_code == 200, answer.text[:500]
    assert len(answer.content) < MOST + 4_000
    assert "is cut at" in answer.text if name == "content: the index" else answer.json()["truncated"] is True


def test_pages_that_are_cut_reach_every_node_once(client: httpx.Client) -> None:
    for path, list_name in (("/v1/nodes?filter=kind%3Dpage&limit=100", "nodes"), ("/catalog?type=pages", "pages")):
        found: list[str] = []
        address: httpx.URL | None = httpx.URL(path)
        while address is not None:
            page = client.get(address)
            found += [entry["uid"] for entry in page.json()[list_name]]
            following = page.links.get("next")
            address = page.url.join(following["url"]) if following else None
        assert len(found) == len(set(found)) == 12 + 1 + len(ODD_UIDS)


def test_a_search_that_is_cut_goes_on_where_it_was_cut(client: httpx.Client) -> None:
    whole = []
    for limit in (3, 100):
        found, cursor, cut = [], None, False
        while True:
            body = {"text": "long odd text", "limit": limit, "filter": {"kind": ["page"]}, "cursor": cursor}
            page = client.post("/v1/search", json=body).json()
            found += [hit["uid"] for hit in page["hits"]]
            cut |= page["truncated"]
            cursor = page["nextCursor"]
            if cursor is None:
                break
        whole.append(found)
        assert cut == (limit == 100)
    assert whole[0] == whole[1]
    assert len(set(whole[0])) == len(whole[0])


# Odd names

BY_UID = {
    "REST": lambda client, uid: client.post("/v1/fetch", json={"uid": uid}).json()["uid"],
    "link": lambda client, uid: client.get(f"/v1/nodes/{quote(uid, safe='')}").json()["uid"],
    "content": lambda client, uid: client.get(f"/content/{quote(uid, safe='')}").json()["uid"],
    "catalog": lambda client, uid: client.get("/catalog", params={"uid": uid}).json()["pages"][0]["uid"],
    "MCP": lambda client, uid: send(client, MCP(json.dumps(uid).encode())).json()["result"]["structuredContent"]["uid"],
    "GraphQL": lambda client, uid: send(client, GRAPHQL(json.dumps(uid).encode())).json()["data"]["node"]["uid"],
    "a graph query": lambda client, uid: client.post(
        "/v1/query-graph",
        json={"cypher": "MATCH (n:Page) WHERE n.uid = $uid RETURN n.uid", "parameters": {"uid": uid}},
    ).json()["rows"][0][0],
}


@pytest.mark.parametrize("surface", BY_UID)
def test_every_odd_uid_of_a_real_estate_round_trips(client: httpx.Client, surface: str) -> None:
    listed = client.get("/v1/nodes?filter=kind%3Dpage&limit=100")
    assert listed.status_code == 200
    for uid in ODD_UIDS:
        if client.post("/v1/fetch", json={"uid": uid}).status_code == 404:
            continue  # the reader keeps names without blanks around them
        assert BY_UID[surface](client, uid) == uid


def test_nearly_all_odd_uids_are_there(client: httpx.Client) -> None:
    missing = [uid for uid in ODD_UIDS if client.post("/v1/fetch", json={"uid": uid}).status_code == 404]
    assert missing in ([], ["tab\t"])


# The command line

COMMANDS = {
    "no words": ["search", ""],
    "a blank": ["search", " "],
    "a wrong type": ["search", "a", "--limit", "ten"],
    "a fraction": ["search", "a", "--limit", "1.5"],
    "a number of 5,000 digits": ["search", "a", "--limit", "9" * 5_000],
    "a negative number": ["search", "a", "--limit=-1"],
    "an unknown option": ["search", "a", "--unknown", "1"],
    "an unknown command": ["serch", "a"],
    "an unknown filter": ["search", "a", "--filter", "kin=page"],
    "a filter without value": ["search", "a", "--filter", "kind"],
    "an unknown kind": ["search", "a", "--filter", "kind=pages"],
    "a long question": ["search", "a" * 10_000],
    "a cursor of nobody": ["search", "a", "--cursor", "é" * 3_000],
    "half a surrogate pair": ["search", "\ud800"],
    "a NUL": ["search", "a\0b"],
    "an unknown uid": ["fetch", "nobody at all"],
    "a write": ["query-graph", "MATCH (n) DELETE n"],
    "deep Cypher": ["query-graph", "RETURN " + "(" * 5_000 + "1" + ")" * 5_000],
    "a large query": ["query-graph", "RETURN '" + "a" * 100_000 + "'"],
    "a parameter of no name": ["query-graph", "RETURN $a", "--param", "=1"],
    "an unknown facet": ["nodes", "--facet", "kin"],
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_command_line_refuses(tmp_path, kind: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(["--data", str(tmp_path / "data"), "--json", *COMMANDS[kind]])
        except SystemExit as exit:
            code = exit.code
    assert code in (2, 3), (out.getvalue()[:300], err.getvalue()[:300])
    assert "Traceback" not in err.getvalue()
    assert len(out.getvalue()) + len(err.getvalue()) < 20_000
