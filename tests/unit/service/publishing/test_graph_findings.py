"""Findings that only the linked graph can tell."""

from dataclasses import replace

from service.domain.content import NodeRecord
from service.domain.graph import EdgeType, Node, NodeIdentity, NodeKind, Reference
from service.publishing.graph_findings import graph_findings
from service.publishing.linking import link


def page(uid: str, *requires: str, docset: str = "d") -> NodeRecord:
    references = tuple(
        Reference(EdgeType.DEPENDS_ON, other, "prerequisites", f"{uid}.md", line)
        for line, other in enumerate(requires, start=7)
    )
    return NodeRecord(Node(NodeIdentity(uid, "en-us"), NodeKind.PAGE, uid, docset=docset), references=references)


def findings(*records: NodeRecord, docsets: frozenset[str] = frozenset({"d"}), prefixed: bool = False) -> list[tuple]:
    found = graph_findings(link(records, default_locale="en-us"), docsets, prefixed=prefixed)
    return [(one.code, one.file, one.line, one.message, one.fix) for one in found]


def test_a_circle_of_prerequisites_is_spelled_out_at_its_first_link() -> None:
    [found] = findings(page("c", "a"), page("a", "x", "b"), page("b", "c"), page("x"))
    assert found[:3] == ("prerequisite_cycle", "a.md", 8)
    assert found[3] == "The prerequisites go round in a circle: a → b → c → a."


def test_of_a_tangle_the_shortest_circle_is_told_and_of_two_circles_both() -> None:
    tangle = findings(page("a", "b", "d"), page("b", "c"), page("c", "a"), page("d", "a", "b"))
    assert [found[3] for found in tangle] == ["The prerequisites go round in a circle: a → d → a."]
    both = findings(page("a", "b"), page("b", "a"), page("y", "z"), page("z", "y", "a"))
    assert [found[3].partition(": ")[2] for found in both] == ["a → b → a.", "y → z → y."]


def test_prerequisites_without_a_circle_say_nothing() -> None:
    assert findings(page("a", "b", "c"), page("b", "c"), page("c", "d")) == []


def test_a_long_circle_costs_neither_recursion_nor_a_long_message() -> None:
    length = 20_000
    [found] = findings(*(page(f"p{n:05}", f"p{(n + 1) % length:05}") for n in range(length)))
    assert found[3].endswith("p00018 → p00019 → 19980 more.")


def test_a_circle_is_told_to_whoever_publishes_a_part_of_it() -> None:
    records = [page("a", "b"), page("b", "a", docset="other")]
    assert findings(*records, docsets=frozenset({"third"})) == []
    assert [found[1] for found in findings(*records, docsets=frozenset({"other"}), prefixed=True)] == ["other/b.md"]


def test_a_link_to_what_another_estate_retired_names_the_successor() -> None:
    old = NodeIdentity("other/old", "en-us")
    gone = NodeRecord(
        Node(old, NodeKind.RETIRED, "old", url="/other/old", docset="other"),
        references=(Reference(EdgeType.SUPERSEDED_BY, "new", "redirection", "r.json", 3),),
    )
    linking = replace(page("a"), references=(Reference(EdgeType.XREF, "/other/old", "site-link", "a.md", 4),))
    near = replace(page("n", docset="other"), references=linking.references)
    [found] = findings(linking, near, gone, page("new", docset="other"), docsets=frozenset({"d", "other"}))
    assert found[:3] == ("superseded_target", "a.md", 4)
    assert found[4] == "Link to new."


def retired(uid: str, successor: str, docset: str) -> NodeRecord:
    node = Node(NodeIdentity(uid, "en-us"), NodeKind.RETIRED, uid, url=f"/{uid}", docset=docset)
    return NodeRecord(node, references=(Reference(EdgeType.SUPERSEDED_BY, successor, "redirection", "r.json", 3),))


def test_a_link_to_a_chain_through_estates_names_its_end() -> None:
    links = tuple(Reference(EdgeType.XREF, uid, "xref", "a.md", 4) for uid in ("x/1", "x/2"))
    last = page("new", docset="z")
    last = replace(last, node=replace(last.node, url="/z/new"))
    records = [replace(page("a"), references=links), retired("x/1", "/y/2", "x"), retired("x/2", "new", "x"), last]
    found = findings(*records, retired("y/2", "x/2", "y"))
    assert [(code, fix) for code, _, _, _, fix in found] == [("superseded_target", "Link to /z/new.")] * 2


def test_redirections_that_go_round_through_estates_are_reported_in_each() -> None:
    link = Reference(EdgeType.XREF, "x/1", "xref", "a.md", 4)
    records = [retired("x/1", "y/2", "x"), retired("y/2", "x/1", "y"), retired("y/3", "x/1", "y")]
    found = findings(replace(page("a"), references=(link,)), *records, docsets=frozenset({"d", "y"}), prefixed=True)
    assert [(code, file, line) for code, file, line, _, _ in found] == [
        ("redirect_loop", "y/r.json", 3),
        ("redirect_loop", "y/r.json", 3),
        ("superseded_target", "d/a.md", 4),
    ]
    assert found[-1][4] == "Link to what took its place, or take it out."
