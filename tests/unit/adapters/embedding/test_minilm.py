import asyncio

import numpy as np
import pytest

from adapters.embedding.minilm import MiniLM
from adapters.embedding.packages import ModelUnusable
from adapters.embedding.reference import LOWEST_COSINE, Reference, references

TEXTS = ["a short one", "a longer text about deployment slots " * 12, "swap", "short again, in another batch"]


def test_it_agrees_with_every_reference_vector(minilm: MiniLM):
    for reference in references():
        assert minilm.vector(reference.text) @ reference.vector >= LOWEST_COSINE


def test_another_sentence_is_far_from_a_reference(minilm: MiniLM):
    reference = references()[0]
    with pytest.raises(ModelUnusable, match="cosine"):
        minilm.verify([Reference("An unrelated remark on cooking rice.", reference.vector)])


def test_a_vector_that_is_no_number_is_refused(minilm: MiniLM):
    with pytest.raises(ModelUnusable):
        minilm.verify([*references()[:1], Reference("text", np.full(384, np.nan, dtype=np.float32))])


def test_vectors_come_in_the_texts_order_whatever_else_is_in_the_call(minilm: MiniLM):
    together = asyncio.run(minilm.embed(TEXTS, "passage"))
    alone = np.stack([minilm.vector(text) for text in TEXTS])
    assert np.array_equal(together, alone)


def test_vectors_have_unit_length(minilm: MiniLM):
    vectors = asyncio.run(minilm.embed([*TEXTS, "", "🧭", "\x00", "\ud800"], "query"))
    assert vectors.shape == (8, minilm.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_no_texts_no_vectors(minilm: MiniLM):
    assert asyncio.run(minilm.embed([], "passage")).shape == (0, 384)


def test_what_the_model_does_not_read_does_not_count(minilm: MiniLM):
    whole = " ".join(["word"] * minilm.passage_tokens)
    assert np.array_equal(minilm.vector(whole), minilm.vector(f"{whole} and what follows"))
    assert not np.array_equal(minilm.vector(whole), minilm.vector(whole.replace("word", "and", 1)))


def test_a_query_does_not_wait_behind_a_publish(minilm: MiniLM):
    async def ask_while_publishing() -> bool:
        publish = asyncio.create_task(minilm.embed(TEXTS * 50, "passage"))
        await asyncio.sleep(0)
        await asyncio.wait_for(minilm.embed(["a question"], "query"), timeout=30)
        still_publishing = not publish.done()
        publish.cancel()
        return still_publishing

    assert asyncio.run(ask_while_publishing())


def test_a_cancelled_call_leaves_the_model_usable(minilm: MiniLM):
    async def cancel_then_ask() -> np.ndarray:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(minilm.embed(TEXTS * 50, "passage"), timeout=0.01)
        return await asyncio.wait_for(minilm.embed(["swap"], "passage"), timeout=30)

    assert np.array_equal(asyncio.run(cancel_then_ask())[0], minilm.vector("swap"))
