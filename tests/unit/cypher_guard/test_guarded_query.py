"""Only the guard makes a GuardedQuery."""

import copy
import dataclasses
import pickle

import pytest

from cypher_guard import GuardedQuery
from tests.unit.cypher_guard.rendered import ask


@pytest.fixture
def query() -> GuardedQuery:
    return ask("MATCH (a:A {name: 'x'}) RETURN a.size AS s LIMIT 3", {})


def test_it_cannot_be_made_directly() -> None:
    for arguments in ((), ("MATCH (n) DETACH DELETE n",), (object(),)):
        with pytest.raises(TypeError):
            GuardedQuery(*arguments, text="CREATE ()", params={}, limit=1, columns=(), hops=0, fingerprint="")


def test_it_cannot_be_changed(query: GuardedQuery) -> None:
    with pytest.raises(AttributeError):
        query.text = "CREATE ()"
    with pytest.raises(AttributeError):
        del query.text
    with pytest.raises(TypeError):
        query.params["__s0"] = "y"  # type: ignore[index]
    with pytest.raises(TypeError):
        dataclasses.replace(query, text="CREATE ()")  # type: ignore[type-var]


def test_it_cannot_be_pickled_or_derived_from(query: GuardedQuery) -> None:
    with pytest.raises(TypeError):
        pickle.dumps(query)
    with pytest.raises(TypeError):
        type("Forged", (GuardedQuery,), {})


def test_a_copy_is_itself(query: GuardedQuery) -> None:
    assert copy.copy(query) is query
    assert copy.deepcopy(query) is query


def test_a_shell_without_the_guard_holds_nothing() -> None:
    shell = object.__new__(GuardedQuery)
    with pytest.raises(AttributeError):
        _ = shell.text


def test_fingerprints_tell_texts_apart_and_literals_not(query: GuardedQuery) -> None:
    other = ask("MATCH (a:A {name: 'y'}) RETURN a.size AS s LIMIT 3", {})
    assert other.fingerprint == query.fingerprint
    assert other != query
    assert ask("MATCH (a:B {name: 'y'}) RETURN a.size AS s LIMIT 3", {}).fingerprint != query.fingerprint
    assert ask("MATCH (a:A {name: 'x'}) RETURN a.size AS s LIMIT 3", {}) == query
