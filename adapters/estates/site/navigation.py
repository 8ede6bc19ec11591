"""Tables of contents (toc.yml, toc.md) → what each page is part of."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from adapters.estates.files import EstateFiles, FileUnreadable, without_suffix
from adapters.estates.site.configuration import ContentRoot
from adapters.estates.site.index import EstateIndex, PageEntry, Parent
from adapters.estates.site.indexing import yaml_diagnostic
from adapters.estates.site.links import spellings
from adapters.estates.site.markdown_toc import MARKDOWN_TOC, read_markdown_toc
from adapters.estates.site.references import uid_space
from adapters.estates.yaml_document import YamlInvalid, YamlNode, parse_yaml
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.graph import EdgeType, Node, NodeIdentity, NodeKind, Reference
from service.domain.visibility import Classes, widened

TOC_NAMES = ("toc.yml", "toc.yaml", "toc.json", MARKDOWN_TOC)
_PAGE_SUFFIXES = ("", ".md", ".markdown", ".yml", ".yaml")
_REFERRED_DEPTH = 100


@dataclass(frozen=True, slots=True)
class _Place:
    """An item to read: the file it stands in, what it is under, and the tocs that led here.

    `groups` are the names of the topics above it, `topics` their uids.
    """

    node: YamlNode
    file: str
    above: Parent | None
    groups: tuple[str, ...]
    topics: tuple[str, ...]
    trail: tuple[str, ...]
    ordinal: int


class Navigation:
    """Reads the tocs of one content root; pages learn their parents, groups without a page become topics."""

    def __init__(self, files: EstateFiles, index: EstateIndex, root: ContentRoot, docset: str, locale: str) -> None:
        self._files = files
        self._index = index
        self._root = root
        self._docset = docset
        self._locale = locale
        self._topics: dict[str, NodeRecord] = {}
        self._readers: dict[str, Classes] = {}
        self._referred: set[str] = set()
        self._visited: set[tuple[str, str]] = set()
        self._findings: list[Diagnostic] = []
        self.found = False

    def read(self) -> Iterator[NodeRecord | Diagnostic]:
        """Topic records and findings, once every page knows its place."""
        tocs = {path: node for path in self._tocs() if (node := self._parse(path)) is not None}
        self.found = bool(tocs)
        self._referred = {target for path, node in tocs.items() for target in self._references(path, node)}
        starts = [path for path in tocs if path not in self._referred] or sorted(tocs)[:1]
        for path in starts:
            self._walk(path, tocs)
        yield from self._findings
        for uid, record in self._topics.items():
            # A group shows to whoever sees a page in it: those pages carry its name.
            readers = self._readers.get(uid) or self._index.visibility.of_path(record.node.path or "")
            if readers:
                yield replace(record, node=replace(record.node, visible_to=readers))

    def _tocs(self) -> list[str]:
        """Every toc of the root but its breadcrumbs, which say where the site stands among others."""
        breadcrumbs = without_suffix(self._root.defaults.text("breadcrumb_path") or "").lower().split("/")[-2:]
        return [
            path
            for path in self._files.paths
            if path.rpartition("/")[2].lower() in TOC_NAMES
            and self._root.inside(path) is not None
            and not (len(breadcrumbs) == 2 and without_suffix(path).lower().split("/")[-2:] == breadcrumbs)
            and path.lower().split("/")[-2:-1] not in (["breadcrumb"], ["breadcrumbs"], ["bread"])
        ]

    def _parse(self, path: str) -> YamlNode | None:
        try:
            source = self._files.read(path)
            is_markdown = path.lower().endswith(MARKDOWN_TOC)
            return read_markdown_toc(source) if is_markdown else parse_yaml(source.text)
        except FileUnreadable as error:
            self._findings.append(error.diagnostic(path))
        except YamlInvalid as error:
            self._findings.append(yaml_diagnostic(path, error))
        return None

    def _references(self, path: str, toc: YamlNode) -> Iterator[str]:
        for node in toc.walk():
            for name in ("href", "tocHref"):
                target = self._toc_of(node.text(name), path) if node.entries is not None else None
                if target is not None:
                    yield target

    def _toc_of(self, href: str | None, path: str) -> str | None:
        """The toc file that an item refers to: `other/toc.yml`, or a folder that holds one."""
        if href is None or "://" in href or href.startswith("/"):
            return None
        target = self._path(href, path)
        if target is None:
            return None
        if target.rpartition("/")[2].lower() in TOC_NAMES:
            return self._files.find(target)
        if href.partition("?")[0].endswith("/"):
            named = (self._files.find(f"{target}/{name}".lstrip("/")) for name in TOC_NAMES)
            return next((found for found in named if found is not None), None)
        return None

    def _path(self, href: str, base: str) -> str | None:
        href = href.partition("?")[0].partition("#")[0]
        if href.startswith("~/"):
            folder = self._root.folder
            return self._files.join(f"{folder}/x" if folder else "x", href[2:])
        return self._files.join(base, href)

    # The walk

    def _walk(self, start: str, tocs: dict[str, YamlNode]) -> None:
        pending = list(reversed(self._places(tocs[start], start, None, (), (), (start,))))
        while pending:
            place = pending.pop()
            pending.extend(reversed(list(self._item(place, tocs))))

    def _places(
        self,
        toc: YamlNode,
        file: str,
        above: Parent | None,
        groups: tuple[str, ...],
        topics: tuple[str, ...],
        trail: tuple[str, ...],
    ) -> list[_Place]:
        items = toc.items if toc.items is not None else toc.sequence("items")
        return [
            _Place(item, file, above, groups, topics, trail, ordinal) for ordinal, item in enumerate(items, start=1)
        ]

    def _item(self, place: _Place, tocs: dict[str, YamlNode]) -> Iterator[_Place]:
        item = place.node
        if item.entries is None:
            return
        page = self._page(place)
        referred = [
            target
            for name in ("href", "tocHref")
            if (target := self._toc_of(item.text(name), place.file)) is not None and target in tocs
        ]
        children = item.sequence("items")
        above, groups, topics = place.above, place.groups, place.topics
        if page is not None:
            self._belongs(page, place)
            above = Parent(page.uid, page.kind, "toc", place.file, item.line, place.ordinal)
        elif children or referred:
            name = item.text("name") or item.text("displayName")
            if name is not None:
                above = self._topic(name, place)
                groups, topics = (*groups, name), (*topics, above.uid)
        for ordinal, child in enumerate(children, start=1):
            yield _Place(child, place.file, above, groups, topics, place.trail, ordinal)
        for target in referred:
            if target in place.trail or len(place.trail) >= _REFERRED_DEPTH:
                self._report(place, "toc_cycle", f"{target} refers to itself.", "Take one of the references out.")
                continue
            visit = (target, above.uid if above is not None else "")
            if visit in self._visited:
                continue
            self._visited.add(visit)
            yield from self._places(tocs[target], target, above, groups, topics, (*place.trail, target))

    def _page(self, place: _Place) -> PageEntry | None:
        """The page of an item: by uid, by topicHref, by href."""
        for name in ("topicUid", "uid"):
            uid = place.node.text(name)
            if uid is not None and (entry := self._index.by_uid(uid)) is not None:
                return entry
        for name in ("topicHref", "href", "homepage"):
            href = place.node.text(name)
            if href is None or self._toc_of(href, place.file) is not None:
                continue
            return self._page_at(href, place)
        return None

    def _page_at(self, href: str, place: _Place) -> PageEntry | None:
        if "://" in href or href.startswith("//"):
            return None
        if href.startswith("/"):
            return self._index.by_address(href)
        target = self._path(href, place.file)
        if target is None:
            self._report(
                place,
                "path_outside_estate",
                f"'{href}' leads out of the estate.",
                "Keep the toc's pages inside.",
            )
            return None
        for name in spellings(target):
            found = self._files.find(name)
            if found is not None and found in self._index.pages:
                return self._index.pages[found]
        if PurePosixPath(target).suffix.lower() in _PAGE_SUFFIXES and self._files.find(target) is None:
            nearest = self._files.nearest(target)
            fix = f"Did you mean {nearest}?" if nearest else "Correct the entry, or take it out."
            self._report(place, "toc_target_missing", f"The toc lists '{href}', which is not in the estate.", fix)
        return None

    def _belongs(self, page: PageEntry, place: _Place) -> None:
        page.listed = True
        page.topics.extend(group for group in place.groups if group not in page.topics)
        for uid in place.topics:
            self._readers[uid] = widened(self._readers.get(uid, ()), page.visible_to)
        above = place.above
        if above is None or above.uid == page.uid or any(parent.uid == above.uid for parent in page.parents):
            return
        parent = Parent(above.uid, above.kind, "toc", place.file, place.node.line, place.ordinal)
        page.parents.append(parent)

    def _topic(self, name: str, place: _Place) -> Parent:
        """A group that has no page of its own is a topic: its uid is the way that leads to it."""
        above = place.above
        stem = above.uid.removeprefix("topic:") if above is not None else f"{uid_space(self._docset)}/{place.trail[0]}"
        uid = f"topic:{stem}/{name}"
        if uid not in self._topics:
            self._topics[uid] = NodeRecord(
                Node(
                    NodeIdentity(uid, self._locale),
                    NodeKind.TOPIC,
                    name,
                    path=place.file,
                    docset=self._docset,
                    topics=place.groups,
                ),
                references=() if above is None else (self._part_of(above, place),),
            )
        return Parent(uid, NodeKind.TOPIC, "toc", place.file, place.node.line, place.ordinal)

    def _part_of(self, above: Parent, place: _Place) -> Reference:
        return Reference(
            EdgeType.PART_OF,
            above.uid,
            "toc",
            place.file,
            place.node.line,
            target_locale=self._locale if above.kind is NodeKind.TOPIC else None,
            target_kind=above.kind,
            ordinal=place.ordinal,
        )

    def _report(self, place: _Place, code: str, message: str, fix: str) -> None:
        self._findings.append(
            Diagnostic(place.file, place.node.line, code, message, Severity.WARNING, place.node.column, fix)
        )
