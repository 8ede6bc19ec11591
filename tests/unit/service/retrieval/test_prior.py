import asyncio
import math
from dataclasses import replace

import pytest

from service.domain.deadline import Deadline
from service.domain.errors import EngineLate, EngineUnavailable
from service.domain.graph import NodeIdentity
from service.domain.scores import NodeScores
from service.retrieval.prior import PriorCache, percentiles, prior_of
from service.settings import Settings

A, B, C = (NodeIdentity(uid, "en-us") for uid in "abc")
PUBLIC = frozenset({"*"})


@pytest.mark.parametrize(
    ("seeded", "unseeded", "expected"),
    [
        (1.0, 1.0, 0.0),
        (10.0, 1.0, 0.5),
        (100.0, 1.0, 1.0),
        (5000.0, 1.0, 1.0),
        (0.5, 1.0, 0.0),
        (0.0, 1.0, 0.0),
        (1.0, 0.0, 0.0),
    ],
)
def test_the_prior_is_the_logarithm_of_the_lift(seeded: float, unseeded: float, expected: float) -> None:
    assert prior_of(seeded, unseeded) == pytest.approx(expected)


def test_percentiles_run_from_zero_to_one_and_equals_share_a_place() -> None:
    assert percentiles(NodeScores.of({A: 3.0, B: 1.0, C: 1.0})) == {A: 1.0, B: 0.0, C: 0.0}
    assert percentiles(NodeScores.of({A: 3.0})) == {A: 0.0}
    assert percentiles(NodeScores.of({})) == {}


class Ranker:
    """Unseeded scores of 3 for each of three nodes, so 1 of a walk's whole mass; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[NodeIdentity] = []
        self.wait = asyncio.Event()
        self.wait.set()
        self.fails = False

    async def global_scores(self, audiences, *, deadline):
        return NodeScores.of({A: 3.0, B: 3.0, C: 3.0})

    async def personalized(self, seeds, audiences, *, bound=0.0, deadline):
        (seed,) = seeds
        self.asked.append(seed)
        await self.wait.wait()
        if self.fails:
            raise EngineUnavailable("graph", "gone")
        return NodeScores.of({seed: 100.0, B: 10.0})


def test_one_vector_an_anchor_computed_once_and_added_up() -> None:
    async def story() -> None:
        ranker = Ranker()
        cache = PriorCache(ranker, Settings(prior_l1_bound=0.0))
        for _ in range(2):
            priors = await cache.priors([A, C], [A, B, C], 1, PUBLIC, deadline=Deadline.after(1000))
        assert ranker.asked == [A, C]
        assert priors[B] == pytest.approx(math.log(10) / math.log(100))
        assert priors[A] == pytest.approx(math.log(50) / math.log(100))

    asyncio.run(story())


def test_a_walk_from_the_anchor_is_compared_with_a_walk_from_anywhere() -> None:
    """Three nodes without an edge, d = 0.85: each source keeps 0.15 of its mass, so the anchor has a lift of 3."""

    class Islands(Ranker):
        async def global_scores(self, audiences, *, deadline):
            return NodeScores.of({A: 0.15, B: 0.15, C: 0.15})

        async def personalized(self, seeds, audiences, *, bound=0.0, deadline):
            return NodeScores.of({seed: 0.15 * weight for seed, weight in seeds.items()})

    async def story() -> None:
        priors = await PriorCache(Islands(), Settings()).priors([A], [A, B], 1, PUBLIC, deadline=Deadline.after(1000))
        assert priors == {A: pytest.approx(math.log(3) / math.log(100)), B: 0.0}

    asyncio.run(story())


def test_the_walk_and_what_is_left_out_share_the_bound() -> None:
    """Of 100 a walk may lie off 4: a bound of a tenth leaves 0.1·(100 − 4) − 4 = 5.6 to leave out, and not 10."""

    class Near(Ranker):
        async def personalized(self, seeds, audiences, *, bound=0.0, deadline):
            assert bound == 0.05
            return replace(NodeScores.of({A: 90.0, B: 6.0, C: 4.0}), error=4.0)

    async def story() -> None:
        cache = PriorCache(Near(), Settings(prior_l1_bound=0.1))
        priors = await cache.priors([A], [A, B, C], 1, PUBLIC, deadline=Deadline.after(1000))
        assert priors[B] == pytest.approx(math.log(6) / math.log(100))
        assert priors[C] == 0

    asyncio.run(story())


def test_another_snapshot_has_vectors_of_its_own() -> None:
    async def story() -> None:
        ranker = Ranker()
        cache = PriorCache(ranker, Settings())
        for generation in (1, 2, 1):
            await cache.priors([A], [B], generation, PUBLIC, deadline=Deadline.after(1000))
        assert ranker.asked == [A, A, A]

    asyncio.run(story())


def test_visibility_classes_share_nothing() -> None:
    async def story() -> None:
        ranker = Ranker()
        cache = PriorCache(ranker, Settings())
        for audiences in (PUBLIC, PUBLIC | {"staff"}):
            await cache.priors([A], [B], 1, audiences, deadline=Deadline.after(1000))
        assert ranker.asked == [A, A]

    asyncio.run(story())


def test_a_query_that_cannot_wait_leaves_the_vector_for_the_next() -> None:
    async def story() -> None:
        ranker = Ranker()
        ranker.wait.clear()
        cache = PriorCache(ranker, Settings())
        with pytest.raises(EngineLate):
            await cache.priors([A], [B], 1, PUBLIC, deadline=Deadline.after(30))
        ranker.wait.set()
        priors = await cache.priors([A], [B], 1, PUBLIC, deadline=Deadline.after(1000))
        assert priors[B] > 0
        assert ranker.asked == [A]

    asyncio.run(story())


def test_what_was_begun_beside_other_work_is_not_computed_again() -> None:
    async def story() -> None:
        ranker = Ranker()
        cache = PriorCache(ranker, Settings())
        cache.begin([A, C], 1, PUBLIC)
        await asyncio.sleep(0.01)
        assert ranker.asked == [A, C]
        priors = await cache.priors([A, C], [B], 1, PUBLIC, deadline=Deadline.after(10_000))
        assert priors[B] > 0
        assert ranker.asked == [A, C]

    asyncio.run(story())


def test_a_failure_is_tried_again() -> None:
    async def story() -> None:
        ranker = Ranker()
        ranker.fails = True
        cache = PriorCache(ranker, Settings())
        with pytest.raises(EngineUnavailable):
            await cache.priors([A], [B], 1, PUBLIC, deadline=Deadline.after(1000))
        ranker.fails = False
        assert await cache.priors([A], [B], 1, PUBLIC, deadline=Deadline.after(1000))

    asyncio.run(story())


def test_no_anchors_no_priors() -> None:
    async def story() -> None:
        assert await PriorCache(Ranker(), Settings()).priors([], [B], 1, PUBLIC, deadline=Deadline.after(1)) == {}

    asyncio.run(story())
