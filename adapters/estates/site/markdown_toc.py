"""Tables of contents in Markdown (toc.md): every line a heading, its level the item's depth."""

import re

from adapters.estates.files import SourceText
from adapters.estates.front_matter import split_front_matter
from adapters.estates.yaml_document import YamlNode

MARKDOWN_TOC = "toc.md"

_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?=[ \t\[<@])(?P<rest>.*)")
_LINK = re.compile(r"\[(?P<name>(?:[^\]\\]|\\.)*)\]\(\s*(?:<(?P<angled>[^>]*)>|(?P<href>[^\s)]*))")


def is_markdown_toc(source: SourceText) -> bool:
    """Whether a file of that name is one: a page of that name says something between its headings."""
    return source.path.rpartition("/")[2].lower() == MARKDOWN_TOC and read_markdown_toc(source) is not None


def read_markdown_toc(source: SourceText) -> YamlNode | None:
    """The items as a toc.yml would hold them; None where the text is no table of contents."""
    headed = split_front_matter(source)
    body = _without_comments(headed.body)
    items: list[YamlNode] = []
    above: list[tuple[int, list[YamlNode]]] = [(0, items)]
    for number, line in enumerate(body.split("\n"), start=headed.first_line):
        if not line.strip():
            continue
        heading = _HEADING.fullmatch(line)
        if heading is None:
            return None
        level = len(heading["marks"])
        while above[-1][0] >= level:
            above.pop()
        item = _item(heading["rest"].strip(), number, heading.start("rest") + 1)
        above[-1][1].append(item)
        children: list[YamlNode] = []
        (item.entries or {})["items"] = YamlNode(number, 1, items=children)
        above.append((level, children))
    return YamlNode(1, 1, items=items) if items else None


def _without_comments(text: str) -> str:
    """The lines of a comment stay, to keep their numbers."""
    parts: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts += [text[position:start], "\n" * text.count("\n", start, end)]
        position = end + 3
    return "".join([*parts, text[position:]])


def _item(text: str, line: int, column: int) -> YamlNode:
    """`[Name](href)`, `[Name](xref:uid)`, `<xref:uid>`, `@uid`, or a name alone."""
    link = _LINK.match(text)
    if link is not None:
        href = (link["angled"] if link["angled"] is not None else link["href"]).strip()
        values = {"name": link["name"], "uid" if href.startswith("xref:") else "href": href.removeprefix("xref:")}
    elif text.startswith("<xref:"):
        values = {"uid": text[6:].partition(">")[0].partition("?")[0]}
    elif text.startswith("@"):
        values = {"uid": text[1:].strip("\"'")}
    else:
        values = {"name": text.rstrip("# ")}
    return YamlNode(line, column, entries={name: YamlNode(line, column, value) for name, value in values.items()})
