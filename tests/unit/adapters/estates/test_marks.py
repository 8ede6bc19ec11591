"""Asking the parser's rules by their first character parses what asking all of them everywhere does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.estates.markdown.parser import markdown_parser, plain_parser
from tests.shared_data import ESTATES

by_mark, everywhere = markdown_parser(), plain_parser()

A_LINE = st.lists(
    st.sampled_from(
        [
            *("# ", "## ", "- ", "* ", "+ ", "1. ", "12) ", "> ", ">", "    ", "\t", "  ", " "),
            *("```", "~~~", "---", "***", "___", "===", "|", "| a | b |", "|---|:-:|", ":::", ":::image source=x:::"),
            *('::: moniker range=">=a-1"', "<div>", "</div>", "<!-- c -->", "<br/>", "<xref:A.B?text=c>", "@A.B.C"),
            *("[a]: b", "[a](b)", "![c](d)", "[!NOTE]", "[!INCLUDE [t](f.md)]", "[", "]", "(", ")", "**", "*", "_"),
            *("~~", "`", "``", "\\", "\\*", "&amp;", "&", "!", "<", "https://a.b", "word", "two words", "ß", "0", "\r"),
        ]
    ),
    max_size=6,
).map("".join)


@settings(max_examples=400, deadline=None)
@given(st.lists(A_LINE, max_size=12).map("\n".join))
def test_any_text(text: str) -> None:
    assert by_mark.parse(text) == everywhere.parse(text)


@pytest.mark.parametrize("name", ["entity-framework", "learn-en-us"])
def test_the_pages_of_an_estate(name: str) -> None:
    for path in sorted((ESTATES / name).rglob("*.md"))[::8]:
        text = path.read_text(encoding="utf-8-sig")
        assert by_mark.parse(text) == everywhere.parse(text), path
