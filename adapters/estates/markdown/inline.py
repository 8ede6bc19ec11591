"""Inline markup → readable text, with the links, includes and anchors met on the way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser

from markdown_it.token import Token

from adapters.estates.markdown.document import Link, LinkForm
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

    def _html(self, tag: str) -> None:
        html = HtmlText(self._file, self._line)
        html.feed(tag)
        self.result.anchors.extend(html.anchors)
        lowered = tag[:4].lower()
        if lowered.startswith("<br"):
            self.parts.append("\n")
        elif html.opened_link is not None:
            self._open.append((html.opened_link, len(self.parts), self._line))
        elif lowered.startswith("</a") and self._open:
            self._close_link()


class HtmlText(HTMLParser):
    """The readable text, links and anchors of a piece of HTML."""

    _SILENT = frozenset({"script", "style"})
    _BREAKS = frozenset({"br", "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "summary", "pre"})
    _CELLS = frozenset({"td", "th"})

    def __init__(self, file: str, line: int) -> None:
        super().__init__(convert_charrefs=True)
        self._file = file
        self._first_line = line
        self._parts: list[str] = []
        self._silent = 0
        self.links: list[Link] = []
        self.anchors: list[str] = []
        self.opened_link: str | None = None
        self._link: tuple[str, int, int] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors.extend(values[name] for name in ("name", "id") if values.get(name))
        if tag in self._SILENT:
            self._silent += 1
        elif tag in self._BREAKS:
            self._parts.append("\n")
        elif tag in self._CELLS:
            self._parts.append(" | ")
        elif tag == "img":
            self._parts.append(values.get("alt", ""))
        elif tag == "a" and values.get("href"):
            self.opened_link = values["href"]
            self._link = (values["href"], len(self._parts), self._first_line + self.getpos()[0] - 1)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._SILENT:
            self._silent = max(0, self._silent - 1)
        elif tag == "a" and self._link is not None:
            href, start, line = self._link
            self.links.append(Link(href, "".join(self._parts[start:]).strip(), self._file, line))
            self._link = None

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._parts.append(data)

    @property
    def text(self) -> str:
        lines = (" ".join(line.split()).strip(" |") for line in "".join(self._parts).split("\n"))
        return "\n".join(line for line in lines if line)


def display_name(reference: str, title_of: TitleOf) -> str:
    """What a page shows for an xref without a text of its own: the page's title, else the last name of the uid."""
    target, _, query = reference.partition("?")
    uid = target.partition("#")[0] if title_of(target) is None else target
    title = title_of(uid)
    if title is not None:
        return title
    options = dict(part.partition("=")[::2] for part in unescape(query).split("&") if part)
    return name_of_uid(target, options.get("displayProperty", ""), options.get("text"))


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
