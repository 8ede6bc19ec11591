"""Pages written as YAML (hubs, landing pages, questions and answers) → records."""

from collections.abc import Iterator

from adapters.estates.learn.documents import learn_metadata
from adapters.estates.markdown.document import Link, MarkdownDocument
from adapters.estates.metadata import Metadata
from adapters.estates.site.context import SiteContext
from adapters.estates.site.index import PageEntry
from adapters.estates.site.links import LinkResolver
from adapters.estates.site.records import CodeSamples, PageContent, page_record, split_findings
from adapters.estates.site.references import document_references
from adapters.estates.yaml_document import YamlNode
from service.domain.content import Block, BlockKind, NodeRecord, Section
from service.domain.diagnostics import Diagnostic

_TEXTS = ("title", "text", "summary", "description", "note", "question")
_MARKDOWN = ("answer", "content", "body")
_ADDRESSES = ("url", "href")


def read_yaml_page(
    document: YamlNode,
    entry: PageEntry,
    defaults: Metadata,
    context: SiteContext,
    resolver: LinkResolver,
    samples: CodeSamples,
) -> Iterator[NodeRecord | Diagnostic]:
    """Every text and every address that the document holds, in its order."""
    text = MarkdownDocument()
    blocks: list[Block] = []
    body = [node for name, node in (document.entries or {}).items() if name not in ("metadata", "uid")]
    for node in (inner for part in body for inner in part.walk()):
        if node.entries is None:
            continue
        label = node.text("text") or node.text("title") or ""
        blocks += [
            Block(BlockKind.PROSE, " ".join(value.split()), (node.get(name) or node).line)
            for name in _TEXTS
            if (value := node.text(name)) is not None
        ]
        for name in _ADDRESSES:
            address = node.get(name)
            if address is not None and address.value:
                text.links.append(Link(address.value.strip(), label, entry.path, address.line))
        for name in _MARKDOWN:
            markdown = node.get(name)
            if markdown is not None and markdown.value:
                first_line = markdown.line + (1 if markdown.block_scalar else 0)
                read = context.document(markdown.value, entry.path, first_line, entry)
                blocks += [block for section in read.sections for block in section.blocks]
                text.links += read.links
                text.listings += read.listings
                text.inclusions += read.inclusions
                text.snippets += read.snippets
                text.zones += read.zones
    yield from context.drain()
    references, findings = split_findings(document_references(text, entry, context, resolver))
    yield from findings
    summary = document.text("summary")
    sections = [Section("", "", 1, tuple(blocks))] if blocks else []
    metadata = learn_metadata(document, entry.path).over(defaults)
    content = PageContent(metadata, tuple(sections), references, summary, document.text("title"))
    for found in page_record(entry, content, context):
        yield found
        if isinstance(found, NodeRecord):
            yield from samples.of(text, found.node)
