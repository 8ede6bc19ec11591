"""Tokens → MarkdownDocument: sections of readable blocks, and the markup that edges come from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from markdown_it.token import Token

from adapters.estates.markdown.document import (
    Bullet,
    Inclusion,
    Link,
    LinkRole,
    Listing,
    MarkdownDocument,
    MonikerZone,
    Snippet,
)
from adapters.estates.markdown.html import read_html
from adapters.estates.markdown.inline import InlineText, TitleOf, lone_bangs, read_inline
from adapters.estates.markdown.outline import Outline
from adapters.estates.markdown.parser import attributes_of
from service.domain.content import Block, BlockKind
from service.domain.languages import canonical_language

_WRITTEN = frozenset({"inline", "heading_open", "fence", "code_block", "table_open", "html_block"})
"""Tokens that put something on the page; the others open and close what holds them."""
_ALERTS = ("note", "tip", "important", "caution", "warning")


@dataclass(frozen=True, slots=True)
class IncludedText:
    """An include's tokens; `first_line` is the 1-based line of the file on which they begin, `characters` their text's
    length."""

    path: str
    tokens: Sequence[Token]
    first_line: int
    characters: int = 0


LoadInclude = Callable[[str, Sequence[str], int], IncludedText | None]
"""(href, the files open around it with the including one last, line) → the tokens, or None when it was reported."""

LoadSnippet = Callable[[Snippet], str | None]
"""The snippet's code, or None when its source is not in the estate."""


NarrowZone = Callable[[MonikerZone, str], str | None]
"""(a zone, the range around it if any) → what the two ranges share; None when they share nothing."""


@dataclass(frozen=True, slots=True)
class ReadingContext:
    """What the walk needs of the estate: includes, snippets, the names that xrefs and pivots are shown by, and the
    versions that the page is for."""

    load_include: LoadInclude
    load_snippet: LoadSnippet
    title_of: TitleOf
    pivot_title: Callable[[str], str]
    narrow_zone: NarrowZone


def read_document(tokens: Sequence[Token], file: str, first_line: int, context: ReadingContext) -> MarkdownDocument:
    """`first_line` is the 1-based line of the file on which the tokens' text begins."""
    walk = _Walk(context)
    walk.run(tokens, file, first_line)
    walk.finish()
    return walk.document


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int
    marker: str = ""


class _Walk:
    """One pass over the tokens; the open heading, lists, alerts and zones are its state."""

    def __init__(self, context: ReadingContext) -> None:
        self.document = MarkdownDocument()
        self._context = context
        self._outline = Outline()
        self._lists: list[_List] = []
        self._lines: list[str] = []
        self._lines_start = 0
        self._quotes = 0
        self._checklist = False
        self._files: list[str] = []

    def run(self, tokens: Sequence[Token], file: str, first_line: int) -> None:
        self._files.append(file)
        index = 0
        while index < len(tokens):
            token = tokens[index]
            line = (token.map[0] if token.map else 0) + first_line
            kind = token.type
            if kind in _WRITTEN and self._outline.is_hidden:
                pass
            elif kind == "inline":
                self._paragraph(token, file, line)
            elif kind == "heading_open":
                self._heading(tokens[index + 1], int(token.tag[1]), file, line)
                index += 2
            elif kind in ("bullet_list_open", "ordered_list_open"):
                start = token.attrGet("start")
                self._lists.append(_List(kind[0] == "o", int(start) if start is not None else 1))
            elif kind in ("bullet_list_close", "ordered_list_close"):
                self._lists.pop()
                if not self._lists:
                    self._flush()
            elif kind == "list_item_open":
                self._open_item()
            elif kind == "blockquote_open":
                self._flush_unless_listed()
                self._quotes += 1
            elif kind == "blockquote_close":
                self._quotes -= 1
                self._checklist = False
                self._flush_unless_listed()
            elif kind in ("fence", "code_block"):
                self._listing(token, file, line)
            elif kind == "table_open":
                index = self._table(tokens, index, file, first_line)
            elif kind == "html_block":
                self._html(token, file, line)
            elif kind == "directive":
                self._directive(token, file, line)
            index += 1
        self._files.pop()

    def finish(self) -> None:
        self._flush()
        self._outline.close()
        self.document.title = self._outline.title
        self.document.sections = self._outline.sections

    def _heading(self, inline: Token, level: int, file: str, line: int) -> None:
        read = self._inline(inline, file, line)
        self._flush()
        tab = next((link for link in read.links if link.href.startswith("#tab/")), None)
        if tab is not None and tab.text == read.text:
            self._outline.add(Block(BlockKind.PROSE, read.text + ":", line))
            return
        anchor = self._outline.open(read.text, level, read.anchors)
        self.document.anchors.update(read.anchors, [anchor])
        self._links(read.links)

    # Prose

    def _paragraph(self, token: Token, file: str, line: int) -> None:
        bangs = lone_bangs(token, line)
        if bangs:
            for bang, at in bangs:
                self._bang(bang, file, at)
            return
        read = self._inline(token, file, line)
        self.document.anchors.update(read.anchors)
        if self._quotes and read.text.startswith("[!"):
            read = self._alert(read)
        self._links(read.links)
        self._prose(read.text, file, line)

    def _inline(self, token: Token, file: str, line: int) -> InlineText:
        return read_inline(token, file, line, self._context.title_of, lambda bang, at: self._phrase(bang, file, at))

    def _alert(self, read: InlineText) -> InlineText:
        name, _, rest = read.text[2:].partition("]")
        lowered = name.strip().lower()
        if lowered in _ALERTS:
            return replace(read, text=f"{lowered.capitalize()}: {rest.strip()}")
        if lowered.startswith("div"):
            self._checklist = "checklist" in lowered
            if "nextstepaction" in lowered:
                links = [replace(link, role=LinkRole.RELATED) for link in read.links]
                return replace(read, text=rest.strip(), links=links)
            return replace(read, text=rest.strip())
        return read

    def _prose(self, text: str, file: str, line: int) -> None:
        if not text:
            return
        if not self._lists:
            self._outline.add(Block(BlockKind.PROSE, text, line))
            return
        innermost = self._lists[-1]
        if innermost.marker and len(self._lists) == 1:
            bullet = Bullet(text, file, line)
            self.document.bullets.append(bullet)
            if self._checklist or self._outline.teaches:
                self.document.checklist.append(bullet)
        indent = "  " * (len(self._lists) - 1)
        marker, innermost.marker = innermost.marker or "  ", ""
        if not self._lines:
            self._lines_start = line
        self._lines.append(f"{indent}{marker}{text}")

    def _open_item(self) -> None:
        if not self._lists:
            return
        innermost = self._lists[-1]
        innermost.marker = f"{innermost.number}. " if innermost.ordered else "- "
        innermost.number += 1

    def _flush(self) -> None:
        if self._lines:
            self._outline.add(Block(BlockKind.PROSE, "\n".join(self._lines), self._lines_start))
            self._lines = []

    def _flush_unless_listed(self) -> None:
        if not self._lists:
            self._flush()

    def _links(self, links: Sequence[Link]) -> None:
        role = self._outline.role
        for link in links:
            if not link.href.startswith("#tab/"):
                self.document.links.append(link if link.role is not LinkRole.TEXT else replace(link, role=role))

    # Code, tables, HTML

    def _listing(self, token: Token, file: str, line: int) -> None:
        self._flush()
        text = token.content.rstrip()
        if not text.strip():
            return
        language = fence_language(token.info)
        fenced = token.type == "fence"
        self._outline.add(Block(BlockKind.CODE, text, line + (1 if fenced else 0), language or None))
        outline = self._outline
        self.document.listings.append(Listing(language, text, outline.heading, outline.anchor, file, line))

    def _table(self, tokens: Sequence[Token], start: int, file: str, first_line: int) -> int:
        self._flush()
        table = tokens[start]
        line = (table.map[0] if table.map else 0) + first_line
        rows: list[str] = []
        cells: list[str] = []
        index = start
        while tokens[index].type != "table_close":
            token = tokens[index]
            if token.type == "tr_open":
                cells = []
            elif token.type == "inline":
                at = (token.map[0] if token.map else 0) + first_line
                read = self._inline(token, file, at)
                self._links(read.links)
                cells.append(read.text.replace("\n", " "))
            elif token.type == "tr_close":
                rows.append(" | ".join(cells))
            index += 1
        self._outline.add(Block(BlockKind.TABLE, "\n".join(rows), line))
        return index

    def _html(self, token: Token, file: str, line: int) -> None:
        html = read_html(token.content, file, line)
        self.document.anchors.update(html.anchors)
        self._links(html.links)
        self._prose(html.text, file, line)

    # Extensions

    def _bang(self, token: Token, file: str, line: int) -> None:
        href = str(token.attrGet("href") or "")
        if token.info == "include":
            self._include(href, file, line)
        elif token.info.startswith("code"):
            _, _, language = token.info.partition("-")
            source, _, query = href.partition("?")
            source, _, fragment = source.partition("#")
            options = attributes_of(query.replace("&", " "))
            part = options.get("name") or options.get("range") or options.get("id") or fragment
            self._snippet(Snippet(source, canonical_language(language), part, file, line))
        elif token.content:
            self._prose(token.content, file, line)

    def _snippet(self, snippet: Snippet) -> None:
        if not snippet.source:
            return
        self._flush()
        code = self._context.load_snippet(snippet)
        self.document.snippets.append(replace(snippet, code=code))
        if code:
            self._outline.add(Block(BlockKind.CODE, code, snippet.line, snippet.language or None))

    def _include(self, href: str, file: str, line: int) -> None:
        included = self._context.load_include(href, self._files, line)
        if included is not None:
            self.document.inclusions.append(Inclusion(included.path, file, line))
            self.run(included.tokens, included.path, included.first_line)

    def _phrase(self, token: Token, file: str, line: int) -> str:
        """An include within a line gives its text; anything else in a line its title."""
        if token.info != "include":
            return token.content
        href = str(token.attrGet("href") or "")
        included = self._context.load_include(href, self._files, line)
        if included is None:
            return token.content
        self.document.inclusions.append(Inclusion(included.path, file, line))
        texts = []
        self._files.append(included.path)
        for inner in included.tokens:
            if inner.type == "inline":
                at = (inner.map[0] if inner.map else 0) + included.first_line
                read = self._inline(inner, included.path, at)
                self._links(read.links)
                texts.append(read.text)
        self._files.pop()
        return " ".join(texts)

    def _directive(self, token: Token, file: str, line: int) -> None:
        attributes = attributes_of(token.content)
        if token.info in ("moniker", "moniker-else", "moniker-end"):
            self._flush()
            if token.info != "moniker":
                self._outline.leave_zone()
            if token.info != "moniker-end":
                self._enter_zone(MonikerZone(attributes.get("range", "").strip(), file, line))
        elif self._outline.is_hidden:
            return
        elif token.info == "zone":
            pivots = attributes.get("pivot", "")
            titles = [self._context.pivot_title(pivot.strip()) for pivot in pivots.split(",") if pivot.strip()]
            self._prose(", ".join(titles) + ":" if titles else "", file, line)
        elif token.info == "code" and attributes.get("source"):
            part = attributes.get("id") or attributes.get("range") or attributes.get("name") or ""
            language = canonical_language(attributes.get("language", ""))
            self._snippet(Snippet(attributes["source"], language, part, file, line))
        elif token.info == "image":
            self._prose(attributes.get("alt-text", ""), file, line)

    def _enter_zone(self, zone: MonikerZone) -> None:
        around = self._outline.zone
        if not zone.expression or self._outline.is_hidden:
            self._outline.enter_zone(around)
            return
        expression = self._context.narrow_zone(zone, around)
        self._outline.enter_zone(expression)
        if expression is not None:
            self.document.zones.append(replace(zone, expression=expression))


def fence_language(info: str) -> str:
    """The language that a fence's info string names, by its canonical name; empty when it names none."""
    words = info.strip().lstrip("{").lstrip(".").split()
    name = words[0].rstrip("}").partition("{")[0] if words else ""
    return canonical_language(name)
