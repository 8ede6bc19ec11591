"""One estate → its records and findings: index first, then page by page."""

from collections.abc import Iterator

from adapters.estates.files import EstateFiles, FileUnreadable
from adapters.estates.learn.documents import LEARN_KINDS, read_learn_document
from adapters.estates.metadata import Metadata
from adapters.estates.rules import ReadingRules
from adapters.estates.site.articles import read_article
from adapters.estates.site.base import with_base
from adapters.estates.site.configuration import ContentRoot
from adapters.estates.site.context import SiteContext
from adapters.estates.site.dialect import Dialect
from adapters.estates.site.index import EstateIndex, PageEntry
from adapters.estates.site.indexing import EstateIndexer, yaml_diagnostic
from adapters.estates.site.links import LinkResolver
from adapters.estates.site.navigation import Navigation
from adapters.estates.site.outside import read_xref_maps
from adapters.estates.site.records import CodeSamples
from adapters.estates.site.redirections import Successors, read_redirections
from adapters.estates.site.yaml_pages import read_yaml_page
from adapters.estates.yaml_document import YamlInvalid, parse_yaml
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic, Severity

PLAIN_DIALECT = Dialect()


def read_site(
    files: EstateFiles,
    roots: tuple[ContentRoot, ...],
    rules: ReadingRules,
    docset: str,
    dialect: Dialect = PLAIN_DIALECT,
) -> Iterator[NodeRecord | Diagnostic]:
    """Everything that the content roots publish."""
    roots = tuple(with_base(root, files, docset) for root in roots)
    indexer = EstateIndexer(files, roots, rules, docset, dialect)
    yield from indexer.run()
    index = indexer.index
    yield from read_xref_maps(files, index)
    yield from read_redirections(files, index, roots, docset)
    for position, root in enumerate(roots):
        navigation = Navigation(files, index, root, docset, index.main_locale or rules.default_locale.lower())
        yield from navigation.read()
        if navigation.found:
            yield from _orphans(index, position)
    yield from dialect.navigate(index)
    yield from _read_pages(SiteContext(files, index, roots, rules, docset, dialect))
    yield from Successors(index, rules).records(docset)


def _orphans(index: EstateIndex, root: int) -> Iterator[Diagnostic]:
    for path, entry in sorted(index.pages.items()):
        if entry.root == root and not entry.listed:
            yield Diagnostic(
                path,
                1,
                "orphan_page",
                "No toc lists this page.",
                Severity.NOTE,
                fix="List it in a toc, or delete it.",
            )


def _read_pages(context: SiteContext) -> Iterator[NodeRecord | Diagnostic]:
    resolver = LinkResolver(context.files, context.index, context.roots, context.rules)
    samples = CodeSamples(context)
    for path in sorted(context.index.pages):
        entry = context.index.pages[path]
        try:
            yield from _read_page(entry, context, resolver, samples)
        except FileUnreadable as error:
            yield error.diagnostic(path)


def _read_page(
    entry: PageEntry, context: SiteContext, resolver: LinkResolver, samples: CodeSamples
) -> Iterator[NodeRecord | Diagnostic]:
    root = context.roots[entry.root]
    match = root.section_of(entry.path)
    defaults = root.defaults_for(entry.path, match[0]) if match is not None else Metadata()
    source = context.files.read(entry.path)
    if entry.mime is None:
        yield from read_article(source, entry, defaults, context, resolver, samples)
        return
    try:
        document = parse_yaml(source.text)
    except YamlInvalid as error:
        yield yaml_diagnostic(entry.path, error)
        return
    if document is None:
        return
    read = read_learn_document if entry.mime in LEARN_KINDS else read_yaml_page
    yield from read(document, entry, defaults, context, resolver, samples)
