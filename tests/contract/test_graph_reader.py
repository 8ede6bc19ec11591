"""What the service relies on in any graph reader: the same rows for the same statement, whatever the engine."""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

import service.statements as statements
from cypher_guard import BOUNDED, EXTENDED, GuardedQuery, Profile, Visibility, guard
from service.domain.content import NodeRecord
from service.domain.deadline import Deadline
from service.domain.errors import EngineLate
from service.domain.filters import NodeFilter
from service.domain.graph import EVERYONE, EdgeType, NodeIdentity, NodeKind, Reference
from service.domain.names import edits_forgiven, edits_to_begin, name_words, node_names, typed_words
from service.ports import Rows
from tests.contract.conftest import Graph
from tests.contract.estate import HOSTILE_TEXTS, HOSTILE_UIDS, gone, publish, record, refers, soon

pytestmark = pytest.mark.anyio

ANYONE = frozenset({EVERYONE})
STAFF = frozenset({EVERYONE, "staff"})

SLOTS = NodeIdentity("slots", "en-us")


def estate() -> list[NodeRecord]:
    """A learning path of one module with two units; pages that link each other, one for staff, one superseded."""
    return [
        record("path", title="Deploy an app", kind=NodeKind.LEARNING_PATH),
        record(
            "module",
            refers(EdgeType.PART_OF, "path", ordinal=1),
            refers(EdgeType.DEPENDS_ON, "basics"),
            title="Deploy with slots",
            kind=NodeKind.MODULE,
            aliases=("slots module",),
        ),
        record("unit 1", refers(EdgeType.PART_OF, "module", ordinal=1), title="Introduction", kind=NodeKind.UNIT),
        record(
            "unit 2",
            refers(EdgeType.PART_OF, "module", ordinal=2),
            title="Swap slots",
            kind=NodeKind.UNIT,
            extra={"durationMinutes": 7},
        ),
        record(
            "slots",
            refers(EdgeType.XREF, "basics"),
            refers(EdgeType.XREF, "plans", weight=0.5),
            refers(
                EdgeType.APPLIES_TO, "product:azure", target_kind=NodeKind.PRODUCT, target_title="Azure App Service"
            ),
            title="Staging slots",
            type="concept",
            products=("azure", "web"),
            roles=("developer",),
            level="beginner",
            aliases=("staging slot", "slots"),
            url="/slots",
            summary="About slots.",
            last_modified="2026-01-02",
        ),
        record("basics", title="Basics", type="tutorial", products=("azure",)),
        record("plans", refers(EdgeType.XREF, "slots"), title="Secret plans for slots", visible_to=("staff",)),
        record(
            "old", refers(EdgeType.SUPERSEDED_BY, "slots"), title="Old slots", kind=NodeKind.RETIRED, aliases=("slots",)
        ),
        record("slots", title="Stagingslots", locale="de-de"),
    ]


def as_dicts(rows: Rows) -> list[dict[str, Any]]:
    return [dict(zip(rows.columns, row, strict=True)) for row in rows.rows]


async def ask(graph: Graph, statement: statements.ServiceStatement) -> list[dict[str, Any]]:
    return as_dicts(await graph.reader.run(statement, deadline=soon()))


async def query(
    graph: Graph,
    text: str,
    parameters: Mapping[str, Any] | None = None,
    audiences: frozenset[str] = ANYONE,
    profile: Profile = BOUNDED,
) -> list[tuple[Any, ...]]:
    guarded = guard(text, parameters or {}, profile, visibility=Visibility(audiences=audiences))
    return list((await graph.reader.run(guarded, deadline=soon())).rows)


async def test_an_empty_graph_answers(graph: Graph) -> None:
    assert await ask(graph, statements.count_kinds(ANYONE)) == []
    assert await ask(graph, statements.count_nodes(NodeFilter(), ANYONE)) == [{"total": 0}]
    assert await ask(graph, statements.nodes_by_uid(["slots"], ANYONE)) == []
    assert await ask(graph, statements.nodes_by_alias(["slots"], ANYONE)) == []
    assert await ask(graph, statements.nodes_by_title("slots", ANYONE, 5)) == []
    assert await query(graph, "MATCH (p:Page) RETURN p.uid") == []
    await graph.reader.check(soon())


async def test_cards_carry_what_is_shown_and_ranked_by(graph: Graph) -> None:
    records = estate()
    await publish(graph.store, records)
    (slots,) = [each for each in records if each.node.identity == SLOTS]
    (card,) = await ask(graph, statements.cards([SLOTS, NodeIdentity("nobody", "en-us")], ANYONE))
    assert {name: card[name] for name in statements.NODE_COLUMNS} == {
        "key": "en-us:slots",
        "uid": "slots",
        "locale": "en-us",
        "kind": "page",
        "title": "Staging slots",
        "type": "concept",
        "url": "/slots",
        "summary": "About slots.",
        "docset": "",
        "contentHash": slots.content_hash,
    }
    assert (card["level"], card["roles"], card["lastModified"]) == ("beginner", ["developer"], "2026-01-02")


async def test_nodes_are_found_at_their_address_and_nothing_that_does_not_show(graph: Graph) -> None:
    await publish(graph.store, estate())
    rows = await ask(graph, statements.nodes_by_url(["/slots", "/nowhere", "/SLOTS"], ANYONE))
    assert {row["uid"] for row in rows} == {"slots"}
    assert await ask(graph, statements.nodes_by_url([], ANYONE)) == []
    assert await ask(graph, statements.nodes_by_url(["/slots"], frozenset({"nobody"}))) == []


async def test_a_translation_names_the_locale_of_its_source(graph: Graph) -> None:
    """And what is included, or only like it, is no source; nor is one that does not show."""

    def derived(uid: str, via: str, target: str, locale: str) -> NodeRecord:
        stated = Reference(EdgeType.DERIVED_FROM, target, via, "a.md", 1, target_locale="en-us")
        return record(uid, stated, locale=locale)

    made = [
        derived("slots", "translation", "slots", "de-de"),
        derived("plans", "translation", "plans", "de-de"),
        derived("basics", "include", "slots", "fr-fr"),
    ]
    await publish(graph.store, [*estate(), *made])
    asked = [*(one.node.identity for one in made), SLOTS]
    assert await ask(graph, statements.sources(asked, ANYONE)) == [{"key": "de-de:slots", "locale": "en-us"}]
    assert await ask(graph, statements.sources([], ANYONE)) == []


async def test_what_a_node_lacks_is_null(graph: Graph) -> None:
    """A node without a type has none; its label is not one."""
    await publish(graph.store, estate())
    (card,) = await ask(graph, statements.cards([NodeIdentity("path", "en-us")], ANYONE))
    assert [card[name] for name in ("type", "url", "summary", "level", "monikerRange")] == [None] * 5
    (stub,) = await ask(graph, statements.cards([NodeIdentity("product:azure", "und")], ANYONE))
    assert (stub["contentHash"], stub["type"], stub["title"]) == (None, None, "Azure App Service")
    assert await query(graph, "MATCH (n:Page) WHERE n.type IS NULL RETURN n.locale ORDER BY n.locale") == [("de-de",)]
    assert await query(graph, "MATCH (n:LearningPath) RETURN n.type, coalesce(n.type, 'none') AS `n.type or none`") == [
        (None, "none")
    ]
    assert await query(graph, "MATCH (n:Page {type: 'concept'}) RETURN n.uid, n.type AS type") == [("slots", "concept")]
    assert await query(graph, "MATCH (n:Node) WHERE n.type = 'Node' RETURN n.uid") == []
    assert await query(graph, "MATCH (n:Page)-[r:appliesTo]->() RETURN r.ordinal, n.family") == [(None, None)]


async def test_every_locale_of_an_exact_uid(graph: Graph) -> None:
    await publish(graph.store, estate())
    rows = await ask(graph, statements.nodes_by_uid(["slots", "Slots", "plans", "unit 1"], ANYONE))
    assert sorted(row["key"] for row in rows) == ["de-de:slots", "en-us:slots", "en-us:unit 1"]
    rows = await ask(graph, statements.nodes_by_uid(["plans"], STAFF))
    assert [row["key"] for row in rows] == ["en-us:plans"]


async def test_aliases_match_exactly_and_name_themselves(graph: Graph) -> None:
    await publish(graph.store, estate())
    rows = await ask(graph, statements.nodes_by_alias(["staging slot", "slots", "staging"], ANYONE))
    assert [(row["key"], row["alias"]) for row in rows if row["kind"] != "product"] == [
        ("en-us:old", "slots"),
        ("en-us:slots", "slots"),
        ("en-us:slots", "staging slot"),
    ]


async def named(graph: Graph, text: str, audiences: frozenset[str] = ANYONE, *, typos: bool = False) -> list[str]:
    rows = await ask(graph, statements.nodes_by_name(text, audiences, 50, typos=typos))
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    return sorted(f"{row['uid']} {row['locale']}" for row in rows)


def titled(*titles: str) -> list[NodeRecord]:
    return [record(title, title=title) for title in titles]


async def test_names_are_found_by_their_beginnings(graph: Graph) -> None:
    await publish(graph.store, estate())
    assert await named(graph, "stag") == ["slots de-de", "slots en-us"]
    assert await named(graph, "Staging Slots m") == []
    assert await named(graph, "slo stag") == ["slots de-de", "slots en-us"]
    assert await named(graph, "slo swa") == ["unit 2 en-us"]
    assert await named(graph, "lots") == []
    assert await named(graph, "azure ap") == ["product:azure und"]
    (row,) = await ask(graph, statements.nodes_by_name("slots module", ANYONE, 5, typos=False))
    assert (row["title"], row["aliases"]) == ("Deploy with slots", ["slots module"])


async def test_a_path_that_was_redirected_is_no_name(graph: Graph) -> None:
    await publish(graph.store, estate())
    assert await named(graph, "old") == []


async def test_names_are_found_by_the_pieces_of_compounds(graph: Graph) -> None:
    await publish(
        graph.store, titled("Microsoft.EntityFrameworkCore.DbContext", "IHttpClientFactory", "日本語の", "Größe")
    )
    context, factory = "Microsoft.EntityFrameworkCore.DbContext en-us", "IHttpClientFactory en-us"
    assert await named(graph, "dbc") == await named(graph, "Context") == await named(graph, "frameworkc") == [context]
    assert await named(graph, "microsoft.entityframeworkcore.dbcontext") == [context]
    assert await named(graph, "ihttp") == await named(graph, "clientF") == [factory]
    assert await named(graph, "本語") == ["日本語の en-us"]
    assert await named(graph, "grosse") == await named(graph, "GRÖ") == ["Größe en-us"]


@pytest.mark.parametrize(
    "typed", ["relationships", "relatoinships", "rlationships", "relatiionships", "relbtionships", "relatoinsh", "rela"]
)
async def test_letters_that_are_wrong_missing_doubled_or_swapped_are_forgiven(graph: Graph, typed: str) -> None:
    await publish(graph.store, titled("Relationships", "Regular expressions", "Ships"))
    assert await named(graph, typed, typos=True) == ["Relationships en-us"]
    assert await named(graph, typed) == (["Relationships en-us"] if "relationships".startswith(typed) else [])


async def test_a_short_word_is_meant_as_it_is_typed(graph: Graph) -> None:
    await publish(graph.store, titled("cat", "car", "cart", "card game"))
    assert await named(graph, "cat", typos=True) == ["cat en-us"]
    assert await named(graph, "cert", typos=True) == ["cart en-us"]
    assert await named(graph, "cart", typos=False) == ["cart en-us"]


async def test_names_that_nobody_may_see_are_not_suggested_and_crowd_out_none(graph: Graph) -> None:
    """However many hidden names match better, the bound counts visible ones."""
    secrets = [record(f"secret {n}", title="plan", visible_to=("staff",)) for n in range(30)]
    await publish(graph.store, [*secrets, record("p", title="plan of the year and of everything else that is public")])
    rows = await ask(graph, statements.nodes_by_name("plan", ANYONE, 1, typos=False))
    assert [row["uid"] for row in rows] == ["p"]
    assert await named(graph, "pln plans", ANYONE, typos=True) == []
    assert len(await named(graph, "secret", STAFF)) == 30
    assert await named(graph, "secret", frozenset({"nobody"})) == []


async def test_suggested_names_follow_the_snapshot(graph: Graph) -> None:
    before = titled("Before")
    await publish(graph.store, before)
    await publish(graph.store, titled("After"), publish_id="p2")
    assert await named(graph, "before") == []
    assert await named(graph, "after") == ["After en-us"]


def is_begun(word: str, among: list[str], edits: int) -> bool:
    return any(edits_to_begin(word, other, edits) <= edits for other in among)


SYNTAX = ["nameBeginnings:x OR *:*", "slots~9", "+slots -slots", "AND", "(slots", "stagnig~2 slots^9", "sl*"]


@pytest.mark.parametrize("text", [*HOSTILE_TEXTS, *SYNTAX])
@pytest.mark.parametrize("typos", [False, True])
async def test_what_is_typed_is_words_and_never_syntax(graph: Graph, text: str, typos: bool) -> None:
    """What is found is what the words say: each begins a word of a name, or nearly does."""
    records = estate()
    await publish(graph.store, records)
    words, expected = typed_words(text), []
    for node in (each.node for each in records if "*" in each.node.visible_to):
        held = name_words(node_names(node.kind.value, node.identity.uid, node.title, node.aliases))
        most = {word: edits_forgiven(word) if typos else 0 for word in words}
        if words and all(
            any(edits_to_begin(word, other, most[word]) <= most[word] for other in held) for word in words
        ):
            expected.append(f"{node.identity.uid} {node.identity.locale}")
    found = [name for name in await named(graph, text, typos=typos) if not name.startswith("product:")]
    assert found == sorted(expected)


async def test_any_uid_is_a_name_that_can_be_typed(graph: Graph) -> None:
    uids = [uid for uid in HOSTILE_UIDS if any(letter.isalnum() for letter in uid)]
    await publish(graph.store, [record(uid, title="T") for uid in uids])
    for uid in uids:
        assert f"{uid} en-us" in await named(graph, uid)


async def test_titles_and_aliases_are_searched_by_words(graph: Graph) -> None:
    await publish(graph.store, estate())
    rows = await ask(graph, statements.nodes_by_title("secret staging slots?", ANYONE, 10))
    assert rows[0]["key"] == "en-us:slots"
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    assert {row["key"] for row in rows} == {"en-us:slots", "en-us:module", "en-us:unit 2", "en-us:old"}
    assert len(await ask(graph, statements.nodes_by_title("slots", ANYONE, 2))) == 2
    rows = await ask(graph, statements.nodes_by_title("secret", STAFF, 10))
    assert [row["key"] for row in rows] == ["en-us:plans"]


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
async def test_no_text_is_syntax(graph: Graph, text: str) -> None:
    await publish(graph.store, estate())
    rows = await ask(graph, statements.nodes_by_title(text, ANYONE, 10))
    assert ("slot" in text) == ("en-us:slots" in {row["key"] for row in rows})
    assert await ask(graph, statements.nodes_by_uid([text], ANYONE)) == []
    assert await ask(graph, statements.nodes_by_alias([text], ANYONE)) == []


async def test_any_uid_is_a_name(graph: Graph) -> None:
    await publish(graph.store, [record(uid, refers(EdgeType.XREF, HOSTILE_UIDS[0])) for uid in HOSTILE_UIDS])
    rows = await ask(graph, statements.nodes_by_uid(HOSTILE_UIDS, ANYONE))
    assert sorted(row["uid"] for row in rows) == sorted(HOSTILE_UIDS)
    for uid in HOSTILE_UIDS:
        identity = NodeIdentity(uid, "en-us")
        assert await query(graph, "MATCH (n:Node {uid: $uid}) RETURN n.uid", {"uid": uid}) == [(uid,)]
        (properties,) = await ask(graph, statements.node_properties(identity, ANYONE))
        assert properties["properties"]["key"] == identity.key


async def test_all_properties_of_a_node(graph: Graph) -> None:
    records = estate()
    await publish(graph.store, records)
    (unit,) = [each for each in records if each.node.identity.uid == "unit 2"]
    (row,) = await ask(graph, statements.node_properties(unit.node.identity, ANYONE))
    assert {name: value for name, value in row["properties"].items() if value not in ([], "")} == {
        "key": "en-us:unit 2",
        "uid": "unit 2",
        "locale": "en-us",
        "kind": "unit",
        "title": "Swap slots",
        "workspace": "default",
        "visibleTo": [EVERYONE],
        "contentHash": unit.content_hash,
        "durationMinutes": 7,
    }
    (row,) = await ask(graph, statements.node_properties(SLOTS, ANYONE))
    assert row["properties"]["type"] == "concept"


async def test_what_the_filters_compare(graph: Graph) -> None:
    await publish(graph.store, estate())
    (row,) = await ask(graph, statements.filter_fields(SLOTS, ANYONE))
    assert (row["kind"], row["type"], row["product"], row["role"], row["topic"], row["workspace"]) == (
        "page",
        "concept",
        ["azure", "web"],
        ["developer"],
        [],
        "default",
    )


async def test_edges_lead_to_what_shows(graph: Graph) -> None:
    await publish(graph.store, estate())

    async def ends(audiences: frozenset[str], limit: int = 10) -> list[tuple[str, str, bool]]:
        rows = await ask(graph, statements.edges_of(SLOTS, audiences, limit))
        return [(row["type"], row["uid"], row["outgoing"]) for row in rows]

    public = [("appliesTo", "product:azure", True), ("xref", "basics", True), ("supersededBy", "old", False)]
    assert await ends(ANYONE) == public
    assert await ends(ANYONE, limit=2) == public[:2]
    assert await ends(STAFF) == [
        ("appliesTo", "product:azure", True),
        ("xref", "basics", True),
        ("xref", "plans", True),
        ("supersededBy", "old", False),
        ("xref", "plans", False),
    ]


async def test_successors_and_requirements(graph: Graph) -> None:
    await publish(graph.store, estate())
    old, unit = NodeIdentity("old", "en-us"), NodeIdentity("unit 1", "en-us")
    assert await ask(graph, statements.successors([old, SLOTS], ANYONE)) == [
        {"key": "en-us:old", "uid": "slots", "locale": "en-us"}
    ]
    (needed,) = await ask(graph, statements.requirements([unit], ANYONE))
    assert (needed["key"], needed["uid"], needed["skill"]) == ("en-us:unit 1", "basics", None)


async def test_a_listing_pages_through_everything_by_key(graph: Graph) -> None:
    await publish(graph.store, estate())
    keys: list[str] = []
    after = ""
    while page := await ask(graph, statements.list_nodes(NodeFilter(), ANYONE, after=after, limit=2)):
        assert len(page) <= 2
        keys += [row["key"] for row in page]
        after = keys[-1]
    assert keys == sorted(keys)
    assert keys == [
        "de-de:slots",
        "en-us:basics",
        "en-us:module",
        "en-us:old",
        "en-us:path",
        "en-us:slots",
        "en-us:unit 1",
        "en-us:unit 2",
        "und:product:azure",
    ]


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({"product": "azure"}, {"slots", "basics"}),
        ({"product": ("web", "nothing")}, {"slots"}),
        ({"product": "azure", "type": "tutorial"}, {"basics"}),
        ({"type": "Node"}, set()),
        ({"kind": "learningPath"}, {"path"}),
        ({"level": "beginner", "role": "developer"}, {"slots"}),
        ({"product": "AZURE"}, set()),
        ({"product": "\ud800"}, set()),
        ({"locale": "de-de"}, {"slots"}),
    ],
)
async def test_filters_narrow_listings_and_counts_alike(
    graph: Graph, filter: dict[str, Any], expected: set[str]
) -> None:
    await publish(graph.store, estate())
    narrowed = NodeFilter.from_mapping(filter)
    rows = await ask(graph, statements.list_nodes(narrowed, ANYONE, after="", limit=100))
    assert {row["uid"] for row in rows} == expected
    assert await ask(graph, statements.count_nodes(narrowed, ANYONE)) == [{"total": len(expected)}]


async def test_counts_are_of_what_shows(graph: Graph) -> None:
    await publish(graph.store, estate())
    kinds = {row["kind"]: row["total"] for row in await ask(graph, statements.count_kinds(ANYONE))}
    assert kinds == {"learningPath": 1, "module": 1, "page": 3, "product": 1, "retired": 1, "unit": 2}
    kinds = {row["kind"]: row["total"] for row in await ask(graph, statements.count_kinds(STAFF))}
    assert kinds["page"] == 4
    edges = {row["type"]: row["total"] for row in await ask(graph, statements.count_edges(ANYONE))}
    assert edges == {"appliesTo": 1, "dependsOn": 1, "partOf": 3, "supersededBy": 1, "xref": 1}
    edges = {row["type"]: row["total"] for row in await ask(graph, statements.count_edges(STAFF))}
    assert edges["xref"] == 3


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("MATCH (u:Unit)-[r:partOf]->(:Module) RETURN u.uid, r.ordinal ORDER BY r.ordinal",
         [("unit 1", 1), ("unit 2", 2)]),
        ("MATCH (u:Unit)-[:partOf*1..2]->(n) RETURN n.uid, count(u) AS units ORDER BY n.uid",
         [("module", 2), ("path", 2)]),
        ("MATCH (a:Page)-[:xref]->(b) RETURN a.uid, b.uid", [("slots", "basics")]),
        ("MATCH (a:Page {uid: 'slots', locale: 'en-us'})-[:xref]-(b) RETURN b.uid", [("basics",)]),
        ("MATCH (n:Page) WHERE n.title STARTS WITH 'Stag' RETURN n.locale ORDER BY n.locale", [("de-de",), ("en-us",)]),
        ("MATCH (n:Module|LearningPath) RETURN n.uid ORDER BY n.uid", [("module",), ("path",)]),
        ("MATCH (n:Node) WHERE 'azure' IN n.products RETURN count(n)", [(2,)]),
        ("MATCH (n:Unit) OPTIONAL MATCH (n)-[:xref]->(m) RETURN n.uid, m.uid ORDER BY n.uid",
         [("unit 1", None), ("unit 2", None)]),
        ("MATCH (n:Page) WHERE EXISTS { (n)-[:appliesTo]->(:Product) } RETURN n.uid", [("slots",)]),
        ("MATCH (n:Module) RETURN COUNT { (n)<-[:partOf]-(:Unit) } AS units", [(2,)]),
        ("MATCH (n:Unit) RETURN sum(n.durationMinutes), collect(n.durationMinutes)", [(7, [7])]),
        ("MATCH (n:Product) RETURN labels(n)[0] IN ['Node', 'Product'], size(labels(n))", [(True, 2)]),
        ("MATCH (n:Page) RETURN DISTINCT n.uid ORDER BY n.uid SKIP 1 LIMIT 1", [("slots",)]),
        ("MATCH (n:Page) WHERE n.level <> 'beginner' RETURN n.uid", []),
        ("MATCH (n:Retired)-[r]->(m) RETURN type(r), m.uid", [("supersededBy", "slots")]),
        ("MATCH (n:Skill) RETURN n.uid", []),
        ("MATCH p = (:Unit {uid: 'unit 1'})-[:partOf*1..3]->(:LearningPath) RETURN [n IN nodes(p) | n.uid], length(p)",
         [(["unit 1", "module", "path"], 2)]),
    ],
)  # fmt: skip
async def test_guarded_queries(graph: Graph, text: str, rows: list[tuple[Any, ...]]) -> None:
    await publish(graph.store, estate())
    assert await query(graph, text) == rows


async def test_grouping_is_right_after_a_hop(graph: Graph) -> None:
    """The shape of aggregation that an optimizer of one engine gets wrong."""
    hubs = [record(f"hub {hub}", title=f"Hub {hub % 2}", kind=NodeKind.MODULE) for hub in range(4)]
    spokes = [
        record(f"spoke {number}", *(refers(EdgeType.XREF, f"hub {hub}") for hub in range(4) if number % (hub + 1) == 0))
        for number in range(24)
    ]
    await publish(graph.store, [*hubs, *spokes])
    rows = await query(graph, "MATCH (h:Module)<-[:xref]-(s:Page) RETURN h.title, count(s) AS n ORDER BY h.title")
    assert rows == [("Hub 0", 24 + 8), ("Hub 1", 12 + 6)]
    rows = await query(graph, "MATCH (h:Module)<-[:xref]-(s:Page) RETURN h.uid, count(DISTINCT s.uid) AS n ORDER BY n")
    assert rows == [("hub 3", 6), ("hub 2", 8), ("hub 1", 12), ("hub 0", 24)]


async def test_paths_through_what_does_not_show_do_not_exist(graph: Graph) -> None:
    await publish(
        graph.store,
        [
            record("a", refers(EdgeType.XREF, "hidden")),
            record("hidden", refers(EdgeType.XREF, "b"), visible_to=("staff",)),
            record("b"),
        ],
    )
    text = "MATCH (a:Page {uid: 'a'})-[:xref*1..2]->(b) RETURN b.uid ORDER BY b.uid"
    assert await query(graph, text) == []
    assert await query(graph, text, audiences=STAFF) == [("b",), ("hidden",)]
    assert await query(graph, "MATCH (n:Page) RETURN [(n)-[:xref]->(m) | m.uid] AS ends ORDER BY n.uid") == [
        ([],),
        ([],),
    ]


async def test_whole_nodes_and_edges_are_maps(graph: Graph) -> None:
    await publish(graph.store, estate())
    profile = Profile(properties=frozenset({"title", "type", "weight", "ordinal"}))
    ((unit, edge),) = await query(
        graph, "MATCH (u:Unit {title: 'Swap slots'})-[r:partOf]->() RETURN u, r", profile=profile
    )
    assert {name: unit[name] for name in ("uid", "locale", "title", "type")} == {
        "uid": "unit 2",
        "locale": "en-us",
        "title": "Swap slots",
        "type": None,
    }
    assert sorted(unit["labels"]) == ["Node", "Unit"]
    assert (edge["type"], edge["ordinal"], edge["weight"]) == ("partOf", 2, 1.0)
    json.dumps([unit, edge])


async def test_a_longer_answer_says_that_it_is_cut(graph: Graph) -> None:
    await publish(graph.store, [record(f"page {number}") for number in range(7)])
    for limit, truncated in ((3, True), (6, True), (7, False), (8, False)):
        guarded = guard("MATCH (n:Page) RETURN n.uid", {}, Profile(default_rows=limit))
        rows = await graph.reader.run(guarded, deadline=soon())
        assert (len(rows.rows), rows.truncated, rows.columns) == (min(limit, 7), truncated, ("n.uid",))


async def test_the_extended_profile(graph: Graph) -> None:
    await publish(graph.store, estate())
    text = "UNWIND ['unit 1', 'unit 2'] AS uid MATCH (u:Unit {uid: uid}) WITH u ORDER BY u.uid RETURN u.title"
    assert await query(graph, text, profile=EXTENDED) == [("Introduction",), ("Swap slots",)]


@pytest.mark.parametrize(
    "text", ["MATCH (n) RETURN n", "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line", "CREATE (n:Node)"]
)
async def test_text_alone_never_runs(graph: Graph, text: str) -> None:
    await publish(graph.store, estate())
    with pytest.raises(TypeError):
        await graph.reader.run(text, deadline=soon())  # type: ignore[arg-type]
    assert await ask(graph, statements.count_nodes(NodeFilter(), STAFF)) == [{"total": 10}]


def knot() -> GuardedQuery:
    """More paths than a deadline has time for: on 40 pages that all link each other, four hops are 90 million."""
    text = "MATCH p = (:Page)-[:xref*1..4]->() WHERE all(n IN nodes(p) WHERE n.title <> 'none') RETURN count(p)"
    return guard(text, {}, BOUNDED)


async def test_a_query_is_stopped_at_its_deadline(graph: Graph) -> None:
    pages = [f"page {number}" for number in range(40)]
    await publish(
        graph.store, [record(uid, *(refers(EdgeType.XREF, to) for to in pages if to != uid)) for uid in pages]
    )
    started = time.monotonic()
    with pytest.raises(EngineLate):
        await graph.reader.run(knot(), deadline=Deadline.after(250))
    assert time.monotonic() - started < 2.5
    late = [graph.reader.run(knot(), deadline=Deadline.after(250)) for _ in range(8)]
    assert {type(error) for error in await asyncio.gather(*late, return_exceptions=True)} == {EngineLate}
    assert await ask(graph, statements.count_nodes(NodeFilter(), ANYONE)) == [{"total": 40}]


async def test_a_deadline_that_has_passed_is_kept(graph: Graph) -> None:
    await publish(graph.store, estate())
    with pytest.raises(EngineLate):
        await graph.reader.run(statements.count_kinds(ANYONE), deadline=gone())
    with pytest.raises(EngineLate):
        await graph.reader.check(gone())
