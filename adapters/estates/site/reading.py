"""One estate → its records and findings: index first, then page by page."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from adapters.estates.estate_settings import EstateSettings, read_estate_settings
from adapters.estates.files import EstateFiles, FileUnreadable
from adapters.estates.learn.documents import LEARN_KINDS, read_learn_document
from adapters.estates.metadata import Metadata
from adapters.estates.rules import ReadingRules
from adapters.estates.site.articles import read_article
from adapters.estates.site.base import with_base
from adapters.estates.site.columns import Columns
from adapters.estates.site.configuration import ContentRoot
from adapters.estates.site.context import SiteContext
from adapters.estates.site.dialect import Dialect
from adapters.estates.site.index import EstateIndex, PageEntry
from adapters.estates.site.indexing import EstateIndexer, yaml_diagnostic
from adapters.estates.site.links import LinkResolver
from adapters.estates.site.navigation import Navigation
from adapters.estates.site.outside import read_xref_maps
from adapters.estates.site.records import CodeSamples
from adapters.estates.site.redirections import read_redirections
from adapters.estates.site.remembered import PageMemory, RememberedPages
from adapters.estates.site.successors import Successors
from adapters.estates.site.yaml_pages import read_yaml_page
from adapters.estates.yaml_document import YamlInvalid, parse_yaml
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic, EstateRefused, Severity
from service.domain.graph import NodeIdentity, NodeKind

PLAIN_DIALECT = Dialect()


def read_site(
    files: EstateFiles,
    roots: tuple[ContentRoot, ...],
    rules: ReadingRules,
    docset: str,
    dialect: Dialect = PLAIN_DIALECT,
    *,
    is_configured: bool = True,
    memory: PageMemory | None = None,
) -> Iterator[NodeRecord | Diagnostic]:
    """Everything that the content roots publish. `is_configured`: no configuration was left out as unreadable.
    `memory`: of the readings before this one.

    Raises EstateRefused, before the first record.
    """
    settings = read_estate_settings(files)
    if settings.visibility.reads_metadata and not is_configured:
        raise EstateRefused([_unconfigured(settings)])
    yield from files.passed_over
    named_hosts = (root.host for root in roots if root.host is not None)
    rules = replace(rules, site_hosts=tuple(dict.fromkeys((*rules.site_hosts, *settings.site_hosts, *named_hosts))))
    roots = tuple(with_base(root, files, docset) for root in roots)
    indexer = EstateIndexer(files, roots, rules, docset, dialect, settings)
    columns = Columns(files)
    yield from columns.placed(indexer.run())
    index = indexer.index
    yield from columns.placed(read_xref_maps(files, index, roots))
    yield from columns.placed(read_redirections(files, index, roots, docset, indexer.former))
    successors = Successors(files, index, roots, rules)
    successors.enter()
    for position, root in enumerate(roots):
        locale = index.main_locale or rules.default_locale.lower()
        navigation = Navigation(files, index, root, docset, locale)
        yield from columns.placed(navigation.read())
        if navigation.found:
            yield from _orphans(index, position)
    yield from columns.placed(dialect.navigate(index))
    frame = (roots, rules, docset, settings, dialect.state)
    pages = RememberedPages(memory or PageMemory(0), files, index, frame)
    yield from _read_pages(index, pages, SiteContext(pages.files, pages.index, roots, rules, docset, dialect, settings))
    yield from columns.placed(successors.records(docset))


def _unconfigured(settings: EstateSettings) -> Diagnostic:
    return Diagnostic(
        settings.visibility.file,
        1,
        "visibility_undecidable",
        "The rules of visibility ask for metadata, and the configuration that gives pages their metadata can't be "
        "read. Nothing of the estate was published.",
        Severity.ERROR,
        fix="Correct the configuration.",
    )


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


def _read_pages(index: EstateIndex, pages: RememberedPages, context: SiteContext) -> Iterator[NodeRecord | Diagnostic]:
    """Each page with the code samples that it shows; a sample that several show is the first one's by path."""
    resolver = LinkResolver(context.files, context.index, context.roots, context.rules)
    shown: set[NodeIdentity] = set()
    said: set[Diagnostic] = set()
    for path in sorted(index.pages):
        entry = index.pages[path]
        for found in pages.read(entry, partial(_read_page, entry, context, resolver)):
            if isinstance(found, NodeRecord) and found.node.kind is NodeKind.CODE_SAMPLE:
                if found.node.identity in shown:
                    continue
                shown.add(found.node.identity)
            elif isinstance(found, Diagnostic) and found.file != path:
                # What is wrong in an include is wrong once, however many pages show it.
                if found in said:
                    continue
                said.add(found)
            yield found
    pages.keep()


def _read_page(entry: PageEntry, context: SiteContext, resolver: LinkResolver) -> Iterator[NodeRecord | Diagnostic]:
    try:
        yield from Columns(context.files).placed(_read_source(entry, context, resolver, CodeSamples(context)))
    except FileUnreadable as error:
        yield error.diagnostic(entry.path)


def _read_source(
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
