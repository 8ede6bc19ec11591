import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import numpy as np
import pytest
from pydantic import SecretStr

from adapters.embedding.http import HttpEmbedder
from service.domain.errors import EngineLate, EngineUnavailable
from tests.unit.adapters.embedding.endpoint import DIMENSIONS, Endpoint, Reply, honest_vector, serve_endpoint

T = TypeVar("T")

KEY = "sk-not-to-be-seen"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve_endpoint() as served:
        yield served


def ask(
    endpoint: Endpoint,
    work: Callable[[HttpEmbedder], Awaitable[T]],
    *,
    deadline_ms: int = 5_000,
    batch: int = 2,
    dimensions: int = DIMENSIONS,
    url: str | None = None,
) -> T:
    async def run() -> T:
        embedder = await HttpEmbedder.connect(
            url or endpoint.url,
            "test-model",
            SecretStr(KEY),
            dimensions=dimensions,
            deadline_ms=deadline_ms,
            batch=batch,
        )
        try:
            return await work(embedder)
        finally:
            await embedder.close()

    return asyncio.run(run())


def unit(text: str) -> np.ndarray:
    vector = np.asarray(honest_vector(text))
    return vector / np.linalg.norm(vector)


def test_each_text_gets_its_own_vector_at_unit_length(endpoint: Endpoint):
    texts = ["one", "two", "three", "four", "five"]
    vectors = ask(endpoint, lambda embedder: embedder.embed(texts, "passage"))
    assert np.allclose(vectors, [unit(text) for text in texts], atol=1e-6)


def test_texts_are_sent_in_batches_with_model_and_key(endpoint: Endpoint):
    ask(endpoint, lambda embedder: embedder.embed(["one", "two", "three"], "passage"))
    assert [request["input"] for request in endpoint.requests] == [["one", "two"], ["three"]]
    assert {request["model"] for request in endpoint.requests} == {"test-model"}
    assert {request["path"] for request in endpoint.requests} == {"/v1/embeddings"}
    assert set(endpoint.authorizations) == {f"Bearer {KEY}"}


def test_text_that_is_not_well_formed_is_sent_as_well_as_it_can_be(endpoint: Endpoint):
    ask(endpoint, lambda embedder: embedder.embed(["a\ud800b"], "passage"))
    assert endpoint.requests[0]["input"] == ["a?b"]


def test_no_texts_no_request(endpoint: Endpoint):
    assert ask(endpoint, lambda embedder: embedder.embed([], "passage")).shape == (0, DIMENSIONS)
    assert endpoint.requests == []


def test_dimensions_are_asked_for_when_nobody_says_them(endpoint: Endpoint):
    async def dimensions(embedder: HttpEmbedder) -> int:
        return embedder.dimensions

    assert ask(endpoint, dimensions, dimensions=0) == DIMENSIONS


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_endpoint_is_asked_again(endpoint: Endpoint, status: int):
    endpoint.script = [Reply(status=status, body=b"busy"), Reply(status=status, body=b"busy")]
    vectors = ask(endpoint, lambda embedder: embedder.embed(["one"], "query"))
    assert np.allclose(vectors[0], unit("one"), atol=1e-6)
    assert len(endpoint.requests) == 3


def test_a_connection_that_breaks_off_is_tried_again(endpoint: Endpoint):
    endpoint.script = [Reply(hang_up=True)]
    assert np.allclose(ask(endpoint, lambda embedder: embedder.embed(["one"], "query"))[0], unit("one"), atol=1e-6)


def test_an_endpoint_that_stays_busy_is_given_up_within_the_deadline(endpoint: Endpoint):
    endpoint.script = [Reply(status=503, body=b"busy")] * 1_000
    with pytest.raises(EngineUnavailable, match="status 503"):
        ask(endpoint, lambda embedder: embedder.embed(["one"], "query"), deadline_ms=300)
    assert 1 <= len(endpoint.requests) < 1_000


def test_a_wait_that_the_deadline_does_not_allow_is_not_begun(endpoint: Endpoint):
    endpoint.script = [Reply(status=429, body=b"", headers={"Retry-After": "3600"})]
    with pytest.raises(EngineUnavailable, match="status 429"):
        ask(endpoint, lambda embedder: embedder.embed(["one"], "query"))
    assert len(endpoint.requests) == 1


def test_an_answer_after_the_deadline_is_late(endpoint: Endpoint):
    release = threading.Event()
    endpoint.script = [Reply(before=lambda: release.wait(30))]
    try:
        with pytest.raises(EngineLate, match="100 ms"):
            ask(endpoint, lambda embedder: embedder.embed(["one"], "query"), deadline_ms=100)
    finally:
        release.set()


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_final(endpoint: Endpoint, status: int):
    endpoint.script = [Reply(status=status, body=f"bad key {KEY}".encode())]
    with pytest.raises(EngineUnavailable, match=f"status {status}") as refusal:
        ask(endpoint, lambda embedder: embedder.embed(["one"], "query"))
    assert len(endpoint.requests) == 1
    assert KEY not in refusal.value.message


def test_an_endpoint_that_is_not_there_is_said_at_once(endpoint: Endpoint):
    with pytest.raises(EngineUnavailable, match="could not be reached"):
        ask(endpoint, lambda embedder: embedder.embed(["one"], "query"), url="http://127.0.0.1:1/v1")


def rows(*vectors: list[float]) -> bytes:
    return json.dumps({"data": [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]}).encode()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<html>", "did not answer with 1 vectors"),
        (b"[]", "did not answer with 1 vectors"),
        (b'{"data": []}', "did not answer with 1 vectors"),
        (b'{"data": [{"index": 1, "embedding": [1.0]}]}', "did not answer with 1 vectors"),
        (b'{"data": [{"index": 0, "embedding": "AAAA"}]}', "did not answer with 1 vectors"),
        (rows([]), "no direction"),
        (rows([float("nan")] * DIMENSIONS), "did not answer|no direction"),
        (rows([float("inf")] * DIMENSIONS), "did not answer|no direction"),
        (rows([0.0] * DIMENSIONS), "no direction"),
        (rows([1.0] * (DIMENSIONS - 1)), f"vectors of {DIMENSIONS - 1} dimensions where {DIMENSIONS}"),
    ],
)
def test_an_answer_that_is_no_vector_is_refused(endpoint: Endpoint, body: bytes, reason: str):
    endpoint.script = [Reply(body=body)]
    with pytest.raises(EngineUnavailable, match=reason):
        ask(endpoint, lambda embedder: embedder.embed(["one"], "query"))


def test_vectors_of_different_lengths_in_one_answer_are_refused(endpoint: Endpoint):
    endpoint.script = [Reply(body=rows([1.0], [1.0, 2.0]))]
    with pytest.raises(EngineUnavailable, match="did not answer with 2 vectors"):
        ask(endpoint, lambda embedder: embedder.embed(["one", "two"], "query"))


def test_the_key_is_in_no_log(endpoint: Endpoint, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, "httpx"):
        ask(endpoint, lambda embedder: embedder.embed(["one"], "query"))
    assert caplog.records
    assert KEY not in caplog.text


def test_passages_are_counted_with_the_packaged_tokenizer(endpoint: Endpoint):
    async def tokens(embedder: HttpEmbedder) -> int:
        return len(embedder.tokens.spans("a deployment slot"))

    assert ask(endpoint, tokens) == 3
