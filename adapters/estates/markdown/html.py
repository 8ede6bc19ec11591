"""The readable text, links and anchors of HTML in Markdown: one pass, whatever is left open."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from adapters.estates.markdown.document import Link
from adapters.estates.markdown.parser import attributes_of

_SILENT = frozenset({"script", "style"})
_BREAKS = frozenset({"br", "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "summary", "pre"})
_CELLS = frozenset({"td", "th"})


@dataclass(frozen=True, slots=True)
class Tag:
    """`<name attributes>`; a closing tag's name begins with `/`. `start` is its place in the text."""

    name: str
    attributes: dict[str, str]
    start: int

    @property
    def anchors(self) -> list[str]:
        return [self.attributes[name] for name in ("name", "id") if self.attributes.get(name)]


@dataclass(slots=True)
class HtmlText:
    """What an HTML block says."""

    text: str = ""
    links: list[Link] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)


def read_html(html: str, file: str, line: int) -> HtmlText:
    """`line` is the 1-based line on which the HTML begins."""
    result = HtmlText()
    parts: list[str] = []
    opened: tuple[str, int, int] | None = None
    counted, at = 0, line
    for piece in _pieces(html):
        if isinstance(piece, str):
            parts.append(unescape(piece))
            continue
        result.anchors += piece.anchors
        if piece.name in _BREAKS:
            parts.append("\n")
        elif piece.name in _CELLS:
            parts.append(" | ")
        elif piece.name == "img":
            parts.append(piece.attributes.get("alt", ""))
        elif piece.name == "a" and piece.attributes.get("href"):
            at, counted = at + html.count("\n", counted, piece.start), piece.start
            opened = (piece.attributes["href"], len(parts), at)
        elif piece.name == "/a" and opened is not None:
            href, first, link_line = opened
            result.links.append(Link(href, " ".join("".join(parts[first:]).split()), file, link_line))
            opened = None
    lines = (" ".join(text.split()).strip(" |") for text in "".join(parts).split("\n"))
    result.text = "\n".join(text for text in lines if text)
    return result


def read_tag(html: str) -> Tag:
    """A single tag, as it stands within a line."""
    return _tag(html.strip()[1:].removesuffix(">"), 0)


def _pieces(html: str) -> Iterator[str | Tag]:
    """Texts and tags in turn; comments, scripts and styles say nothing, and what is not closed is text or nothing."""
    position = 0
    while (start := html.find("<", position)) >= 0:
        yield html[position:start]
        if html.startswith("<!--", start):
            end = html.find("-->", start + 4)
            if end < 0:
                return
            position = end + 3
            continue
        end = html.find(">", start)
        if end < 0:
            yield html[start:]
            return
        tag = _tag(html[start + 1 : end], start)
        position = end + 1
        if tag.name in _SILENT:
            closing = html.find(f"</{tag.name}", position)
            if closing < 0:
                return
            position = closing
        yield tag
    yield html[position:]


def _tag(inside: str, start: int) -> Tag:
    name, _, rest = inside.strip().partition(" ")
    attributes = {name: unescape(value) for name, value in attributes_of(rest.rstrip("/")).items()}
    return Tag(name.rstrip("/").lower(), attributes, start)
