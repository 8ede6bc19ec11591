"""What the service relies on in any store of tunings."""

import asyncio

import pytest

from service.domain.deadline import Deadline
from service.domain.errors import EngineLate, TuningChanged
from service.domain.tuning import PinnedResult, Synonym, TuningResult, TuningVersion
from service.ports import TuningStore

pytestmark = pytest.mark.anyio

ODD = "an odd 'workspace'; DROP TABLE tuning; -- \U0001f511 }) MATCH (n) DETACH DELETE n //"


def soon() -> Deadline:
    return Deadline.after(30_000)


def version(number: int, workspace: str = "default", *pins: str) -> TuningResult:
    return TuningResult(
        workspace=workspace,
        version=number,
        at=f"2026-01-0{number}T00:00:00+00:00",
        by="an editor",
        reason=f"reason {number}",
        pin_count=len(pins),
        synonym_count=1,
        pins=[PinnedResult(words="how to swap", uid=uid, until="2026-12-31", note="'\"") for uid in pins],
        synonyms=[Synonym(terms=["k8s", "kubernetes"])],
    )


async def test_nobody_tuned_is_version_0_and_empty(tuning_store: TuningStore) -> None:
    for number in (None, 0):
        assert await tuning_store.find(ODD, number, deadline=soon()) == TuningResult(workspace=ODD)
    assert await tuning_store.find(ODD, 1, deadline=soon()) is None
    assert await tuning_store.newest(ODD, deadline=soon()) == 0
    assert await tuning_store.history(ODD, limit=5, deadline=soon()) == []
    assert await tuning_store.workspaces(deadline=soon()) == []


async def test_versions_are_kept_whole_and_apart_by_workspace(tuning_store: TuningStore) -> None:
    here, there = [version(1, "default", "a"), version(2, "default", "b", "c#")], version(1, ODD, "d")
    for one in (*here, there):
        await tuning_store.append(one, kept=10, deadline=soon())
    assert [await tuning_store.find("default", n, deadline=soon()) for n in (None, 1, 2)] == [here[1], *here]
    assert await tuning_store.find(ODD, deadline=soon()) == there
    assert [await tuning_store.newest(name, deadline=soon()) for name in ("default", ODD, "else")] == [2, 1, 0]
    history: list[TuningVersion] = await tuning_store.history("default", limit=5, deadline=soon())
    assert history == [here[1].about, here[0].about]
    assert await tuning_store.history("default", limit=1, deadline=soon()) == [here[1].about]
    assert await tuning_store.workspaces(deadline=soon()) == sorted(
        [here[1].about, there.about], key=lambda one: one.workspace
    )


@pytest.mark.parametrize("number", [0, 1, 2, 4])
async def test_a_version_that_does_not_follow_is_refused_with_the_current_one(
    tuning_store: TuningStore, number: int
) -> None:
    kept = [version(1, "default", "a"), version(2, "default", "b")]
    for one in kept:
        await tuning_store.append(one, kept=10, deadline=soon())
    with pytest.raises(TuningChanged) as refused:
        await tuning_store.append(version(number, "default", "lost"), kept=10, deadline=soon())
    assert refused.value.suggestion == "2"
    assert await tuning_store.find("default", deadline=soon()) == kept[1]
    assert await tuning_store.find("default", 1, deadline=soon()) == kept[0]


async def test_of_many_at_once_one_is_first(tuning_store: TuningStore) -> None:
    async def edit(name: str) -> str | None:
        try:
            await tuning_store.append(version(1, "default", name), kept=10, deadline=soon())
        except TuningChanged:
            return None
        return name

    won = [name for name in await asyncio.gather(*(edit(f"editor {n}") for n in range(8))) if name]
    assert len(won) == 1
    found = await tuning_store.find("default", deadline=soon())
    assert found is not None
    assert [pin.uid for pin in found.pins] == won


async def test_the_oldest_give_way_and_numbers_go_on(tuning_store: TuningStore) -> None:
    for number in range(1, 6):
        await tuning_store.append(version(number, "default", f"p{number}"), kept=2, deadline=soon())
    assert [one.version for one in await tuning_store.history("default", limit=9, deadline=soon())] == [5, 4]
    assert await tuning_store.find("default", 3, deadline=soon()) is None
    assert await tuning_store.find("default", 0, deadline=soon()) == TuningResult()


async def test_a_deadline_that_has_passed_is_kept(tuning_store: TuningStore) -> None:
    with pytest.raises(EngineLate):
        await tuning_store.find("default", deadline=Deadline.after(-1))
