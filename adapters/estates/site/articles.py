"""Markdown pages → records."""

from collections.abc import Iterator

from adapters.estates.files import SourceText
from adapters.estates.metadata import Metadata
from adapters.estates.site.context import SiteContext
from adapters.estates.site.index import PageEntry
from adapters.estates.site.links import LinkResolver
from adapters.estates.site.records import CodeSamples, PageContent, page_record, split_findings
from adapters.estates.site.references import document_references
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic


def read_article(
    source: SourceText,
    entry: PageEntry,
    defaults: Metadata,
    context: SiteContext,
    resolver: LinkResolver,
    samples: CodeSamples,
) -> Iterator[NodeRecord | Diagnostic]:
    """The page's record, the code samples it is the first to show, and what was found wrong on the way."""
    headed = context.dialect.head(source)
    yield from headed.diagnostics
    document = context.document(headed.body, source.path, headed.first_line, entry)
    yield from context.drain()
    references, findings = split_findings(document_references(document, entry, context, resolver))
    yield from findings
    content = PageContent(
        metadata=headed.metadata.over(defaults), sections=tuple(document.sections), references=references
    )
    for found in page_record(entry, content, context):
        yield found
        if isinstance(found, NodeRecord):
            yield from samples.of(document, found.node)
