import json

from hypothesis import given
from hypothesis import strategies as st

from service.domain.content import (
    Block,
    BlockKind,
    NodeRecord,
    PassageKey,
    Section,
    content_root,
    record_from_json,
)
from service.domain.graph import EdgeType, Node, NodeIdentity, NodeKind, Reference

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LOCALES = st.sampled_from(["en-us", "de-de", "und"])
IDENTITIES = st.builds(NodeIdentity, TEXT, LOCALES)
LISTS = st.lists(TEXT, max_size=3).map(tuple)
NODES = st.builds(
    Node,
    identity=IDENTITIES,
    kind=st.sampled_from(NodeKind),
    title=TEXT,
    products=LISTS,
    aliases=LISTS,
    extra=st.dictionaries(TEXT, st.integers() | TEXT | st.booleans(), max_size=2),
)
BLOCKS = st.builds(Block, st.sampled_from(BlockKind), TEXT, st.integers(1, 99), st.none() | TEXT)
SECTIONS = st.builds(Section, TEXT, TEXT, st.integers(1, 6), st.lists(BLOCKS, max_size=3).map(tuple))
REFERENCES = st.builds(
    Reference, st.sampled_from(EdgeType), TEXT, TEXT, TEXT, st.integers(1, 99), ordinal=st.none(), target_aliases=LISTS
)
RECORDS = st.builds(
    NodeRecord, NODES, st.lists(SECTIONS, max_size=3).map(tuple), st.lists(REFERENCES, max_size=3).map(tuple)
)


@given(RECORDS)
def test_a_record_reads_back_from_its_json_with_its_hash(record: NodeRecord) -> None:
    again = record_from_json(json.loads(json.dumps(record.as_json())))
    assert again == record
    assert again.content_hash == record.content_hash


@given(IDENTITIES, st.integers(0, 10**6))
def test_keys_read_back_whatever_the_uid_holds(identity: NodeIdentity, number: int) -> None:
    assert NodeIdentity.from_key(identity.key) == identity
    key = PassageKey(identity, "ab" * 32, number)
    assert PassageKey.parse(str(key)) == key


def test_any_change_of_the_content_moves_the_hash() -> None:
    node = Node(NodeIdentity("a", "en-us"), NodeKind.PAGE, "A")
    section = Section("H", "h", 2, (Block(BlockKind.PROSE, "text", 1),))
    reference = Reference(EdgeType.XREF, "b", "link", "a.md", 1)
    hashes = {
        NodeRecord(node).content_hash,
        NodeRecord(node, (section,)).content_hash,
        NodeRecord(node, (), (reference,)).content_hash,
        NodeRecord(Node(NodeIdentity("a", "de-de"), NodeKind.PAGE, "A")).content_hash,
        NodeRecord(Node(NodeIdentity("a", "en-us"), NodeKind.PAGE, "A", visible_to=("staff",))).content_hash,
    }
    assert len(hashes) == 5


@given(st.dictionaries(IDENTITIES, TEXT, max_size=5))
def test_the_root_depends_on_the_set_alone(manifest: dict[NodeIdentity, str]) -> None:
    assert content_root(dict(reversed(manifest.items()))) == content_root(manifest)


def test_the_root_tells_apart_what_joins_to_the_same_text() -> None:
    one = content_root({NodeIdentity("ab", "c"): "d"})
    other = content_root({NodeIdentity("a", "bc"): "d"})
    assert one != other
