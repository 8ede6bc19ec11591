import asyncio
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

from service.domain.errors import EngineUnavailable
from service.ports import Vectors
from service.retrieval.query_vectors import QueryVectors


class CountingEmbedder:
    """Gives text number n of a call the vector (length of the text,), once it is let go."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.finished: list[str] = []
        self.was_asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.failures: list[Exception] = []

    async def embed(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Vectors:
        assert purpose == "query"
        self.asked.extend(texts)
        self.was_asked.set()
        await self.may_answer.wait()
        if self.failures:
            raise self.failures.pop()
        self.finished.extend(texts)
        return np.asarray([[len(text)] for text in texts], dtype=np.float32)


def test_a_repeated_query_is_not_embedded_again():
    async def ask() -> list[str]:
        vectors = QueryVectors(embedder := CountingEmbedder(), 8)
        assert (await vectors.vector("scale"))[0] == 5
        assert (await vectors.vector("scale"))[0] == 5
        return embedder.asked

    assert asyncio.run(ask()) == ["scale"]


def test_the_text_asked_for_longest_ago_gives_way():
    async def ask() -> list[str]:
        vectors = QueryVectors(embedder := CountingEmbedder(), 2)
        for text in ("a", "b", "a", "c", "a", "b"):
            await vectors.vector(text)
        return embedder.asked

    assert asyncio.run(ask()) == ["a", "b", "c", "b"]


def test_no_capacity_remembers_nothing():
    async def ask() -> list[str]:
        vectors = QueryVectors(embedder := CountingEmbedder(), 0)
        await vectors.vector("a")
        await vectors.vector("a")
        return embedder.asked

    assert asyncio.run(ask()) == ["a", "a"]


def test_callers_at_the_same_time_share_one_embedding():
    async def ask() -> list[str]:
        vectors = QueryVectors(embedder := CountingEmbedder(), 0)
        await asyncio.gather(*(vectors.vector("slot") for _ in range(20)))
        return embedder.asked

    assert asyncio.run(ask()) == ["slot"]


def test_a_caller_that_gives_up_leaves_the_others_their_answer():
    async def ask() -> tuple[float, list[str]]:
        vectors = QueryVectors(embedder := CountingEmbedder(), 8)
        embedder.may_answer.clear()
        hasty, patient = (asyncio.create_task(vectors.vector("slot")) for _ in range(2))
        await asyncio.wait_for(embedder.was_asked.wait(), 5)
        hasty.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hasty
        embedder.may_answer.set()
        return float((await asyncio.wait_for(patient, 5))[0]), embedder.asked

    assert asyncio.run(ask()) == (4.0, ["slot"])


def test_work_that_nobody_waits_for_is_stopped_and_begun_anew_for_the_next():
    async def ask() -> tuple[list[str], list[str]]:
        vectors = QueryVectors(embedder := CountingEmbedder(), 8)
        embedder.may_answer.clear()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(vectors.vector("slot"), 0.01)
        embedder.may_answer.set()
        await asyncio.wait_for(vectors.vector("slot"), 5)
        return embedder.asked, embedder.finished

    assert asyncio.run(ask()) == (["slot", "slot"], ["slot"])


def test_a_failure_reaches_every_caller_and_is_not_remembered():
    async def ask() -> float:
        vectors = QueryVectors(embedder := CountingEmbedder(), 8)
        embedder.failures = [EngineUnavailable("test", "down")]
        answers = await asyncio.gather(*(vectors.vector("slot") for _ in range(3)), return_exceptions=True)
        assert [type(answer) for answer in answers] == [EngineUnavailable] * 3
        return float((await vectors.vector("slot"))[0])

    assert asyncio.run(ask()) == 4.0
