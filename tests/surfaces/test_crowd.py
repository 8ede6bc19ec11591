"""Connections of a served process: one too many is told when to come again, and who never asks is not waited for."""

import json
import os
import socket
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.timeout(90)

MOST = 4
DEADLINE = 1.0


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Host and port of a server that takes few connections."""
    environment = os.environ | {
        "COGITAVE_QUERY_CONNECTIONS": str(MOST),
        "COGITAVE_QUERY_REQUEST_DEADLINE": str(int(DEADLINE * 1000)),
        "COGITAVE_QUERY_KEEP_ALIVE": "3",
        "COGITAVE_QUERY_PORT": "0",
    }
    code = "import sys; from service.surfaces.command_line import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "--data", str(tmp_path_factory.mktemp("data")), "--json", "serve"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment, text=True) as server:
        try:
            lines = ""
            while not lines.rstrip().endswith("}"):
                lines += server.stdout.readline()
            yield "127.0.0.1", int(json.loads(lines)["url"].rpartition(":")[2])
        finally:
            server.terminate()


def ask(connection):
    """Status, headers and body of GET /livez."""
    connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = b""
    while b"\r\n\r\n" not in answer:
        part = connection.recv(4096)
        assert part, "closed without an answer"
        answer += part
    head = answer.partition(b"\r\n\r\n")[0].decode().lower().split("\r\n")
    return int(head[0].split()[1]), dict(line.split(": ", 1) for line in head[1:])


def opened(place):
    connection = socket.create_connection(place, timeout=20)
    connection.settimeout(20)
    return connection


def test_one_connection_too_many_is_told_when_to_come_again(place):
    held = [opened(place) for _ in range(MOST)]
    assert [ask(one)[0] for one in held] == [200] * MOST
    one_more = opened(place)
    status, headers = ask(one_more)
    assert (status, headers["content-type"]) == (503, "application/problem+json")
    assert int(headers["retry-after"]) >= 1
    assert headers["connection"] == "close"
    for one in [*held, one_more]:
        one.close()


def test_a_request_with_two_ends_is_refused_and_nothing_after_it_is_read(place):
    """RFC 9112, 6.1: else what a proxy takes for a body is taken here for the next request."""
    smuggled = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    connection = opened(place)
    connection.sendall(head + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled)
    told = b""
    while part := connection.recv(65_536):
        told += part
    assert told.count(b"HTTP/1.1 ") == 1
    assert told.startswith(b"HTTP/1.1 400")
    assert b"two_lengths" in told
    connection.close()


def test_who_sends_a_request_a_byte_at_a_time_is_not_waited_for(place):
    slow = [opened(place) for _ in range(3 * MOST)]
    began = time.monotonic()
    for one in slow:
        one.sendall(b"GET /livez HTTP/1.1\r\nX-A: ")
    left = set(slow)
    while left:
        assert time.monotonic() - began < 10 * DEADLINE
        for one in list(left):
            try:
                one.sendall(b"a")
            except OSError:
                left.discard(one)
        time.sleep(0.1)
    assert time.monotonic() - began >= DEADLINE
    quick = opened(place)
    assert ask(quick)[0] == 200
    time.sleep(1.5 * DEADLINE)
    assert ask(quick)[0] == 200, "who asks again in time keeps its connection"
    quick.sendall(b"GET /livez HTTP/1.1\r\n")  # a next one that never ends
    while quick.recv(4096):  # what is left of the answer; then it is closed, or this waits for too long
        pass
    quick.close()
