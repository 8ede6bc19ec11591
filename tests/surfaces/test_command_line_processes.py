"""Commands as processes: one owner a data folder, the others through it, and how each ends."""

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest

from adapters.embedded.data_folder import DataFolder
from service.domain.deadline import Deadline
from service.settings import Settings
from service.surfaces.command_line.serving import address, listen

pytestmark = pytest.mark.timeout(240)

SECONDS = 90
COMMAND = [sys.executable, "-c", "import sys; from service.surfaces.command_line import main; sys.exit(main())"]

PAGE = """\
---
uid: handbook.on-call
title: Being on call
---
# Being on call

Whoever is on call answers the pager within five minutes.
"""


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def estate(tmp_path):
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "on-call.md").write_text(PAGE)
    return folder


def run(data, *words, **environment):
    """A command with --json, run to its end: exit code, its document, its standard error."""
    ended = subprocess.run(
        [*COMMAND, "--data", str(data), "--json", *map(str, words)],
        capture_output=True,
        timeout=SECONDS,
        env=os.environ | environment,
        check=False,
    )
    return ended.returncode, json.loads(ended.stdout), ended.stderr.decode()


@contextmanager
def serving(data, *words):
    """A server on a free port: the process, and the document that it printed when it was ready."""
    server = subprocess.Popen(
        [*COMMAND, "--data", str(data), "--json", "serve", "--port", "0", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield server, json.loads(first_document(server))
    finally:
        server.kill()
        server.communicate(timeout=SECONDS)


def first_document(process):
    """The lines up to the one that closes the document; a process that ends without one fails the test."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line == b"}\n":
            return b"".join(lines)
    raise AssertionError(process.stderr.read().decode())


def test_a_server_publishes_while_it_answers(data, estate):
    with serving(data, "--publish", estate) as (server, _ready):
        patience = Deadline.after(SECONDS * 1000)
        while not patience.has_passed:
            _code, found, _ = run(data, "search", "who answers the pager?")
            if found["hits"]:
                break
        assert [hit["uid"] for hit in found["hits"]] == ["handbook.on-call"]
        assert server.poll() is None


def test_a_server_whose_estate_is_none_ends_as_a_publish_would(data, tmp_path):
    ended = subprocess.run(
        [*COMMAND, "--data", str(data), "serve", "--port", "0", "--publish", str(tmp_path / "nowhere")],
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.returncode == 3
    assert b"estate_unreadable" in ended.stderr


def test_a_backup_is_made_while_a_server_answers_and_restored_beside_it(data, estate, tmp_path):
    with serving(data):
        code, published, _ = run(data, "publish", estate)
        assert code == 0
        code, written, _ = run(data, "backup", tmp_path / "b.tar")
        assert (code, written["contentRoot"]) == (0, published["contentRoot"])
        code, refused, _ = run(data, "restore", tmp_path / "b.tar")
        assert (code, refused["error"]["code"]) == (3, "data_folder_used")
        new = tmp_path / "new"
        code, restored, _ = run(new, "restore", tmp_path / "b.tar")
        assert (code, restored["healthy"], restored["contentRoot"]) == (0, True, published["contentRoot"])
        found = [run(folder, "search", "who answers the pager?")[1]["hits"] for folder in (data, new)]
        assert [hit["uid"] for hit in found[1]] == ["handbook.on-call"]
        assert found[0] == found[1]


def test_everything_goes_through_the_server_that_owns_the_folder(data, estate):
    with serving(data) as (server, ready):
        url = ready["url"]
        assert url.startswith("http://127.0.0.1:")
        assert ready["data"] == str(data)
        assert httpx.get(f"{url}/livez", timeout=SECONDS).is_success

        code, published, _ = run(data, "publish", estate)
        assert (code, published["added"]) == (0, 1)
        code, found, _ = run(data, "search", "who answers the pager?")
        assert code == 0, found
        over_http = httpx.post(f"{url}/v1/search", json={"text": "who answers the pager?"}, timeout=SECONDS).json()
        assert [hit["uid"] for hit in found["hits"]] == ["handbook.on-call"]
        assert [hit["uid"] for hit in over_http["hits"]] == ["handbook.on-call"]
        code, refused, _ = run(data, "fetch", "handbook.nobody")
        assert (code, refused["error"]["code"]) == (3, "node_unknown")
        code, refused, _ = run(data, "query-graph", "MATCH (n) DELETE n")
        assert (code, refused["error"]["code"]) == (3, "read_only")
        assert refused["error"]["line"] == 1

        code, kept, _ = run(data, "roots")
        assert (code, [root["contentRoot"] for root in kept["roots"]]) == (0, [published["contentRoot"]])
        code, examined, _ = run(data, "doctor")
        assert (code, examined["findings"]) == (0, [])
        code, resolved, _ = run(data, "xref", "Handbook.On-Call")
        assert (code, resolved["resolutions"][0]["uid"]) == (0, "handbook.on-call")

        code, second, _ = run(data, "serve", "--port", "0")
        assert (code, second["error"]["code"]) == (1, "data_folder_held")
        assert url in second["error"]["message"]

        server.send_signal(signal.SIGTERM)
        rest, logged = server.communicate(timeout=SECONDS)
        assert (server.returncode, rest) == (0, b"")
    logs = [json.loads(line) for line in logged.splitlines()]
    search = next(line for line in logs if line["event"] == "docs_search")
    assert search["run_id"] == found["runId"]
    assert b"pager" not in logged
    assert DataFolder.owner(data) is None

    code, found, _ = run(data, "search", "who answers the pager?")
    assert (code, [hit["uid"] for hit in found["hits"]]) == (0, ["handbook.on-call"])


def test_a_folder_that_another_command_holds_is_waited_for_and_then_told(data):
    with DataFolder.open(data):
        code, answer, _ = run(data, "nodes", COGITAVE_QUERY_STARTUP_DEADLINE="50")
    assert (code, answer["error"]["code"]) == (1, "data_folder_held")
    assert str(os.getpid()) in answer["error"]["message"]


def test_an_interrupt_while_waiting_ends_with_130(data):
    with DataFolder.open(data):
        waiting = subprocess.Popen(
            [*COMMAND, "--data", str(data), "nodes"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"COGITAVE_QUERY_STARTUP_DEADLINE": str(SECONDS * 1000)},
        )
        assert json.loads(waiting.stderr.readline())["event"] == "waiting for the data folder"
        waiting.send_signal(signal.SIGINT)
        out, err = waiting.communicate(timeout=SECONDS)
    assert (waiting.returncode, out) == (130, b"")
    assert b"Traceback" not in err


@pytest.mark.parametrize("words", [["--json", "settings"], ["settings"], ["settings", "--markdown"], ["--help"]])
def test_output_that_nobody_reads_is_no_error(data, words):
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run(
        [*COMMAND, "--data", str(data), *words],
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=SECONDS,
        check=False,
    )
    os.close(write)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_arguments_that_are_no_text_are_refused(data, estate):
    ended = subprocess.run(
        [*map(os.fsencode, COMMAND), b"--data", os.fsencode(data), b"--json", b"search", b"caf\xe9"],
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.returncode == 3
    assert json.loads(ended.stdout)["error"]["code"] == "query_malformed"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_no_address_beyond_loopback_is_bound_to(data, host):
    code, answer, _ = run(data, "serve", "--host", host, "--port", "0")
    assert (code, answer["error"]["code"]) == (3, "setting_invalid")
    assert not data.exists()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_a_free_port_is_named_in_the_address(host):
    with listen(Settings(host=host, port=0)) as listening:
        url = address(listening)
        port = listening.getsockname()[1]
    assert port > 0
    assert url.endswith(f":{port}")


def test_a_port_that_is_taken_is_told_before_the_stores_are_opened(data):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, answer, _ = run(data, "serve", "--port", port)
    assert (code, answer["error"]["code"]) == (1, "address_unavailable")
    assert str(port) in answer["error"]["message"]
    assert not data.exists()
