"""docfx's cross-reference map: uid → name and address, as YAML that is written as it is read.

`sorted: false`, although it is by code point: what docfx calls sorted is its own runtime's collation, by which it then
looks up with a binary search; a map that claims to be sorted by another order loses entries there without a word.
"""

import json
import re
from collections.abc import AsyncIterator

from service.domain.documents import SummaryPage
from service.surfaces.content.streams import EstatePages
from service.surfaces.encoding import storable

MEDIA_TYPE = "application/yaml"

KINDS = ("page", "module", "unit", "learningPath")
"""What a cross-reference can lead to; what is documented elsewhere is in that estate's own map."""

_UNPRINTABLE = re.compile("[\x7f-\x84\x86-\x9f\u0085\u2028\u2029\ufeff\ufffe\uffff]")


async def yaml(pages: EstatePages[SummaryPage]) -> AsyncIterator[bytes]:
    """A chunk a page; nodes without an address are left out."""
    first = True
    async for page in pages:
        entries = [
            f"- uid: {quoted(node.uid)}\n  name: {quoted(node.title)}\n  href: {quoted(node.url)}\n"
            for node in page.nodes
            if node.url
        ]
        if first:
            # Without entries so far an open `references:` would be null in docfx's eyes.
            yield b"### YamlMime:XRefMap\nsorted: false\nreferences:\n"
            first = False
        if entries:
            yield "".join(entries).encode()


def quoted(text: str) -> str:
    """A double-quoted scalar: JSON's escapes are YAML's, but YAML has more that it may not hold as they are."""
    written = json.dumps(storable(text), ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
