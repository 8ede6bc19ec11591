"""The Markdown parser: CommonMark with tables, taught the extensions that documentation platforms add.

Four kinds of token join CommonMark's:
- block `directive`: a line `:::name rest`; `info` is the name, `content` the rest.
- inline `bang`: `[!name[title](href)]`; `info` is the name in lower case, `content` the title, attribute `href`.
- inline `xref`: `<xref:uid?query>` or `@uid` (`markup` is `@`); `content` is what follows the marker.
- inline `picture`: `:::image …:::` within a line; `content` is its attributes.
"""

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from adapters.estates.markdown.marks import ask_by_mark

_SPREADING_DIRECTIVES = frozenset({"image", "code", "video"})
_DIRECTIVE_LINES = 20
_BANG_CHARACTERS = 2_000
_BANG_DEPTH = 4
_UID_CHARACTERS = frozenset("._-`*#/+~:")
_TRAILING_PUNCTUATION = "._-*#/+~:"


def markdown_parser() -> MarkdownIt:
    """A parser whose links keep the spelling of their source: a uid may hold any character."""
    parser = plain_parser()
    ask_by_mark(parser, {_directive: ":"}, {_extension: "[<@:"})
    return parser


def plain_parser() -> MarkdownIt:
    """The same, slower: every rule is asked everywhere."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.normalizeLink = _as_written  # type: ignore[method-assign,assignment]
    parser.normalizeLinkText = _as_written  # type: ignore[method-assign,assignment]
    parser.validateLink = _accepted  # type: ignore[method-assign,assignment]
    parser.block.ruler.before(
        "fence", "directive", _directive, {"alt": ["paragraph", "reference", "blockquote", "list", "table"]}
    )
    parser.inline.ruler.before("strikethrough", "extension", _extension)
    return parser


def parse_markdown(parser: MarkdownIt, text: str) -> Sequence[Token]:
    """Tokens with line maps that count from 0 at the start of `text`."""
    return parser.parse(text)


def attributes_of(text: str) -> dict[str, str]:
    """`range=">=a-1.0" id=x` → names in lower case and their values."""
    attributes: dict[str, str] = {}
    position = 0
    while (equals := text.find("=", position)) >= 0:
        name = text[position:equals].split()[-1:] or [""]
        position = equals + 1
        while position < len(text) and text[position] == " ":
            position += 1
        quote = text[position : position + 1]
        if quote in ('"', "'") and (closing := text.find(quote, position + 1)) >= 0:
            value, position = text[position + 1 : closing], closing + 1
        else:
            end = text.find(" ", position)
            end = len(text) if end < 0 else end
            value, position = text[position:end], end
        attributes[name[0].lower()] = value
    return attributes


def _as_written(address: str) -> str:
    return address


def _accepted(_address: str) -> bool:
    return True


def _directive(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    start = state.bMarks[start_line] + state.tShift[start_line]
    if not state.src.startswith(":::", start) or state.is_code_block(start_line):
        return False
    line = state.src[start : state.eMarks[start_line]].strip()
    body = line.lstrip(":").strip()
    name, _, rest = body.partition(" ")
    closed = name.endswith(":::") or body.endswith(":::")
    name = name.rstrip(":").lower()
    if not name or not name[0].isalpha():
        return False
    if silent:
        return True
    last_line = start_line
    if name in _SPREADING_DIRECTIVES and not closed:
        for candidate in range(start_line + 1, min(end_line, start_line + _DIRECTIVE_LINES)):
            more = state.src[state.bMarks[candidate] : state.eMarks[candidate]].strip()
            if not more:
                break
            rest = f"{rest} {more}"
            last_line = candidate
            if more.endswith(":::"):
                break
    token = state.push("directive", "", 0)
    token.info = name
    token.content = rest.strip().removesuffix(":::").rstrip()
    token.map = [start_line, last_line + 1]
    state.line = last_line + 1
    return True


def _extension(state: StateInline, silent: bool) -> bool:
    """One rule for all inline extensions: the parser tries every rule at every mark, and most are none of ours."""
    mark = state.src[state.pos]
    if mark == "[":
        return _bang(state, silent)
    if mark == "<":
        return _xref(state, silent)
    if mark == "@":
        return _at_uid(state, silent)
    return mark == ":" and _picture(state, silent)


def _bang(state: StateInline, silent: bool) -> bool:
    source, start = state.src, state.pos
    if not source.startswith("[!", start):
        return False
    window = min(state.posMax, start + _BANG_CHARACTERS)
    line_end = source.find("\n", start, window)
    line_end = window if line_end < 0 else line_end
    title_start = source.find("[", start + 2, line_end)
    if title_start < 0:
        return _bang_address(state, silent, line_end)
    name = source[start + 2 : title_start].strip()
    if not name or "]" in name or "(" in name:
        return _bang_address(state, silent, line_end)
    title_end = _closing(source, title_start, line_end, "[", "]")
    if title_end < 0 or not source.startswith("(", title_end + 1):
        return False
    href_end = _closing(source, title_end + 1, line_end, "(", ")")
    if href_end < 0:
        return False
    end = source.find("]", href_end, line_end)
    if end < 0 or source[href_end + 1 : end].strip():
        return False
    if not silent:
        _push_bang(state, name, source[title_start + 1 : title_end], source[title_end + 2 : href_end])
    state.pos = end + 1
    return True


def _bang_address(state: StateInline, silent: bool, line_end: int) -> bool:
    """`[!VIDEO https://…]`: an address without a title."""
    end = state.src.find("]", state.pos, line_end)
    name, _, address = state.src[state.pos + 2 : max(end, 0)].partition(" ")
    if end < 0 or name.lower() != "video":
        return False
    if not silent:
        _push_bang(state, name, "", address)
    state.pos = end + 1
    return True


def _push_bang(state: StateInline, name: str, title: str, href: str) -> None:
    token = state.push("bang", "", 0)
    token.info = name.lower()
    token.content = title.strip()
    token.attrSet("href", _destination(href))


def _destination(text: str) -> str:
    """The address of `(address "title")`."""
    text = text.strip()
    if text.startswith("<"):
        return text[1:].partition(">")[0]
    for quote in (' "', " '"):
        if text.endswith(quote[1]) and quote in text:
            return text.partition(quote)[0].strip()
    return text


def _closing(source: str, start: int, end: int, opening: str, closing: str) -> int:
    depth = 0
    for position in range(start, end):
        if source[position] == opening:
            depth += 1
            if depth > _BANG_DEPTH:
                return -1
        elif source[position] == closing:
            depth -= 1
            if depth == 0:
                return position
    return -1


def _xref(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("<xref:", state.pos):
        return False
    end = state.src.find(">", state.pos, state.posMax)
    content = state.src[state.pos + 6 : max(end, 0)]
    if not content.strip() or "\n" in content or "<" in content:
        return False
    if not silent:
        token = state.push("xref", "", 0)
        token.content = content.strip()
    state.pos = end + 1
    return True


def _at_uid(state: StateInline, silent: bool) -> bool:
    source, start = state.src, state.pos
    if source[start] != "@" or (start > 0 and (source[start - 1].isalnum() or source[start - 1] in "_/`@.")):
        return False
    first = source[start + 1 : start + 2]
    if first in ('"', "'") and first:
        end = source.find(first, start + 2, state.posMax)
        content, after = source[start + 2 : max(end, 0)], end + 1
        if end < 0 or not content or "\n" in content:
            return False
    elif first.isalpha():
        end = start + 1
        while end < state.posMax and (source[end].isalnum() or source[end] in _UID_CHARACTERS):
            end += 1
        content = source[start + 1 : end].rstrip(_TRAILING_PUNCTUATION)
        after = start + 1 + len(content)
    else:
        return False
    if not silent:
        token = state.push("xref", "", 0)
        token.content = content
        token.markup = "@"
    state.pos = after
    return True


def _picture(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith(":::image", state.pos):
        return False
    end = state.src.find(":::", state.pos + 3, state.posMax)
    if end < 0:
        return False
    if not silent:
        token = state.push("picture", "", 0)
        token.content = state.src[state.pos + 8 : end].replace("\n", " ").strip()
    state.pos = end + 3
    return True
