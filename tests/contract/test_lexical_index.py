"""What the service relies on in any lexical index."""

import asyncio

import pytest

from service.domain.content import Passage
from service.domain.errors import EngineLate
from service.domain.filters import MANY_VALUED, SINGLE_VALUED
from service.domain.graph import EVERYONE, NodeIdentity, NodeKind
from service.ports import Expansion, LexicalIndex
from tests.contract.estate import HOSTILE_TEXTS, HOSTILE_UIDS, STAFF, gone, node, passage, scope, soon

pytestmark = pytest.mark.anyio


async def found(index: LexicalIndex, text: str, depth: int = 10, **within: object) -> list[str]:
    hits = await index.search(text, scope(**within), depth=depth, deadline=soon())
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return [hit.passage.identity.uid for hit in hits]


async def test_finds_what_shares_a_term_and_nothing_else(lexical_index: LexicalIndex) -> None:
    await lexical_index.add([passage("slots", "Swap the staging slot."), passage("queues", "Peek a message.")], 1)
    assert await found(lexical_index, "slot") == ["slots"]
    assert await found(lexical_index, "blorf") == []


async def test_inflected_words_meet(lexical_index: LexicalIndex) -> None:
    await lexical_index.add([passage("slots", "Swapping deployment slots.")], 1)
    assert await found(lexical_index, "swap a slot") == ["slots"]


async def test_a_rarer_and_a_second_term_rank_higher(lexical_index: LexicalIndex) -> None:
    """Of equally long passages, two of the query's terms beat one; of single terms, the rarer one wins."""
    await lexical_index.add(
        [
            passage("both", "alpha beta gamma delta"),
            passage("common", "alpha omega sigma kappa"),
            passage("rare", "beta omega sigma kappa"),
            passage("filler", "alpha lambda omikron rho"),
        ],
        1,
    )
    ranked = await found(lexical_index, "alpha beta")
    assert ranked[:2] == ["both", "rare"]
    assert set(ranked[2:]) == {"common", "filler"}


async def test_a_field_counts_by_its_boost(lexical_index: LexicalIndex) -> None:
    others = [passage(f"other {number}", "nothing of interest", title="Else", heading="Else") for number in range(3)]
    await lexical_index.add(
        [
            passage("text", "sharding", title="Else", heading="Else"),
            passage("heading", "nothing", title="Else", heading="Sharding"),
            passage("title", "nothing", title="Sharding", heading="Else"),
            *others,
        ],
        1,
    )
    assert await found(lexical_index, "sharding") == ["title", "heading", "text"]


@pytest.mark.parametrize(
    "identifier", ["IHttpClientFactory", "net-maui-8.0", "C#", "--no-restore", "0x80070005", "System.Net.Http", ".NET"]
)
async def test_a_code_identifier_is_found_exactly(lexical_index: LexicalIndex, identifier: str) -> None:
    texts = {
        "IHttpClientFactory": "Use IHttpClientFactory here.",
        "net-maui-8.0": "Target net-maui-8.0 (the latest).",
        "C#": "Written in C#, mostly.",
        "--no-restore": "Run dotnet build --no-restore twice.",
        "0x80070005": "It fails with 0x80070005: access denied.",
        "System.Net.Http": "The namespace `System.Net.Http` has it.",
        ".NET": "Install .NET first.",
        "neighbours": "A client, a factory, C, maui 7.0, a restore, 0x80070006, the system, a net and HTTP.",
    }
    await lexical_index.add([passage(name, text) for name, text in texts.items()], 1)
    assert (await found(lexical_index, identifier))[0] == identifier


async def test_the_sharp_tells_languages_apart(lexical_index: LexicalIndex) -> None:
    await lexical_index.add([passage("c", "a C program"), passage("sharp", "a C# program"), passage("f", "F# code")], 1)
    assert await found(lexical_index, "C#") == ["sharp"]
    assert await found(lexical_index, "F#") == ["f"]


async def test_parts_of_an_identifier_find_it(lexical_index: LexicalIndex) -> None:
    await lexical_index.add([passage("a", "Use IHttpClientFactory here."), passage("b", "Use net-maui-8.0.")], 1)
    assert await found(lexical_index, "http client factory") == ["a"]
    assert await found(lexical_index, "maui 8.0") == ["b"]


async def test_other_languages_are_found_by_their_words(lexical_index: LexicalIndex) -> None:
    await lexical_index.add(
        [
            passage("de", "Die Überprüfung der Schlüssel", locale="de-de"),
            passage("ja", "日本語のテキスト", locale="ja-jp"),
            passage("ar", "مرحبا بالعالم", locale="ar-sa"),
        ],
        1,
    )
    assert await found(lexical_index, "Überprüfung") == ["de"]
    assert await found(lexical_index, "テキスト") == ["ja"]
    assert await found(lexical_index, "بالعالم") == ["ar"]


async def test_depth_counts_nodes_each_by_its_best_passage(lexical_index: LexicalIndex) -> None:
    many = [passage("many", "slot " * (number + 1) + "word " * (60 - number), number) for number in range(50)]
    few = [passage(f"few {number}", "slot among quite a few other words of no interest at all") for number in range(3)]
    await lexical_index.add([*many, *few], 1)
    hits = await lexical_index.search("slot", scope(), depth=3, deadline=soon())
    assert len({hit.passage.identity for hit in hits}) == len(hits) == 3
    (best,) = [hit.passage.number for hit in hits if hit.passage.identity.uid == "many"]
    assert best == 49
    assert len(await found(lexical_index, "slot", depth=10)) == 4
    assert len(await found(lexical_index, "slot", depth=1)) == 1


async def test_equals_come_in_one_order(lexical_index: LexicalIndex) -> None:
    for number in reversed(range(5)):
        await lexical_index.add([passage(f"same {number}", "the very same slot")], 1)
    assert await found(lexical_index, "slot") == [f"same {number}" for number in range(5)]


@pytest.mark.parametrize("text", ["", "  ", "the of and", "*", "!!", "🎉"])
async def test_a_text_of_no_terms_has_no_hits(lexical_index: LexicalIndex, text: str) -> None:
    await lexical_index.add([passage("a", "the of and * !! 🎉 slot")], 1)
    assert await found(lexical_index, text) == []
    assert await lexical_index.known_terms(text, scope(), deadline=soon()) == {}


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
async def test_no_text_is_syntax(lexical_index: LexicalIndex, text: str) -> None:
    await lexical_index.add([passage("a", "swap a slot"), passage("b", "peek a message")], 1)
    hits = await found(lexical_index, text)
    assert hits == (["a"] if "slot" in text else hits)
    terms = await lexical_index.known_terms(text, scope(), deadline=soon())
    assert (sum(terms.values()) > 0) == bool(hits)
    (spans,) = await lexical_index.highlight(text, [passage("a", "swap a slot")], deadline=soon())
    assert ("slot" in text) == (7 in [span.start for span in spans])


@pytest.mark.parametrize("text", [text for text in HOSTILE_TEXTS if "\ud800" not in text and "\udfff" not in text])
async def test_any_text_is_kept_as_it_is(lexical_index: LexicalIndex, text: str) -> None:
    kept = passage("a", f"slot {text}", title=f"T {text}", heading=f"H {text}")
    await lexical_index.add([kept], 1)
    assert await lexical_index.passages([kept.key], scope(), deadline=soon()) == {kept.key: kept}


async def test_any_uid_is_a_name(lexical_index: LexicalIndex) -> None:
    passages = [passage(uid, "slot", products=(uid,)) for uid in HOSTILE_UIDS]
    await lexical_index.add(passages, 1)
    assert sorted(await found(lexical_index, "slot", depth=100)) == sorted(HOSTILE_UIDS)
    keys = [each.key for each in passages]
    assert await lexical_index.passages(keys, scope(), deadline=soon()) == dict(zip(keys, passages, strict=True))
    assert await lexical_index.keys(1) == set(keys)
    for each in passages:
        assert await found(lexical_index, "slot", product=each.node.identity.uid) == [each.node.identity.uid]
    await lexical_index.remove([(each.node.identity, each.content_hash) for each in passages[1:]])
    assert await lexical_index.keys(1) == {keys[0]}


def tagged(uid: str, value: str) -> Passage:
    """A passage whose every filter property holds the value; kind and locale take what they can."""
    single = {name: value for name in SINGLE_VALUED.values() if name not in ("kind", "locale")}
    many = dict.fromkeys(MANY_VALUED.values(), (value, "shared"))
    return Passage(
        node(uid, kind=NodeKind.UNIT if value == "a" else NodeKind.PAGE, locale=value, **single, **many),
        "0" * 64,
        0,
        "",
        "",
        "slot",
    )


@pytest.mark.parametrize("name", sorted({*SINGLE_VALUED, *MANY_VALUED} - {"kind"}))
async def test_each_filter_narrows(lexical_index: LexicalIndex, name: str) -> None:
    await lexical_index.add([tagged("x", "a"), tagged("y", "b")], 1)
    assert await found(lexical_index, "slot", **{name: "a"}) == ["x"]
    assert sorted(await found(lexical_index, "slot", **{name: ("a", "b")})) == ["x", "y"]
    assert await found(lexical_index, "slot", **{name: "A"}) == []
    assert await found(lexical_index, "slot", **{name: "\ud800"}) == []


async def test_any_value_of_a_filter_and_all_filters(lexical_index: LexicalIndex) -> None:
    await lexical_index.add([tagged("x", "a"), tagged("y", "b")], 1)
    assert await found(lexical_index, "slot", kind="unit") == ["x"]
    assert sorted(await found(lexical_index, "slot", product="shared", topic="shared")) == ["x", "y"]
    assert await found(lexical_index, "slot", product="shared", topic="a", role=("a", "c")) == ["x"]
    assert await found(lexical_index, "slot", product="a", topic="b") == []


async def test_nobody_sees_what_is_not_for_them(lexical_index: LexicalIndex) -> None:
    public, secret = passage("public", "slot"), passage("secret", "slot merger", visible_to=("staff",))
    await lexical_index.add([public], 1)
    assert await found(lexical_index, "slot") == ["public"]
    await lexical_index.add([secret], 1)
    assert await found(lexical_index, "slot") == ["public"]
    assert sorted(await found(lexical_index, "slot", principal=STAFF)) == ["public", "secret"]
    both = [public.key, secret.key]
    assert set(await lexical_index.passages(both, scope(), deadline=soon())) == {public.key}
    assert set(await lexical_index.passages(both, scope(principal=STAFF), deadline=soon())) == set(both)
    assert await lexical_index.known_terms("merger", scope(), deadline=soon()) == {"merger": 0}
    assert await lexical_index.known_terms("merger", scope(principal=STAFF), deadline=soon()) == {"merger": 1}


async def test_only_staff_sees_an_estate_for_staff(lexical_index: LexicalIndex) -> None:
    await lexical_index.add([passage("secret", "slot", visible_to=("staff",))], 1)
    assert await found(lexical_index, "slot") == []
    assert await found(lexical_index, "slot", principal=STAFF) == ["secret"]


async def test_the_next_generation_shows_when_its_time_has_come(lexical_index: LexicalIndex) -> None:
    old, new = passage("old", "slot"), passage("new", "slot")
    await lexical_index.add([old], 1)
    await lexical_index.add([new], 2)
    assert await found(lexical_index, "slot") == ["old"]
    assert sorted(await found(lexical_index, "slot", generation=2)) == ["new", "old"]
    assert await lexical_index.keys(1) == {old.key}
    assert await lexical_index.keys(2) == {old.key, new.key}
    assert await lexical_index.passages([new.key], scope(), deadline=soon()) == {}
    await lexical_index.remove_after(1)
    assert await lexical_index.keys(2) == {old.key}
    assert await found(lexical_index, "slot", generation=2) == ["old"]


async def test_a_key_is_held_once(lexical_index: LexicalIndex) -> None:
    await lexical_index.add([passage("a", "slot")], 1)
    await lexical_index.add([passage("a", "queue")], 1)
    assert await found(lexical_index, "slot") == []
    assert await found(lexical_index, "queue") == ["a"]
    (kept,) = (await lexical_index.passages([passage("a", "").key], scope(), deadline=soon())).values()
    assert kept.text == "queue"


async def test_removing_a_record_leaves_its_other_versions(lexical_index: LexicalIndex) -> None:
    before = [passage("a", "slot", number, content_hash="1" * 64) for number in range(3)]
    after = passage("a", "slot", content_hash="2" * 64)
    await lexical_index.add([*before, after, passage("b", "slot", content_hash="1" * 64)], 1)
    await lexical_index.remove([(NodeIdentity("a", "en-us"), "1" * 64)])
    assert await lexical_index.keys(1) == {after.key, passage("b", "", content_hash="1" * 64).key}
    assert sorted(await found(lexical_index, "slot")) == ["a", "b"]
    await lexical_index.remove([(NodeIdentity("nobody", "en-us"), "1" * 64)])
    await lexical_index.remove([])
    assert len(await lexical_index.keys(1)) == 2


async def test_two_versions_of_a_node_are_told_apart(lexical_index: LexicalIndex) -> None:
    """Between two snapshots both are there; which one counts is not for the index to say."""
    await lexical_index.add([passage("a", "slot", number, content_hash="1" * 64) for number in range(3)], 1)
    await lexical_index.add([passage("a", "slot again", content_hash="2" * 64)], 2)
    hits = await lexical_index.search("slot", scope(2), depth=10, deadline=soon())
    assert sorted(hit.passage.content_hash for hit in hits) == ["1" * 64, "2" * 64]
    hits = await lexical_index.search("slot", scope(1), depth=10, deadline=soon())
    assert [hit.passage.content_hash for hit in hits] == ["1" * 64]


async def expanded(index: LexicalIndex, text: str, *expansions: Expansion, **within: object) -> dict[str, float]:
    hits = await index.search(text, scope(**within), depth=50, deadline=soon(), expansions=expansions)
    return {hit.passage.identity.uid: hit.score for hit in hits}


CLUSTERS = ("kubernetes", "azure kubernetes service")


async def test_a_synonym_finds_what_the_texts_own_terms_do_not(lexical_index: LexicalIndex) -> None:
    texts = {"own": "an aks pod", "one": "a kubernetes pod", "all": "the service of azure: kubernetes", "some": "azure"}
    await lexical_index.add([passage(uid, text) for uid, text in texts.items()], 1)
    assert set(await expanded(lexical_index, "aks")) == {"own"}
    assert set(await expanded(lexical_index, "aks", Expansion(("Kubernetes",), 0.8))) == {"own", "one", "all"}
    assert set(await expanded(lexical_index, "aks", Expansion(("azure kubernetes service",), 0.8))) == {"own", "all"}
    assert set(await expanded(lexical_index, "aks", Expansion(("the", "!?"), 0.8))) == {"own"}
    assert set(await expanded(lexical_index, "the", Expansion(CLUSTERS, 0.8))) == set()


async def test_a_synonym_weighs_at_most_what_the_texts_own_term_does(lexical_index: LexicalIndex) -> None:
    """Passages alike but for the one word, whose terms are equally rare."""
    words = ("alpha", "beta", "gamma", "delta")
    await lexical_index.add([passage(word, f"{word} with the same words around it") for word in words], 1)
    found = await expanded(lexical_index, "alpha", Expansion(("beta", "gamma delta"), 1.0))
    assert found["beta"] == pytest.approx(found["alpha"])
    assert "gamma" not in found
    halved = await expanded(lexical_index, "alpha", Expansion(("beta",), 0.5))
    assert halved == {"alpha": pytest.approx(found["alpha"]), "beta": pytest.approx(found["alpha"] / 2)}


async def test_of_a_synonyms_alternatives_the_best_one_counts(lexical_index: LexicalIndex) -> None:
    await lexical_index.add(
        [passage("one", "beta word word word"), passage("all", "beta gamma delta word"), passage("own", "alpha")], 1
    )
    one = await expanded(lexical_index, "alpha", Expansion(("beta",), 0.8))
    several = await expanded(lexical_index, "alpha", Expansion(("beta", "beta"), 0.8))
    assert several == pytest.approx(one)
    mixed = await expanded(lexical_index, "alpha", Expansion(("beta", "gamma"), 0.8))
    alone = [(await expanded(lexical_index, word))["all"] for word in ("beta", "gamma")]
    assert mixed["all"] == pytest.approx(0.8 * max(alone))


async def test_a_synonym_of_several_terms_weighs_as_one(lexical_index: LexicalIndex) -> None:
    await lexical_index.add([passage("own", "alpha one two"), passage("all", "beta gamma delta")], 1)
    found = await expanded(lexical_index, "alpha", Expansion(("beta gamma delta",), 1.0))
    assert found["all"] == pytest.approx(found["own"])


async def test_a_synonym_is_bound_by_the_scope(lexical_index: LexicalIndex) -> None:
    await lexical_index.add(
        [
            passage("public", "beta", products=("azure",)),
            passage("other", "beta"),
            passage("secret", "beta", visible_to=("staff",)),
        ],
        1,
    )
    beta = Expansion(("beta",), 0.8)
    assert set(await expanded(lexical_index, "alpha", beta)) == {"public", "other"}
    assert set(await expanded(lexical_index, "alpha", beta, product="azure")) == {"public"}
    assert set(await expanded(lexical_index, "alpha", beta, principal=STAFF)) == {"public", "other", "secret"}
    assert await expanded(lexical_index, "alpha", beta, generation=0) == {}


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
async def test_a_synonym_is_words_and_never_syntax(lexical_index: LexicalIndex, text: str) -> None:
    await lexical_index.add([passage("a", "alpha"), passage("b", "nothing of all that")], 1)
    found = await expanded(lexical_index, "alpha", *[Expansion((text, f"{text} {n}"), 0.8) for n in range(40)])
    assert set(found) == {"a"}


async def test_terms_are_those_that_are_counted(lexical_index: LexicalIndex) -> None:
    text = "How do I swap the Slots, C# and net-maui-8.0?"
    assert lexical_index.terms(text) == tuple(await lexical_index.known_terms(text, scope(), deadline=soon()))
    assert lexical_index.terms("swapping a slot") == lexical_index.terms("Swap slots!")
    assert lexical_index.terms("the") == ()


async def test_highlights_are_where_the_terms_stand(lexical_index: LexicalIndex) -> None:
    texts = ["Swapping slots, then a SLOT.", "Nothing here.", "Use C# or IHttpClientFactory."]
    shown = await lexical_index.highlight(
        "swap slot C# http client", [passage("a", text) for text in texts], deadline=soon()
    )
    marked = [[text[span.start : span.end] for span in spans] for text, spans in zip(texts, shown, strict=True)]
    assert marked == [["Swapping", "slots", "SLOT"], [], ["C#", "IHttpClientFactory"]]


async def test_known_terms_are_counted_in_scope(lexical_index: LexicalIndex) -> None:
    await lexical_index.add(
        [
            passage("a", "slot", 0, products=("azure",)),
            passage("a", "slot", 1, products=("azure",)),
            passage("b", "slots queue"),
        ],
        1,
    )
    assert await lexical_index.known_terms("the slots queue blorf", scope(), deadline=soon()) == {
        "slot": 3,
        "queue": 1,
        "blorf": 0,
    }
    assert await lexical_index.known_terms("slot queue", scope(product="azure"), deadline=soon()) == {
        "slot": 2,
        "queue": 0,
    }


async def test_an_empty_index_answers(lexical_index: LexicalIndex) -> None:
    assert await found(lexical_index, "slot") == []
    assert await lexical_index.keys(9) == set()
    assert await lexical_index.passages([passage("a", "").key], scope(), deadline=soon()) == {}
    assert await lexical_index.known_terms("slot", scope(), deadline=soon()) == {"slot": 0}
    await lexical_index.check(soon())


async def test_a_deadline_that_has_passed_is_kept(lexical_index: LexicalIndex) -> None:
    kept = passage("a", "slot")
    await lexical_index.add([kept], 1)
    with pytest.raises(EngineLate):
        await lexical_index.search("slot", scope(), depth=10, deadline=gone())
    with pytest.raises(EngineLate):
        await lexical_index.passages([kept.key], scope(), deadline=gone())
    with pytest.raises(EngineLate):
        await lexical_index.highlight("slot", [kept], deadline=gone())
    with pytest.raises(EngineLate):
        await lexical_index.known_terms("slot", scope(), deadline=gone())
    with pytest.raises(EngineLate):
        await lexical_index.check(gone())


async def test_searches_go_on_while_the_next_generation_is_added(lexical_index: LexicalIndex) -> None:
    await lexical_index.add([passage(f"old {number}", "slot", visible_to=(EVERYONE,)) for number in range(5)], 1)

    async def add() -> None:
        for number in range(5):
            await lexical_index.add([passage(f"new {number}", "slot", visible_to=("staff",))], 2)

    adding = asyncio.create_task(add())
    while not adding.done():
        assert sorted(await found(lexical_index, "slot", depth=20)) == [f"old {number}" for number in range(5)]
    await adding
    assert len(await found(lexical_index, "slot", depth=20, generation=2, principal=STAFF)) == 10


async def test_what_was_fetched_once_is_fetched_right_again(lexical_index: LexicalIndex) -> None:
    """Whatever an index remembers: another scope, another version, a removal."""
    public, other = passage("public", "slot", products=("azure",)), passage("other", "slot")
    await lexical_index.add([public, other], 1)
    both = [public.key, other.key]
    for _ in range(2):
        assert await lexical_index.passages(both, scope(), deadline=soon()) == {public.key: public, other.key: other}
        assert await lexical_index.passages(both, scope(product="azure"), deadline=soon()) == {public.key: public}
        assert await lexical_index.passages(both, scope(0), deadline=soon()) == {}
    await lexical_index.add([passage("other", "queue")], 1)
    assert (await lexical_index.passages(both, scope(), deadline=soon()))[other.key].text == "queue"
    await lexical_index.add([passage("secret", "slot", visible_to=("staff",))], 1)
    await lexical_index.remove([(other.node.identity, other.content_hash)])
    for principal in (STAFF, STAFF):
        found = await lexical_index.passages(both, scope(principal=principal), deadline=soon())
        assert found == {public.key: public}
