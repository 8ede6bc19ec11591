"""Passages are cut by heading, then by tokens at sentence borders; code stays whole."""

from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.content import Block, BlockKind, NodeRecord, Section
from service.domain.graph import Node, NodeIdentity, NodeKind
from service.ports import Span
from service.publishing.passages import cut


class Words:
    """A token a word, so that a reader of the test can count."""

    def spans(self, text: str) -> list[Span]:
        spans, position = [], 0
        for word in text.split():
            start = text.index(word, position)
            position = start + len(word)
            spans.append(Span(start, position))
        return spans


def record(*sections: Section, title: str = "Title", summary: str | None = None) -> NodeRecord:
    node = Node(NodeIdentity("u", "en-us"), NodeKind.PAGE, title, summary=summary)
    return NodeRecord(node, sections)


def section(*blocks: Block, heading: str = "Heading", moniker_range: str | None = None) -> Section:
    return Section(heading, heading.lower(), 2, blocks, moniker_range)


def prose(text: str) -> Block:
    return Block(BlockKind.PROSE, text, 1)


def code(text: str, language: str = "csharp") -> Block:
    return Block(BlockKind.CODE, text, 1, language)


def texts(*sections: Section, limit: int, **options: int | bool) -> list[str]:
    return [passage.text for passage in cut(record(*sections), Words(), limit, **options)]


def test_each_heading_has_its_own_passages():
    passages = cut(record(section(prose("One two."), heading="A"), section(prose("Three."), heading="B")), Words(), 100)
    assert [(p.number, p.heading, p.anchor, p.text) for p in passages] == [
        (0, "A", "a", "One two."),
        (1, "B", "b", "Three."),
    ]


def test_blocks_that_fit_together_stay_together():
    assert texts(section(prose("One."), code("x = 1"), prose("Two.")), limit=100) == ["One.\n\nx = 1\n\nTwo."]


def test_a_long_paragraph_is_cut_at_sentences():
    # Limit 20 leaves 16 words: two special tokens and the two of "Title: Heading" go first.
    first, second, third = "a " * 7 + "a.", "b " * 7 + "b.", "c " * 7 + "c."
    assert texts(section(prose(f"{first} {second} {third}")), limit=20) == [f"{first} {second}", third]


def test_a_sentence_longer_than_the_limit_is_cut_between_tokens():
    parts = texts(section(prose(" ".join(f"w{n}" for n in range(40)))), limit=20)
    assert [len(part.split()) for part in parts] == [16, 16, 8]


def test_code_that_fits_is_never_cut():
    block = "\n".join(f"line{n} {{" for n in range(7))
    parts = texts(section(prose("p " * 11 + "p."), code(block), prose("q " * 5 + "q.")), limit=20)
    assert [part for part in parts if block in part] == [part for part in parts if "line0" in part]
    assert len([part for part in parts if block in part]) == 1


def test_code_too_long_is_cut_between_lines():
    block = "\n".join(f"l{n} a b" for n in range(10))
    parts = texts(section(code(block)), limit=20)
    assert "\n".join(parts) == block
    assert [len(part.split("\n")) for part in parts] == [5, 5]


def test_a_passage_is_tagged_with_the_languages_of_its_code():
    passages = cut(record(section(code("x"), code("y", "sql"), code("z"))), Words(), 100)
    assert passages[0].languages == ("csharp", "sql")


def test_a_zone_keeps_its_moniker_range():
    passages = cut(record(section(prose("Text."), moniker_range=">=net-8.0")), Words(), 100)
    assert passages[0].moniker_range == ">=net-8.0"


def test_quizzes_are_left_out_unless_asked_for():
    sections = (section(prose("Text.")), section(Block(BlockKind.QUIZ, "Which?", 1), heading="Check"))
    assert texts(*sections, limit=100) == ["Text."]
    assert texts(*sections, limit=100, quizzes=True) == ["Text.", "Which?"]


def test_a_record_without_text_gives_its_title_and_summary():
    [passage] = cut(record(title="A module", summary="What it is for."), Words(), 100)
    assert (passage.text, passage.number, passage.heading) == ("A module\nWhat it is for.", 0, "")


def test_overlap_repeats_whole_sentences():
    sentences = [f"{letter} " * 7 + f"{letter}." for letter in "abc"]
    parts = texts(section(prose(" ".join(sentences))), limit=20, overlap=8)
    assert parts == [
        f"{sentences[0]} {sentences[1]}",
        f"{sentences[1]} {sentences[2]}",
    ]


blocks = st.builds(
    Block,
    st.sampled_from([BlockKind.PROSE, BlockKind.CODE, BlockKind.TABLE]),
    st.text("ab .!\n\u3002", min_size=1, max_size=120).filter(str.strip),
    st.just(1),
)


@settings(deadline=None)
@given(st.lists(blocks, min_size=1, max_size=6), st.integers(16, 60))
def test_no_word_is_lost_and_no_passage_is_longer_than_the_limit(drawn, limit):
    parts = texts(Section("H", "h", 2, tuple(drawn)), limit=limit)
    budget = max(limit - 2 - 2, 16)
    assert all(len(part.split()) <= budget for part in parts)
    assert " ".join(parts).split() == " ".join(block.text for block in drawn).split()
