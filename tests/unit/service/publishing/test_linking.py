import random

from hypothesis import given
from hypothesis import strategies as st

from service.domain.content import NodeRecord
from service.domain.graph import NEUTRAL_LOCALE, EdgeType, Node, NodeIdentity, NodeKind, Reference
from service.domain.snapshots import LinkedGraph
from service.publishing.linking import link


def record(uid: str, *references: Reference, locale: str = "en-us", visible_to: tuple[str, ...] = ("*",)) -> NodeRecord:
    node = Node(NodeIdentity(uid, locale), NodeKind.PAGE, uid.title(), visible_to=visible_to)
    return NodeRecord(node, references=references)


def xref(uid: str, line: int = 1, **fields) -> Reference:
    return Reference(EdgeType.XREF, uid, fields.pop("via", "link"), "page.md", line, **fields)


def linked(*records: NodeRecord) -> LinkedGraph:
    return link(records, default_locale="en-us")


def targets(graph: LinkedGraph) -> list[NodeIdentity]:
    return [edge.target for edge in graph.edges]


def test_a_reference_finds_the_record_of_its_own_locale() -> None:
    graph = linked(record("a", xref("b"), locale="de-de"), record("b"), record("b", locale="de-de"))
    assert targets(graph) == [NodeIdentity("b", "de-de")]


def test_without_one_in_its_own_locale_the_default_serves_then_the_first() -> None:
    graph = linked(record("a", xref("b"), locale="fr-fr"), record("b"), record("b", locale="de-de"))
    assert targets(graph) == [NodeIdentity("b", "en-us")]
    graph = linked(record("a", xref("b"), locale="fr-fr"), record("b", locale="it-it"), record("b", locale="de-de"))
    assert targets(graph) == [NodeIdentity("b", "de-de")]


def test_a_named_locale_is_not_replaced_by_another() -> None:
    source = Reference(EdgeType.DERIVED_FROM, "a", "translation", "a.md", 1, target_locale="en-us")
    graph = linked(record("a", source, locale="de-de"))
    assert targets(graph) == [NodeIdentity("a", "en-us")]
    assert graph.nodes[NodeIdentity("a", "en-us")].kind is NodeKind.API


def test_a_target_outside_the_estate_becomes_a_stub_that_all_share() -> None:
    graph = linked(record("a", xref("System.String")), record("b", xref("System.String")))
    stub = NodeIdentity("System.String", NEUTRAL_LOCALE)
    assert targets(graph) == [stub, stub]
    assert graph.nodes[stub].kind is NodeKind.API
    assert stub not in graph.content_hashes


def test_what_is_documented_elsewhere_is_titled_by_the_whole_of_its_uid_or_address() -> None:
    uids = ["https://example.org/x", "/guide/x", "T:System.String", "System.String", "mailto:a@example.org"]
    graph = linked(record("a", *(xref(uid) for uid in uids)))
    assert [graph.nodes[NodeIdentity(uid, NEUTRAL_LOCALE)].title for uid in uids] == uids


def test_a_stub_takes_kind_title_and_aliases_from_those_who_name_it() -> None:
    def product(title: str) -> Reference:
        return Reference(
            EdgeType.APPLIES_TO,
            "product:azure",
            "products",
            "a.yml",
            1,
            target_locale=NEUTRAL_LOCALE,
            target_kind=NodeKind.PRODUCT,
            target_title=title,
        )

    graph = linked(record("a", product("Azure")), record("b", product("Microsoft Azure")))
    node = graph.nodes[NodeIdentity("product:azure", NEUTRAL_LOCALE)]
    assert (node.kind, node.title) == (NodeKind.PRODUCT, "Azure")
    assert node.aliases == ("azure", "microsoft azure")


def test_a_stub_shows_to_whoever_may_see_one_of_those_who_name_it_and_to_no_one_else() -> None:
    graph = linked(
        record("a", xref("secret"), visible_to=("staff",)),
        record("b", xref("secret"), visible_to=("partners",)),
    )
    assert graph.nodes[NodeIdentity("secret", NEUTRAL_LOCALE)].visible_to == ("partners", "staff")


def test_a_stub_says_nothing_that_one_of_its_readers_could_not_have_read() -> None:
    def named(title: str, alias: str) -> Reference:
        return xref(
            "x", target_kind=NodeKind.SKILL, target_title=title, target_aliases=(alias,), target_extra={"o": alias}
        )

    secret = record("a", named("Project Falcon", "falcon"), visible_to=("staff",))
    other = record("b", named("Project Heron", "heron"), visible_to=("partners",))
    stub = NodeIdentity("x", NEUTRAL_LOCALE)
    alone, shared = linked(secret).nodes[stub], linked(secret, other).nodes[stub]
    assert (alone.title, alone.aliases, alone.extra) == (
        "Project Falcon",
        ("falcon", "project falcon", "x"),
        {"o": "falcon"},
    )
    assert (shared.title, shared.aliases, shared.extra) == ("x", ("x",), {})
    openly = linked(secret, record("c", named("Open", "open"))).nodes[stub]
    assert (openly.title, openly.visible_to, openly.extra) == ("Open", ("*",), {"o": "open"})
    alike = linked(secret, record("d", named("Project Falcon", "heron"), visible_to=("partners",))).nodes[stub]
    assert (alike.title, alike.visible_to) == ("Project Falcon", ("partners", "staff"))


def test_the_address_of_what_is_elsewhere_is_its_url_where_all_who_see_it_could_read_it() -> None:
    def at(url: str) -> Reference:
        return Reference(EdgeType.XREF, "x", "xref", "a.md", 1, target_extra={"url": url})

    secret = record("a", at("https://falcon.example.org/x"), visible_to=("staff",))
    other = record("b", at("https://heron.example.org/x"), visible_to=("partners",))
    stub = NodeIdentity("x", NEUTRAL_LOCALE)
    alone, shared = linked(secret).nodes[stub], linked(secret, other).nodes[stub]
    assert (alone.url, alone.extra) == ("https://falcon.example.org/x", {})
    assert (shared.url, shared.extra) == (None, {})


def served(uid: str, url: str, *references: Reference, locale: str = "en-us") -> NodeRecord:
    return NodeRecord(Node(NodeIdentity(uid, locale), NodeKind.PAGE, uid.title(), url=url), references=references)


def test_an_address_that_another_estate_serves_is_the_page_there() -> None:
    away = xref("/Site/b", target_extra={"url": "/site/b"})
    graph = linked(record("a", away), served("b", "/site/b/"), served("c", "/site/c"))
    assert targets(graph) == [NodeIdentity("b", "en-us")]
    assert set(graph.nodes) == {NodeIdentity(uid, "en-us") for uid in "abc"}
    german = linked(record("a", away, locale="de-de"), served("b", "/site/b"), served("b", "/site/b", locale="de-de"))
    assert targets(german) == [NodeIdentity("b", "de-de")]


def test_an_address_that_two_pages_claim_or_any_site_may_have_tells_nothing() -> None:
    def left(uid: str, *others: NodeRecord) -> list[NodeIdentity]:
        return targets(linked(record("a", xref(uid)), *others))

    assert left("/x/y", served("b", "/x/y"), served("c", "/x/y")) == [NodeIdentity("/x/y", NEUTRAL_LOCALE)]
    assert left("/start", served("b", "/start")) == [NodeIdentity("/start", NEUTRAL_LOCALE)]
    assert left("/x/y", served("b", "https://other.example.org/x/y")) == [NodeIdentity("/x/y", NEUTRAL_LOCALE)]


def skill(edge: EdgeType, name: str, line: int) -> Reference:
    return Reference(
        edge, f"skill:{name}", "abstract", "m.yml", line, target_locale="en-us", target_kind=NodeKind.SKILL
    )


def between_skills(graph: LinkedGraph) -> list[tuple[str, str, str, int]]:
    edges = [edge for edge in graph.edges if edge.source.uid.startswith("skill:")]
    assert {edge.type for edge in edges} <= {EdgeType.DEPENDS_ON}
    return [(edge.source.uid, edge.target.uid, edge.file, edge.line) for edge in edges]


def taught(graph: LinkedGraph) -> list[tuple[str, str, str]]:
    return [
        (edge.source.uid, edge.target.uid, edge.file) for edge in graph.edges if edge.type is EdgeType.TEACHES_SKILL
    ]


def lesson(uid: str, kind: NodeKind, *references: Reference, visible_to: tuple[str, ...] = ("*",)) -> NodeRecord:
    return NodeRecord(Node(NodeIdentity(uid, "en-us"), kind, uid, visible_to=visible_to), references=references)


def unit(uid: str, ordinal: int, *skills: str, module: str = "m", visible_to: tuple[str, ...] = ("*",)) -> NodeRecord:
    part = Reference(EdgeType.PART_OF, module, "units", f"{uid}.yml", 1, ordinal=ordinal)
    checklist = [
        Reference(EdgeType.TEACHES_SKILL, s, "checklist", f"{uid}.md", 9, target_kind=NodeKind.SKILL) for s in skills
    ]
    return lesson(uid, NodeKind.UNIT, part, *checklist, visible_to=visible_to)


def test_what_a_modules_introduction_announces_the_module_teaches_and_a_later_checklist_is_its_units() -> None:
    """The edge stands where the checklist does, whatever the names of the units say of their order."""
    graph = linked(
        lesson("m", NodeKind.MODULE), unit("z.intro", 1, "skill:a", "skill:b"), unit("b.later", 2, "skill:c")
    )
    assert taught(graph) == [
        ("b.later", "skill:c", "b.later.md"),
        ("m", "skill:a", "z.intro.md"),
        ("m", "skill:b", "z.intro.md"),
    ]


def test_a_module_that_its_readers_can_not_read_the_introduction_of_announces_nothing() -> None:
    few = unit("intro", 1, "skill:a", visible_to=("staff",))
    assert taught(linked(lesson("m", NodeKind.MODULE), few)) == [("intro", "skill:a", "intro.md")]
    module = lesson("m", NodeKind.MODULE, visible_to=("staff",))
    assert taught(linked(module, few)) == [("m", "skill:a", "intro.md")]


def test_a_unit_that_opens_two_modules_announces_both_and_one_of_no_module_itself() -> None:
    shared = unit("intro", 1, "skill:a")
    again = Reference(EdgeType.PART_OF, "n", "units", "intro.yml", 1, ordinal=1)
    both = NodeRecord(shared.node, references=(*shared.references, again))
    graph = linked(lesson("m", NodeKind.MODULE), lesson("n", NodeKind.MODULE), both)
    assert [source for source, _, _ in taught(graph)] == ["m", "n"]
    assert taught(linked(shared)) == [("intro", "skill:a", "intro.md")]


def test_a_skill_depends_on_another_where_a_module_teaches_one_and_requires_the_other() -> None:
    teaches, requires = EdgeType.TEACHES_SKILL, EdgeType.DEPENDS_ON
    module = record("m", skill(teaches, "bake", 2), skill(teaches, "knead", 3), skill(requires, "knead", 7))
    other = record("n", skill(teaches, "serve", 2), xref("bake"))
    assert between_skills(linked(module, other)) == [("skill:bake", "skill:knead", "m.yml", 7)]


def test_no_edge_between_skills_that_all_see_tells_of_a_module_that_few_may() -> None:
    teaches, requires = EdgeType.TEACHES_SKILL, EdgeType.DEPENDS_ON
    secret = record("m", skill(teaches, "bake", 2), skill(requires, "knead", 7), visible_to=("staff",))
    openly = record("n", skill(teaches, "bake", 1), skill(teaches, "knead", 2))
    assert between_skills(linked(secret)) == [("skill:bake", "skill:knead", "m.yml", 7)]
    assert between_skills(linked(secret, openly)) == []


def test_a_module_of_very_many_skills_states_some_of_their_edges() -> None:
    teaches, requires = EdgeType.TEACHES_SKILL, EdgeType.DEPENDS_ON
    many = [skill(teaches, f"t{n}", n) for n in range(300)] + [skill(requires, f"r{n}", 400 + n) for n in range(300)]
    assert len(between_skills(linked(record("m", *many)))) == 1_000


def test_the_same_link_twice_is_one_edge_from_its_first_line() -> None:
    graph = linked(record("a", xref("b", line=9), xref("b", line=3), xref("b", line=5, via="toc")), record("b"))
    assert [(edge.via, edge.line) for edge in graph.edges] == [("link", 3), ("toc", 5)]


def test_a_link_to_the_page_itself_is_no_edge() -> None:
    assert linked(record("a", xref("a"))).edges == ()


def test_counts_by_kind_and_type() -> None:
    graph = linked(record("a", xref("b"), xref("c")), record("b"))
    assert graph.kind_counts == {"api": 1, "page": 2}
    assert graph.edge_counts == {"xref": 2}


UIDS = st.sampled_from("abcde")
RECORDS = st.lists(
    st.builds(
        lambda uid, locale, named: record(uid, *(xref(other, line) for line, other in enumerate(named)), locale=locale),
        UIDS,
        st.sampled_from(["en-us", "de-de"]),
        st.lists(UIDS | st.sampled_from(["x", "y"]), max_size=4),
    ),
    unique_by=lambda made: made.node.identity,
)


@given(RECORDS, st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(records: list[NodeRecord], chance: random.Random) -> None:
    shuffled = [*records]
    chance.shuffle(shuffled)
    assert linked(*records) == linked(*shuffled)


@given(RECORDS)
def test_every_edge_ends_in_a_node_and_no_reference_is_dropped(records: list[NodeRecord]) -> None:
    graph = linked(*records)
    assert all(edge.source in graph.nodes and edge.target in graph.nodes for edge in graph.edges)
    for made in records:
        named = {reference.target_uid for reference in made.references} - {made.node.identity.uid}
        reached = {edge.target.uid for edge in graph.edges if edge.source == made.node.identity}
        assert named <= reached
