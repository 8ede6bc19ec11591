"""What the service relies on in any embedder."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import pytest
from pydantic import SecretStr

from adapters.embedding.http import HttpEmbedder
from adapters.embedding.minilm import MiniLM
from service.ports import Embedder, Vectors
from tests.unit.adapters.embedding.endpoint import serve_endpoint

T = TypeVar("T")
Use = Callable[[Callable[[Embedder], Awaitable[T]]], T]

TEXTS = ["Swap the staging slot", "A migration brings the schema up to date", "", "🧭 café", "word " * 2_000]


@contextmanager
def packaged() -> Iterator[Callable[[], Awaitable[Embedder]]]:
    async def make() -> Embedder:
        return MiniLM.load(threads=2)

    yield make


@contextmanager
def remote() -> Iterator[Callable[[], Awaitable[Embedder]]]:
    with serve_endpoint() as endpoint:

        async def make() -> Embedder:
            return await HttpEmbedder.connect(
                endpoint.url, "test-model", SecretStr(""), dimensions=0, deadline_ms=10_000, batch=2
            )

        yield make


@pytest.fixture(params=[packaged, remote], ids=["minilm", "http"])
def use(request: pytest.FixtureRequest) -> Iterator[Use]:
    """Runs an async piece of work on a fresh embedder, which is closed after it."""
    with request.param() as make:

        async def run(work: Callable[[Embedder], Awaitable[T]]) -> T:
            embedder = await make()
            try:
                return await work(embedder)
            finally:
                await embedder.close()

        yield lambda work: asyncio.run(run(work))


def test_vectors_have_the_shape_and_length_that_indexes_expect(use: Use):
    async def work(embedder: Embedder) -> tuple[Vectors, int]:
        return await embedder.embed(TEXTS, "passage"), embedder.dimensions

    vectors, dimensions = use(work)
    assert vectors.shape == (len(TEXTS), dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_a_text_has_one_vector_whatever_it_is_embedded_with(use: Use):
    async def work(embedder: Embedder) -> tuple[Vectors, Vectors]:
        alone = [(await embedder.embed([text], "passage"))[0] for text in TEXTS]
        return await embedder.embed(TEXTS, "passage"), np.stack(alone)

    together, alone = use(work)
    assert np.allclose(together, alone, atol=1e-6)


def test_different_texts_have_different_vectors(use: Use):
    vectors = use(lambda embedder: embedder.embed(TEXTS, "passage"))
    assert np.max(vectors @ vectors.T - np.eye(len(TEXTS))) < 0.99


def test_no_texts_are_no_error(use: Use):
    async def work(embedder: Embedder) -> tuple[Vectors, int]:
        return await embedder.embed([], "query"), embedder.dimensions

    vectors, dimensions = use(work)
    assert vectors.shape == (0, dimensions)


def test_the_model_is_named_and_passages_have_a_length(use: Use):
    async def work(embedder: Embedder) -> tuple[str, int, int]:
        return embedder.model, embedder.passage_tokens, len(embedder.tokens.spans("one two three"))

    model, passage_tokens, counted = use(work)
    assert model
    assert passage_tokens > counted == 3


def test_many_callers_at_once_each_get_their_own_answer(use: Use):
    texts = [f"question number {number}" for number in range(12)]

    async def work(embedder: Embedder) -> tuple[list[Vectors], Vectors]:
        each = await asyncio.gather(*(embedder.embed([text], "query") for text in texts))
        return each, await embedder.embed(texts, "query")

    each, together = use(work)
    assert np.allclose(np.vstack(each), together, atol=1e-6)
