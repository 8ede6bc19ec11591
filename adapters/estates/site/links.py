"""Links → references: by uid, by path in the estate, by address on the site; a link to nothing is a diagnostic."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from adapters.estates.files import EstateFiles
from adapters.estates.markdown.document import Link, LinkForm, LinkRole
from adapters.estates.rules import ReadingRules
from adapters.estates.site.configuration import ContentRoot
from adapters.estates.site.index import EstateIndex, PageEntry, Retirement
from adapters.estates.site.locales import is_locale
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.graph import EdgeType, NodeKind, Reference

_PAGE_SUFFIXES = ("", ".md", ".markdown", ".yml", ".yaml", ".html", ".htm")
_CODE_HOSTS = ("github.com", "gist.github.com", "gitlab.com", "bitbucket.org", "dev.azure.com")


@dataclass(frozen=True, slots=True)
class LinkResolver:
    """Resolves the links of one estate. It knows every page, so what it can't find is not there."""

    files: EstateFiles
    index: EstateIndex
    roots: tuple[ContentRoot, ...]
    rules: ReadingRules

    def resolve(self, link: Link, page: PageEntry) -> Iterator[Reference | Diagnostic]:
        """The edge a link states, if it states one; links to other sites and to media state none."""
        href = link.href.strip()
        if link.form is not LinkForm.LINK:
            yield from self._uid(link, href)
            return
        if not href or href.startswith("#"):
            return
        try:
            parts = urlsplit(href)
        except ValueError:
            yield self._broken(link, "link_invalid", f"'{href}' is no address.", None)
            return
        if is_sample(href):
            yield self._reference(
                link, EdgeType.IMPLEMENTED_BY, href.partition("#")[0], "sample-link", NodeKind.CODE_SAMPLE
            )
        elif parts.scheme in ("http", "https"):
            if (parts.hostname or "") in self.rules.site_hosts:
                yield from self._site(link, unquote(parts.path) or "/", "docs-link")
        elif (parts.scheme and len(parts.scheme) > 1) or href.startswith("//"):
            return
        elif href.startswith("/"):
            yield from self._site(link, unquote(parts.path), "site-link")
        else:
            yield from self._relative(link, unquote(parts.path), page)

    # By uid

    def _uid(self, link: Link, href: str) -> Iterator[Reference | Diagnostic]:
        via = "@uid" if link.form is LinkForm.AT else "xref"
        target = href.partition("?")[0]
        for candidate in dict.fromkeys((href, target, unquote(target), target.partition("#")[0])):
            entry = self.index.by_uid(candidate)
            if entry is not None:
                yield self._page(link, entry, via)
                return
            outside = self.index.outside.get(candidate)
            if outside is not None:
                yield self._reference(
                    link, EdgeType.XREF, candidate, via, NodeKind.API, outside.name, {"url": outside.href}
                )
                return
        if link.form is LinkForm.AT:
            return
        uid = unquote(target)
        yield self._reference(link, EdgeType.XREF, uid, via, NodeKind.API, link.text or None)
        nearest = self.index.nearest_uid(uid)
        if nearest is not None or self.index.in_uid_space(uid):
            yield self._broken(link, "xref_broken", f"No page of the estate has the uid '{uid}'.", nearest)

    # By path

    def _relative(self, link: Link, path: str, page: PageEntry) -> Iterator[Reference | Diagnostic]:
        root = self.roots[page.root]
        if not path:
            return
        if path.startswith("~/"):
            target = self.files.join(f"{root.folder}/x" if root.folder else "x", path[2:])
        else:
            target = self.files.join(link.file, path)
        if target is None:
            yield self._broken(link, "path_outside_estate", f"The link '{link.href}' leads out of the estate.", None)
            return
        entry = self._page_at(target)
        if entry is not None:
            yield self._page(link, entry, "relative-link")
            return
        retired = next(
            (self.index.retired[name.lower()] for name in spellings(target) if name.lower() in self.index.retired), None
        )
        if retired is not None:
            yield from self._retired(link, retired, "relative-link")
            return
        if PurePosixPath(target).suffix.lower() not in _PAGE_SUFFIXES or self.files.find(target) is not None:
            return
        base = page.address if page.address.endswith("/") else page.address.rpartition("/")[0] + "/"
        by_address = self.files.join(base.lstrip("/") + "x", path)
        entry = self.index.by_address("/" + by_address) if by_address else None
        if entry is not None:
            yield self._page(link, entry, "relative-link")
            return
        retired = self.index.retired_address("/" + by_address) if by_address else None
        if retired is not None:
            yield from self._retired(link, retired, "relative-link")
            return
        yield self._broken(
            link, "link_broken", f"The link '{link.href}' points at no file of the estate.", self._nearest_page(target)
        )

    def _page_at(self, target: str) -> PageEntry | None:
        for name in spellings(target):
            found = self.files.find(name)
            if found is not None and found in self.index.pages:
                return self.index.pages[found]
        return None

    def _nearest_page(self, target: str) -> str | None:
        return self.files.nearest(target)

    # By address

    def _site(self, link: Link, path: str, via: str) -> Iterator[Reference | Diagnostic]:
        address = without_locale(path)
        suffix = PurePosixPath(address).suffix.lower()
        entry = self.index.by_address(address) or self.index.by_address(without_version(address))
        if entry is None and (suffix == ".md" or self.index.is_base_assumed):
            entry = self._page_at(path.strip("/"))  # a path in the repository, as code hosts read it
        if entry is not None:
            yield self._page(link, entry, via)
            return
        retired = self.index.retired_address(address)
        if retired is not None:
            yield from self._retired(link, retired, via)
            return
        if suffix in (".png", ".jpg", ".jpeg", ".gif", ".svg", ".zip", ".pdf", ".ico", ".mp4"):
            return
        uid = address.partition("#")[0].rstrip("/") or "/"
        yield self._reference(link, EdgeType.XREF, uid, via, NodeKind.API, link.text or None, {"url": uid})

    # What they state

    def _page(self, link: Link, entry: PageEntry, via: str) -> Reference:
        if link.role is LinkRole.PREREQUISITE:
            return self._reference(link, EdgeType.DEPENDS_ON, entry.uid, "prerequisites", NodeKind.API)
        if link.role is LinkRole.RELATED and via != "xref":
            via = "related-link"
        return self._reference(link, EdgeType.XREF, entry.uid, via, NodeKind.API)

    def _retired(self, link: Link, retired: Retirement, via: str) -> Iterator[Reference | Diagnostic]:
        yield self._reference(link, EdgeType.XREF, retired.uid, via, NodeKind.RETIRED)
        end = self.index.ends.get(retired.uid)
        yield Diagnostic(
            file=link.file,
            line=link.line,
            code="superseded_target",
            message=f"The link '{link.href}' points at a page that was redirected.",
            severity=Severity.WARNING,
            fix=f"Link to {end}." if end is not None else "Link to a page: the redirections go round in a circle.",
        )

    def _reference(
        self,
        link: Link,
        edge: EdgeType,
        uid: str,
        via: str,
        kind: NodeKind,
        title: str | None = None,
        extra: dict[str, str] | None = None,
    ) -> Reference:
        return Reference(
            type=edge,
            target_uid=uid,
            via=via,
            file=link.file,
            line=link.line,
            target_kind=kind,
            target_title=title or (link.text or None if kind is NodeKind.CODE_SAMPLE else None),
            target_extra=extra or {},
        )

    def _broken(self, link: Link, code: str, message: str, nearest: str | None) -> Diagnostic:
        fix = f"Did you mean {nearest}?" if nearest else "Correct the link, or take it out."
        return Diagnostic(link.file, link.line, code, message, Severity.WARNING, 1, fix)


def spellings(target: str) -> Iterator[str]:
    """The files that a link without its extension may mean."""
    yield target
    suffix = PurePosixPath(target).suffix.lower()
    if suffix in (".html", ".htm"):
        yield target.rpartition(".")[0] + ".md"
    if suffix not in (".md", ".yml"):
        bare = target.rstrip("/")
        for ending in (".md", ".yml", "/index.md", "/index.yml", "/README.md", "/_index.md"):
            yield bare + ending if bare else ending.lstrip("/")


def without_locale(path: str) -> str:
    """`/de-de/x` → `/x`: an address is the same page in every locale."""
    first, slash, rest = path.lstrip("/").partition("/")
    return "/" + rest if slash and is_locale(first) else path


def without_version(address: str) -> str:
    """`/enterprise-server@3.9/x` → `/x`: some sites serve each version of a page below its name."""
    first, slash, rest = address.lstrip("/").partition("/")
    return "/" + rest if slash and "@" in first.strip("@") else address


def is_sample(href: str) -> bool:
    """Whether a link leads to a sample's source: a samples gallery of the site, or a samples folder on a code host."""
    if href.startswith("/"):
        return href.lower().startswith(("/samples/", "/code-samples/"))
    if not href.startswith(("http://", "https://")):
        return False
    try:
        parts = urlsplit(href)
    except ValueError:
        return False
    host = (parts.hostname or "").removeprefix("www.")
    if host not in _CODE_HOSTS:
        return False
    return any("sample" in segment for segment in parts.path.lower().split("/"))
