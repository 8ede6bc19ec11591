"""Inline markup → readable text, with the links, includes and anchors met on the way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import unquote

from markdown_it.token import Token

from adapters.estates.markdown.document import Link, LinkForm
from adapters.estates.markdown.html import read_tag
from adapters.estates.markdown.parser import attributes_of

TitleOf = Callable[[str], str | None]
"""uid → the title of the page that has it, or None."""


_TITLE_WANTED = "AUTOTITLE"
"""The text of a link that is to show its target's title."""

Phrase = Callable[[Token, int], str]
"""(a `[!…]` within a line, its line) → the text that stands in its place."""


@dataclass(slots=True)
class InlineText:
    """The text of one paragraph, heading or cell."""

    text: str = ""
    links: list[Link] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)


def lone_bangs(token: Token, line: int) -> list[tuple[Token, int]]:
    """The `[!…]` tokens of a paragraph that holds nothing else, with their lines."""
    found: list[tuple[Token, int]] = []
    for child in token.children or []:
        if child.type == "bang":
            found.append((child, line))
        elif child.type in ("softbreak", "hardbreak"):
            line += 1
        elif child.type != "text" or child.content.strip():
            return []
    return found


def read_inline(token: Token, file: str, line: int, title_of: TitleOf, phrase: Phrase) -> InlineText:
    """`line` is the 1-based line on which the inline token begins."""
    reader = _InlineReader(file, line, title_of, phrase)
    reader.read(token.children or [])
    reader.result.text = "".join(reader.parts).strip()
    return reader.result


class _InlineReader:
    def __init__(self, file: str, line: int, title_of: TitleOf, phrase: Phrase) -> None:
        self.result = InlineText()
        self._phrase = phrase
        self.parts: list[str] = []
        self._file = file
        self._line = line
        self._title_of = title_of
        self._open: list[tuple[str, int, int]] = []

    def read(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            kind = token.type
            if kind == "text" or kind == "code_inline" or kind == "text_special":
                self.parts.append(token.content)
            elif kind == "softbreak":
                self._line += 1
                self.parts.append(" ")
            elif kind == "hardbreak":
                self._line += 1
                self.parts.append("\n")
            elif kind == "link_open":
                self._open.append((str(token.attrGet("href") or ""), len(self.parts), self._line))
            elif kind == "link_close":
                self._close_link()
            elif kind == "xref":
                self._xref(token)
            elif kind == "image":
                self.parts.append(token.content)
            elif kind == "picture":
                self.parts.append(attributes_of(token.content).get("alt-text", ""))
            elif kind == "bang":
                self.parts.append(self._phrase(token, self._line))
            elif kind == "html_inline":
                self._html(token.content)

    def _close_link(self) -> None:
        if not self._open:
            return
        href, start, line = self._open.pop()
        form = LinkForm.LINK
        if href.startswith("xref:"):
            href, form = href[5:], LinkForm.XREF
        text = "".join(self.parts[start:]).strip()
        if (not text and form is LinkForm.XREF) or text == _TITLE_WANTED:
            text = display_name(href, self._title_of)
            self.parts[start:] = [text]
        self.result.links.append(Link(href, text, self._file, line, form))

    def _xref(self, token: Token) -> None:
        if token.markup == "@":
            title = self._title_of(token.content)
            text = title if title is not None else "@" + token.content
            form = LinkForm.AT
        else:
            text, form = display_name(token.content, self._title_of), LinkForm.XREF
        self.parts.append(text)
        self.result.links.append(Link(token.content, text, self._file, self._line, form))

    def _html(self, html: str) -> None:
        if html.startswith("<!"):
            return
        tag = read_tag(html)
        self.result.anchors.extend(tag.anchors)
        if tag.name == "br":
            self.parts.append("\n")
        elif tag.name == "img":
            self.parts.append(tag.attributes.get("alt", ""))
        elif tag.name == "a" and tag.attributes.get("href"):
            self._open.append((tag.attributes["href"], len(self.parts), self._line))
        elif tag.name == "/a":
            self._close_link()


def display_name(reference: str, title_of: TitleOf) -> str:
    """What a page shows for an xref without a text of its own: the page's title, else the last name of the uid."""
    target, _, query = reference.partition("?")
    for uid in dict.fromkeys((target, unquote(target), target.partition("#")[0])):
        title = title_of(uid)
        if title is not None:
            return title
    options = {name: unquote(value) for name, _, value in (p.partition("=") for p in unescape(query).split("&"))}
    return name_of_uid(unquote(target), options.get("displayProperty", ""), options.get("text"))


def name_of_uid(uid: str, form: str = "", text: str | None = None) -> str:
    """`A.B.Type.Method*` → `Method`, `Type.Method` for nameWithType, everything for fullName."""
    if text:
        return text
    bare = uid.rstrip("*")
    arguments = ""
    if "(" in bare:
        bare, _, rest = bare.partition("(")
        arguments = "(" + rest
    names = [_without_arity(name) for name in bare.split(".") if name]
    if not names:
        return uid
    if form.lower() == "fullname":
        return ".".join(names) + arguments
    return ".".join(names[-2:] if form.lower() == "namewithtype" else names[-1:])


def _without_arity(name: str) -> str:
    return name.partition("`")[0] or name
