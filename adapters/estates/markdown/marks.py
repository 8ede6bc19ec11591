"""The parser's rules by the character that each begins with: of a dozen rules, most places can only be one's.

The parser asks every rule at every line and at every mark within a line, and each looks at the first character and says
no. Here the character is looked at once. What is parsed is the same.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from markdown_it import MarkdownIt, rules_block, rules_inline
from markdown_it.ruler import Ruler
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

Rule = TypeVar("Rule", bound=Callable[..., bool])

_BLOCKS: Mapping[Callable[..., bool], str] = {
    rules_block.fence: "`~",
    rules_block.blockquote: ">",
    rules_block.hr: "*-_",
    rules_block.list_block: "*+-0123456789",
    rules_block.reference: "[",
    rules_block.html_block: "<",
    rules_block.heading: "#",
}

_INLINES: Mapping[Callable[..., bool], str] = {
    rules_inline.newline: "\n",
    rules_inline.escape: "\\",
    rules_inline.backtick: "`",
    rules_inline.strikethrough.tokenize: "~",
    rules_inline.emphasis.tokenize: "*_",
    rules_inline.link: "[",
    rules_inline.image: "!",
    rules_inline.autolink: "<",
    rules_inline.html_inline: "<",
    rules_inline.entity: "&",
}


def ask_by_mark(
    parser: MarkdownIt, blocks: Mapping[Callable[..., bool], str], inlines: Mapping[Callable[..., bool], str]
) -> None:
    """Once the parser has all its rules. `blocks`, `inlines`: the added rules, each with the characters that it begins
    with; those within a line are marks that end a text."""
    parser.block.ruler = _RulesByMark(parser.block.ruler, {**_BLOCKS, **blocks}, _block_step)
    parser.inline.ruler = _RulesByMark(parser.inline.ruler, {**_INLINES, **inlines}, _inline_step)
    parser.core.ruler.at("inline", _inline)


class _RulesByMark(Ruler[Any]):
    """Rules of a parser in their order; neighbours that begin with known characters are asked as one."""

    def __init__(
        self,
        rules: Ruler[Any],
        marks: Mapping[Callable[..., bool], str],
        step: Callable[[Mapping[str, tuple[Any, ...]]], Any],
    ) -> None:
        super().__init__()
        self.__rules__ = rules.__rules__
        self._marks = marks
        self._step = step
        self._chains: dict[str, list[Any]] = {}

    def getRules(self, chainName: str = "") -> list[Any]:
        chain = self._chains.get(chainName)
        if chain is None:
            chain = self._chains[chainName] = self._grouped(super().getRules(chainName))
        return chain

    def _grouped(self, rules: Iterable[Any]) -> list[Any]:
        grouped: list[Any] = []
        by_mark: dict[str, tuple[Any, ...]] = {}
        for rule in rules:
            marks = self._marks.get(rule)
            if marks is None:
                grouped.append(rule)
                by_mark = {}
                continue
            if not by_mark:
                grouped.append(self._step(by_mark))
            for mark in marks:
                by_mark[mark] = (*by_mark.get(mark, ()), rule)
        return grouped


def _block_step(by_mark: Mapping[str, tuple[Any, ...]]) -> Callable[[StateBlock, int, int, bool], bool]:
    def step(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
        start = state.bMarks[start_line] + state.tShift[start_line]
        rules = by_mark.get(state.src[start : start + 1])
        if rules is not None:
            for rule in rules:
                if rule(state, start_line, end_line, silent):
                    return True
        return False

    return step


def _inline_step(by_mark: Mapping[str, tuple[Any, ...]]) -> Callable[[StateInline, bool], bool]:
    def step(state: StateInline, silent: bool) -> bool:
        rules = by_mark.get(state.src[state.pos])
        if rules is not None:
            for rule in rules:
                if rule(state, silent):
                    return True
        return False

    return step


def _inline(state: StateCore) -> None:
    """Within lines; a text without a mark is a text and nothing else."""
    parser = state.md.inline
    find_mark = parser.terminator_re.search
    for token in state.tokens:
        if token.type != "inline":
            continue
        children: list[Token] = []
        if find_mark(token.content) is not None:
            parser.parse(token.content, state.md, state.env, children)
        elif token.content:
            children.append(Token("text", "", 0, content=token.content))
        token.children = children
