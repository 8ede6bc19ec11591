"""Profiles are data, whole or in part."""

import json

import pytest

from cypher_guard import BOUNDED, EXTENDED, Profile


def test_any_subset_of_fields_makes_a_profile() -> None:
    profile = Profile.from_mapping({"edge_types": ["X"], "labels": None, "max_hops": 2})
    assert profile.edge_types == frozenset({"X"})
    assert profile.labels is None
    assert (profile.max_hops, profile.max_total_hops, profile.clauses) == (2, 8, "bounded")


def test_a_profile_comes_back_from_its_json() -> None:
    for profile in (BOUNDED, EXTENDED):
        assert Profile.from_mapping(json.loads(json.dumps(profile.as_mapping()))) == profile
        assert hash(Profile.from_mapping(profile.as_mapping())) == hash(profile)


def test_the_defaults_are_the_documentation_graphs() -> None:
    assert len(BOUNDED.edge_types) == 9
    assert (BOUNDED.max_rows, BOUNDED.default_rows, BOUNDED.timeout_ms) == (1000, 100, 250)
    assert (BOUNDED.max_text, BOUNDED.max_parameter_bytes, BOUNDED.max_result_bytes) == (2**14, 2**18, 2**22)
    assert (BOUNDED.max_hops, BOUNDED.max_total_hops, BOUNDED.max_nesting, BOUNDED.max_subqueries) == (4, 8, 64, 4)
    assert BOUNDED.properties is not None
    assert "visibleTo" not in BOUNDED.properties


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"max_hop": 3}, "unknown field 'max_hop'"),
        ({"max_hops": 0}, "max_hops is an integer of 1 or more"),
        ({"max_hops": True}, "max_hops is an integer"),
        ({"max_hops": "3"}, "max_hops is an integer"),
        ({"allow_regex": 1}, "allow_regex is true or false"),
        ({"clauses": "all"}, "clauses is bounded or extended"),
        ({"edge_types": None}, "edge_types is a list of names"),
        ({"edge_types": "CALLS"}, "edge_types is a list of names"),
        ({"labels": [1]}, "labels holds 1"),
        ({"labels": ["a\\u0060"]}, "labels holds"),
        ({"default_rows": 2000}, "default_rows"),
        ([], "a profile is an object"),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        Profile.from_mapping(fields)


def test_the_description_holds_what_a_writer_of_queries_needs() -> None:
    text = EXTENDED.describe()
    for part in (
        "WITH",
        "UNWIND",
        "partOf",
        "LearningPath",
        "toLower",
        "1000 at most",
        "MATCH (a:Api {title: $title})",
    ):
        assert part in text
    assert "UNWIND" not in BOUNDED.describe()


def test_the_examples_of_a_description_are_accepted() -> None:
    from cypher_guard import guard

    for profile in (BOUNDED, EXTENDED, Profile.from_mapping({"edge_types": ["X"], "labels": None, "properties": None})):
        examples = profile.describe().split("Examples:\n")[1].split("\n")
        assert len(examples) == 4
        for example in examples:
            assert guard(example, None, profile).limit <= profile.max_rows
