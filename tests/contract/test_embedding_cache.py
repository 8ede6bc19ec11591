"""What the service relies on in any embedding cache."""

import numpy as np
import pytest

from service.ports import EmbeddingCache, Vector
from tests.contract.conftest import CACHED_VECTORS

pytestmark = pytest.mark.anyio


def vector(seed: int) -> Vector:
    return np.random.default_rng(seed).normal(size=384).astype(np.float32)


async def test_a_vector_comes_back_bit_for_bit(embedding_cache: EmbeddingCache) -> None:
    embedding_cache.put("model", {"a": vector(1), "b": vector(2)})
    found = embedding_cache.get("model", ["a", "b", "unknown"])
    assert set(found) == {"a", "b"}
    assert found["a"].dtype == np.float32
    np.testing.assert_array_equal(found["a"], vector(1))
    np.testing.assert_array_equal(found["b"], vector(2))


async def test_two_models_never_meet(embedding_cache: EmbeddingCache) -> None:
    embedding_cache.put("one", {"a": vector(1)})
    assert embedding_cache.get("another", ["a"]) == {}


async def test_putting_again_replaces(embedding_cache: EmbeddingCache) -> None:
    embedding_cache.put("model", {"a": vector(1)})
    embedding_cache.put("model", {"a": vector(2)})
    np.testing.assert_array_equal(embedding_cache.get("model", ["a"])["a"], vector(2))


async def test_nothing_asked_and_nothing_put(embedding_cache: EmbeddingCache) -> None:
    embedding_cache.put("model", {})
    assert embedding_cache.get("model", []) == {}


async def test_more_hashes_than_a_statement_holds(embedding_cache: EmbeddingCache) -> None:
    embedding_cache.put("model", {"a": vector(1)})
    assert set(embedding_cache.get("model", [str(number) for number in range(5_000)] + ["a"])) == {"a"}


async def test_the_first_ones_give_way(embedding_cache: EmbeddingCache) -> None:
    for number in range(CACHED_VECTORS + 10):
        embedding_cache.put("model", {str(number): vector(number)})
    found = embedding_cache.get("model", [str(number) for number in range(CACHED_VECTORS + 10)])
    assert set(found) == {str(number) for number in range(10, CACHED_VECTORS + 10)}
