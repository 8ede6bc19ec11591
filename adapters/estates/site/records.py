"""Page entries and what was read of them → node records."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from adapters.estates.markdown.document import Listing, MarkdownDocument, Snippet
from adapters.estates.metadata import (
    MONIKER_FIELDS,
    Metadata,
    content_type,
    last_modified,
    moniker_range_of,
    products_of,
    roles_of,
    topics_of,
    vocabulary_references,
)
from adapters.estates.site.context import SiteContext
from adapters.estates.site.index import Inherited, PageEntry
from adapters.estates.site.references import (
    is_substantial,
    listing_title,
    listing_uid,
    moniker_references,
    snippet_title,
    snippet_uid,
)
from service.domain.content import Block, BlockKind, NodeRecord, Section
from service.domain.diagnostics import Diagnostic
from service.domain.graph import EdgeType, Node, NodeIdentity, NodeKind, Reference
from service.domain.monikers import MonikerInvalid, MonikerRange


@dataclass(slots=True)
class PageContent:
    """What a page format read of one page, before it becomes a record."""

    metadata: Metadata
    sections: tuple[Section, ...]
    references: list[Reference] = field(default_factory=list)
    summary: str | None = None
    title: str | None = None
    extra: dict[str, str | int | float | bool] = field(default_factory=dict)
    inherited: Inherited = field(default_factory=Inherited)


def page_record(entry: PageEntry, content: PageContent, context: SiteContext) -> Iterator[NodeRecord | Diagnostic]:
    """One record, after the findings about its metadata."""
    metadata = content.metadata
    references: list[Reference] = [parent_reference(entry, ordinal) for ordinal in range(len(entry.parents))]
    references += vocabulary_references(metadata, context.settings.names)
    expression = metadata.datum(*MONIKER_FIELDS)
    monikers: tuple[str, ...] = ()
    range_text = moniker_range_of(metadata)
    if expression is not None and range_text is not None:
        for found in moniker_references(
            range_text, expression.name or "monikerRange", expression.file, expression.node.line, context
        ):
            if isinstance(found, Reference):
                references.append(found)
            else:
                range_text = None
                yield found
    if range_text is not None:
        monikers = expand(range_text, context)
    references += translation_references(entry, metadata, context)
    references += content.references
    level = metadata.text("levels", "level") or next(iter(metadata.texts("levels", "level")), None)
    node = Node(
        identity=NodeIdentity(entry.uid, entry.locale),
        kind=entry.kind,
        title=content.title or entry.title,
        type=content_type(metadata),
        url=entry.address,
        summary=content.summary or metadata.text("summary", "description", "intro"),
        path=entry.path,
        docset=context.docset,
        products=products_of(metadata, context.settings.names) or content.inherited.products,
        topics=tuple(dict.fromkeys((*topics_of(metadata), *entry.topics))),
        roles=roles_of(metadata, context.settings.names) or content.inherited.roles,
        audience=metadata.texts("audience", "ms.audience"),
        region=metadata.texts("region", "regions", "ms.region"),
        level=level or content.inherited.level,
        moniker_range=range_text,
        monikers=monikers,
        aliases=tuple(alias for alias in metadata.texts("aliases", "alias") if alias != entry.uid),
        last_modified=last_modified(metadata),
        visible_to=entry.visible_to,
        extra=content.extra | _translation_extra(metadata),
    )
    yield NodeRecord(node, content.sections, _distinct(references))


def parent_reference(entry: PageEntry, position: int) -> Reference:
    parent = entry.parents[position]
    return Reference(
        type=EdgeType.PART_OF,
        target_uid=parent.uid,
        via=parent.via,
        file=parent.file,
        line=parent.line,
        target_kind=parent.kind,
        ordinal=parent.ordinal,
    )


def translation_references(entry: PageEntry, metadata: Metadata, context: SiteContext) -> list[Reference]:
    """A localised page is derived from the page with its uid in the source's locale."""
    datum = metadata.datum("ms.translationtype", "ms.sourcegitcommit")
    source_locale = context.rules.default_locale.lower()
    if datum is None or entry.locale == source_locale:
        return []
    return [
        Reference(
            type=EdgeType.DERIVED_FROM,
            target_uid=entry.uid,
            via="translation",
            file=datum.file,
            line=datum.node.line,
            target_locale=source_locale,
            target_title=entry.title,
        )
    ]


def _distinct(references: list[Reference]) -> tuple[Reference, ...]:
    """What a page states twice through the same markup it states once, where it stands first."""
    first: dict[tuple[EdgeType, str, str | None, str], Reference] = {}
    for reference in references:
        first.setdefault((reference.type, reference.target_uid, reference.target_locale, reference.via), reference)
    return tuple(first.values())


def _translation_extra(metadata: Metadata) -> dict[str, str | int | float | bool]:
    named = (("translationType", "ms.translationtype"), ("sourceCommit", "ms.sourcegitcommit"))
    return {name: text for name, source in named if (text := metadata.text(source))}


def expand(expression: str, context: SiteContext) -> tuple[str, ...]:
    try:
        return tuple(moniker.name for moniker in MonikerRange.parse(expression).expand(context.index.monikers))
    except MonikerInvalid:
        return ()


class CodeSamples:
    """The code samples of an estate: the same code, or the same part of a source, is one record.

    The page that comes first by path gives a sample its title, address and filters.
    """

    def __init__(self, context: SiteContext) -> None:
        self._context = context
        self._seen: set[tuple[str, str]] = set()

    def of(self, document: MarkdownDocument, page: Node) -> Iterator[NodeRecord]:
        """The samples that this page shows and no page before it did."""
        entry = self._context.index.pages.get(page.path or "")
        if entry is None:
            return
        for listing in document.listings:
            if is_substantial(listing.text, self._context):
                yield from self._listing(listing, page, entry)
        for snippet in document.snippets:
            yield from self._snippet(snippet, page, entry)

    def _listing(self, listing: Listing, page: Node, entry: PageEntry) -> Iterator[NodeRecord]:
        uid = listing_uid(listing, self._context.docset, page.visible_to)
        if not self._first(uid, page):
            return
        block = Block(BlockKind.CODE, listing.text, listing.line, listing.language or None)
        section = Section(listing.heading, listing.anchor, 2, (block,))
        url = f"{page.url}#{listing.anchor}" if listing.anchor else page.url
        yield self._record(uid, listing_title(listing, entry), section, page, url, listing.file, listing.language)

    def _snippet(self, snippet: Snippet, page: Node, entry: PageEntry) -> Iterator[NodeRecord]:
        path = self._context.snippet_path(snippet, entry)
        if path is None or snippet.code is None:
            return
        uid = snippet_uid(self._context.docset, path, snippet.part, page.visible_to)
        if not self._first(uid, page):
            return
        block = Block(BlockKind.CODE, snippet.code, 1, snippet.language or None)
        title = snippet_title(path, snippet.part)
        yield self._record(uid, title, Section("", "", 1, (block,)), page, page.url, path, snippet.language)

    def _first(self, uid: str, page: Node) -> bool:
        key = (uid, page.identity.locale)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _record(
        self, uid: str, title: str, section: Section, page: Node, url: str | None, path: str, language: str
    ) -> NodeRecord:
        node = Node(
            identity=NodeIdentity(uid, page.identity.locale),
            kind=NodeKind.CODE_SAMPLE,
            title=title,
            type="sample",
            url=url,
            path=path,
            docset=page.docset,
            products=page.products,
            topics=page.topics,
            roles=page.roles,
            audience=page.audience,
            region=page.region,
            level=page.level,
            moniker_range=page.moniker_range,
            monikers=page.monikers,
            last_modified=page.last_modified,
            language=language or None,
            visible_to=page.visible_to,
        )
        return NodeRecord(node, (section,))


def split_findings(
    found: Iterable[Reference | Diagnostic],
) -> tuple[list[Reference], list[Diagnostic]]:
    references: list[Reference] = []
    diagnostics: list[Diagnostic] = []
    for finding in found:
        if isinstance(finding, Reference):
            references.append(finding)
        else:
            diagnostics.append(finding)
    return references, diagnostics
