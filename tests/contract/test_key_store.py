"""What authentication relies on in any store of keys."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from service.domain.deadline import Deadline
from service.domain.errors import EngineLate
from service.domain.keys import ApiKey, mint, split
from service.domain.principal import Scope
from service.ports import KeyStore

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def soon() -> Deadline:
    return Deadline.after(30_000)


def key(name: str = "the build", *, expires_at: datetime | None = None) -> ApiKey:
    made, _text = mint(
        name, frozenset({Scope.SEARCH, Scope.PUBLISH}), frozenset({"staff"}), now=NOW, expires_at=expires_at
    )
    return made


async def test_a_key_is_found_as_it_was_added(key_store: KeyStore) -> None:
    never, some_day = key("'; DROP TABLE api_key; --"), key("ünïcode \U0001f511", expires_at=NOW + timedelta(days=1))
    for one in (never, some_day):
        await key_store.add(one, deadline=soon())
    assert await key_store.find(never.id, deadline=soon()) == never
    assert await key_store.all(deadline=soon()) == [never, some_day]


@pytest.mark.parametrize("id", ["", "nobody", "' OR 1=1 --", "}) MATCH (n) DETACH DELETE n //", "é" * 1000, "\0"])
async def test_an_id_that_nobody_has_is_nobodys(key_store: KeyStore, id: str) -> None:
    held = key()
    await key_store.add(held, deadline=soon())
    assert await key_store.find(id, deadline=soon()) is None
    assert not await key_store.revoke(id, NOW, deadline=soon())
    assert await key_store.all(deadline=soon()) == [held]


async def test_a_key_is_revoked_once_and_for_all(key_store: KeyStore) -> None:
    revoked, other = key(), key()
    for one in (revoked, other):
        await key_store.add(one, deadline=soon())
    assert await key_store.revoke(revoked.id, NOW, deadline=soon())
    assert await key_store.revoke(revoked.id, NOW + timedelta(hours=1), deadline=soon())
    found = await key_store.find(revoked.id, deadline=soon())
    assert found is not None
    assert found.revoked_at == NOW
    assert not found.is_valid(NOW)
    assert await key_store.find(other.id, deadline=soon()) == other


async def test_the_last_use_is_the_last(key_store: KeyStore) -> None:
    held = key()
    await key_store.add(held, deadline=soon())
    for minutes in (1, 2):
        await key_store.used(held.id, NOW + timedelta(minutes=minutes), deadline=soon())
    await key_store.used("nobody", NOW, deadline=soon())
    (found,) = await key_store.all(deadline=soon())
    assert found.last_used_at == NOW + timedelta(minutes=2)


async def test_many_ask_at_once(key_store: KeyStore) -> None:
    keys = [key(str(number)) for number in range(20)]
    await asyncio.gather(*(key_store.add(one, deadline=soon()) for one in keys))
    assert await asyncio.gather(*(key_store.find(one.id, deadline=soon()) for one in keys)) == keys


async def test_a_deadline_that_has_passed_is_kept(key_store: KeyStore) -> None:
    with pytest.raises(EngineLate):
        await key_store.find("nobody", deadline=Deadline.after(0))


def test_a_key_opens_by_its_own_secret_alone() -> None:
    held, text = mint("a", frozenset(), frozenset(), now=NOW, expires_at=NOW + timedelta(hours=1))
    parts = split(text)
    assert parts is not None
    id, secret = parts
    assert id == held.id
    assert held.opens(secret, NOW)
    assert not held.opens(secret, NOW + timedelta(hours=1))
    for wrong in ("", secret[:-1], secret + "a", secret.swapcase(), held.hash.hex()):
        assert not held.opens(wrong, NOW)


@pytest.mark.parametrize("text", ["", "cq_", "cq__", "cq_a", "cq_a_", "cq__a", "a_b", "cq_é_a", "cq_a_" + "b" * 200])
def test_what_is_no_key_is_taken_for_none(text: str) -> None:
    assert split(text) is None


def test_nothing_that_prints_a_key_prints_its_hash() -> None:
    held, text = mint("a", frozenset(), frozenset(), now=NOW, expires_at=None)
    secret = text.split("_", 2)[2]
    assert secret not in repr(held)
    assert str(held.hash) not in repr(held)
    assert held.hash.hex() not in repr(held)
