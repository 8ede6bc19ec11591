"""/llms.txt: what there is to read, for language models, in Markdown."""

import re
from collections.abc import AsyncIterator, Sequence
from urllib.parse import quote

from service.domain.documents import SummaryPage
from service.domain.results import NodeSummary
from service.surfaces.content.streams import EstatePages

MEDIA_TYPE = "text/plain; charset=utf-8"

SECTIONS = (("learningPath", "Learning paths"), ("module", "Modules"), ("page", "Pages"))
"""Kind → heading. Units are left to their modules, samples to their pages."""

_HEAD = """# Documentation

> Answers about this estate: search it, read a document as JSON, or follow the links below.

- [Search](/v1/search?q=words): `GET /v1/search?q=…`, or `POST /v1/search` with filters and a profile
- [A document](/content): `GET /content/{uid}`; without a uid, every document, one JSON object a line
- [The catalog](/catalog): learning paths, modules, units and pages, with filters
- [MCP](/mcp): the tools, for agents
"""

_MARKUP = re.compile(r"([\\`*_\[\]<>])")
_BLANKS = re.compile(r"\s+")


async def markdown(sections: Sequence[tuple[str, EstatePages[SummaryPage]]], most: int) -> AsyncIterator[bytes]:
    """The headings with their links, at most `most` bytes of them: what is left out is said, and where it is."""
    head = _HEAD.encode()
    yield head
    size = len(head)
    for heading, pages in sections:
        titled = False
        async for page in pages:
            if page.nodes and not titled:
                titled = True
                yield f"\n## {heading}\n\n".encode()
            lines = [_line(node) for node in page.nodes]
            text = "".join(lines).encode("utf-8", "replace")
            size += len(text)
            if size > most:
                yield f"\nThis list is cut at {most:,} bytes; [/content](/content) has the whole estate.\n".encode()
                return
            yield text


def _line(node: NodeSummary) -> str:
    summary = f": {_plain(node.summary)}" if node.summary else ""
    return f"- [{_plain(node.title)}]({_address(node)}){summary}\n"


def _plain(text: str) -> str:
    """On one line, and no markup."""
    return _MARKUP.sub(r"\\\1", _BLANKS.sub(" ", text).strip())


def _address(node: NodeSummary) -> str:
    if node.url:
        return quote(node.url.encode("utf-8", "replace"), safe="/:?#[]@!$&'*+,;=%~-._")
    return f"/content/{quote(node.uid.encode('utf-8', 'replace'), safe='')}?locale={quote(node.locale, safe='')}"
