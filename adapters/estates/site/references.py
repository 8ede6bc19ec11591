"""A page's Markdown → the references it states, and the code samples it holds."""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from adapters.estates.files import without_suffix
from adapters.estates.markdown.document import Listing, MarkdownDocument, Snippet
from adapters.estates.site.context import SiteContext
from adapters.estates.site.index import PageEntry
from adapters.estates.site.links import LinkResolver
from adapters.estates.site.locales import is_locale
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.graph import EVERYONE, NEUTRAL_LOCALE, EdgeType, NodeKind, Reference
from service.domain.monikers import Moniker, MonikerInvalid, MonikerRange
from service.domain.visibility import Classes


def document_references(
    document: MarkdownDocument, page: PageEntry, context: SiteContext, resolver: LinkResolver
) -> Iterator[Reference | Diagnostic]:
    """Everything the text states, kind by kind, each in the order of the text."""
    for link in document.links:
        yield from resolver.resolve(link, page)
    for expression, zone in {zone.expression: zone for zone in reversed(document.zones)}.items():
        yield from moniker_references(expression, "moniker-zone", zone.file, zone.line, context)
    for inclusion in document.inclusions:
        yield Reference(
            type=EdgeType.DERIVED_FROM,
            target_uid=path_uid(context.docset, inclusion.path),
            via="include",
            file=inclusion.file,
            line=inclusion.line,
            target_locale=page.locale,
            target_kind=NodeKind.TOPIC,
            target_title=title_of_path(inclusion.path),
        )
    for snippet in document.snippets:
        if (path := context.snippet_path(snippet, page)) is not None:  # else it leads out, which is reported
            yield _snippet_reference(snippet, path, page, context.docset)
    for listing in document.listings:
        if is_substantial(listing.text, context):
            yield Reference(
                type=EdgeType.IMPLEMENTED_BY,
                target_uid=listing_uid(listing, context.docset, page.visible_to),
                via="fenced-code",
                file=listing.file,
                line=listing.line,
                target_locale=page.locale,
                target_kind=NodeKind.CODE_SAMPLE,
                target_title=listing_title(listing, page),
            )


def moniker_references(
    expression: str, via: str, file: str, line: int, context: SiteContext
) -> Iterator[Reference | Diagnostic]:
    """appliesTo every known moniker that the expression selects."""
    try:
        selected = MonikerRange.parse(expression).expand(context.index.monikers)
    except MonikerInvalid as error:
        yield Diagnostic(
            file,
            line,
            "moniker_range_invalid",
            f"{error}.",
            Severity.WARNING,
            fix="Write it as '>=family-1.0 <family-2.0 || other-3.0'.",
        )
        return
    for moniker in selected:
        yield Reference(
            type=EdgeType.APPLIES_TO,
            target_uid=f"moniker:{moniker.name}",
            via=via,
            file=file,
            line=line,
            target_locale=NEUTRAL_LOCALE,
            target_kind=NodeKind.MONIKER,
            target_title=moniker.name,
            target_extra=moniker_extra(moniker),
        )


def moniker_extra(moniker: Moniker) -> dict[str, str | int | float | bool]:
    return {"family": moniker.family, "order": moniker.order}


def _snippet_reference(snippet: Snippet, path: str, page: PageEntry, docset: str) -> Reference:
    extra: dict[str, str | int | float | bool] = {"language": snippet.language} if snippet.language else {}
    return Reference(
        type=EdgeType.IMPLEMENTED_BY,
        target_uid=snippet_uid(docset, path, snippet.part, page.visible_to),
        via="snippet",
        file=snippet.file,
        line=snippet.line,
        target_locale=page.locale,
        target_kind=NodeKind.CODE_SAMPLE,
        target_title=snippet_title(path, snippet.part),
        target_extra=extra,
    )


def snippet_uid(docset: str, path: str, part: str, visible_to: Classes) -> str:
    return f"{uid_space(docset)}/{path}" + (f"#{part}" if part else "") + _own_name(visible_to)


def snippet_title(path: str, part: str) -> str:
    name = path.rpartition("/")[2]
    return f"{name} ({part})" if part else name


def listing_uid(listing: Listing, docset: str, visible_to: Classes) -> str:
    """The same code is the same sample, wherever in the docset it stands."""
    digest = hashlib.sha256(f"{listing.language}\n{listing.text}".encode()).hexdigest()
    return f"{uid_space(docset)}/code/{digest[:20]}" + _own_name(visible_to)


def _own_name(visible_to: Classes) -> str:
    """A sample has the title and address of a page that shows it: pages for different readers have their own."""
    if EVERYONE in visible_to:
        return ""
    return "~" + hashlib.sha256("\n".join(visible_to).encode()).hexdigest()[:8]


def listing_title(listing: Listing, page: PageEntry) -> str:
    return f"{page.title}: {listing.heading}" if listing.heading not in ("", page.title) else page.title


def is_substantial(code: str, context: SiteContext) -> bool:
    wanted = context.rules.code_sample_lines
    return sum(1 for _ in islice(filter(str.strip, code.split("\n")), wanted)) >= wanted


def path_uid(docset: str, path: str) -> str:
    """The uid of a page that names none: where it lies, whatever its locale, for a translation shares its uid."""
    folder, slash, name = without_suffix(path).rpartition("/")
    kept = "/".join(part for part in folder.split("/") if not is_locale(part))
    return f"{uid_space(docset)}/{kept + slash if kept else ''}{name}"


@lru_cache(maxsize=64)
def uid_space(docset: str) -> str:
    """`docs.de-de` and `docs-de-de` → `docs`: the folders of two locales of an estate name the same pages."""
    for cut in (docset.rfind("."), docset.rfind("-", 0, max(docset.rfind("-"), 0))):
        if cut > 0 and is_locale(docset[cut + 1 :]):
            return docset[:cut]
    return docset


def title_of_path(path: str) -> str:
    """`using-the-cli.md` → `using the cli`: a title for what has none; an index has its folder's."""
    folder, _, name = without_suffix(path).rpartition("/")
    if folder and name.lower() in ("index", "readme", "_index"):
        name = folder.rpartition("/")[2]
    return name.replace("-", " ").replace("_", " ")
