from hypothesis import given
from hypothesis import strategies as st

from service.domain.graph import NodeIdentity
from service.publishing.difference import compare

IDENTITIES = st.builds(NodeIdentity, st.sampled_from("abcd"), st.sampled_from(["en-us", "de-de"]))
MANIFESTS = st.dictionaries(IDENTITIES, st.sampled_from(["1", "2"]))
A, B, C = (NodeIdentity(uid, "en-us") for uid in "abc")


def test_added_changed_removed_and_unchanged() -> None:
    difference = compare({A: "1", B: "1"}, {B: "2", C: "1"})
    assert difference.added == {C}
    assert difference.changed == {B}
    assert difference.removed == {A}
    assert difference.unchanged == 0
    assert difference.gone == {(A, "1"), (B, "1")}


@given(MANIFESTS)
def test_a_manifest_differs_in_nothing_from_itself(manifest: dict[NodeIdentity, str]) -> None:
    difference = compare(manifest, manifest)
    assert difference.is_empty
    assert difference.unchanged == len(manifest)


@given(MANIFESTS, MANIFESTS)
def test_taking_away_what_is_gone_and_adding_what_is_new_gives_the_new_manifest(
    old: dict[NodeIdentity, str], new: dict[NodeIdentity, str]
) -> None:
    difference = compare(old, new)
    held = set(old.items()) - difference.gone
    held |= {(identity, new[identity]) for identity in difference.added | difference.changed}
    assert held == set(new.items())
