"""The first pass over an estate: every page's uid, title, address and kind, and what pages share."""

from collections.abc import Generator, Iterator

from adapters.estates.estate_settings import EstateSettings
from adapters.estates.files import EstateFiles, FileUnreadable, SourceText, without_suffix
from adapters.estates.learn.documents import (
    LEARN_KINDS,
    abstract_skills,
    inherited_from,
    learn_metadata,
    members_of,
)
from adapters.estates.metadata import MONIKER_FIELDS, Metadata, moniker_range_of
from adapters.estates.rules import ReadingRules
from adapters.estates.site.configuration import ContentRoot
from adapters.estates.site.dialect import Dialect
from adapters.estates.site.index import EstateIndex, PageEntry, Parent, Retirement, address_key
from adapters.estates.site.locales import locale_of_path, normal_locale
from adapters.estates.site.markdown_toc import is_markdown_toc
from adapters.estates.site.references import path_uid, title_of_path
from adapters.estates.site.vocabulary import Vocabulary
from adapters.estates.visibility import VisibilityUndecidable
from adapters.estates.yaml_document import YamlInvalid, YamlNode, parse_yaml
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.graph import NodeIdentity, NodeKind
from service.domain.monikers import MonikerInvalid, MonikerRange
from service.domain.visibility import Classes, narrowed, widened

MIME_MARK = "### YamlMime:"
_MOST_MONIKERS = 1_000
"""An estate that names more versions than this is not taken at its word: a page refers to all that it holds for."""
_NO_PAGES = frozenset({"Achievements", "ZonePivotGroups", "TableOfContent", "TOC", "XRefMap", "Context"})


class EstateIndexer:
    """Fills an index. Each file is read once here and forgotten, so memory holds entries, not texts."""

    def __init__(
        self,
        files: EstateFiles,
        roots: tuple[ContentRoot, ...],
        rules: ReadingRules,
        docset: str,
        dialect: Dialect,
        settings: EstateSettings,
    ) -> None:
        self._dialect = dialect
        self._files = files
        self._roots = roots
        self._rules = rules
        self._docset = docset
        self._identities: dict[NodeIdentity, str] = {}
        self._vocabulary = Vocabulary(settings.names)
        self._members: list[tuple[PageEntry, list[YamlNode]]] = []
        self._withheld: list[tuple[str, list[YamlNode]]] = []
        assumed_base = next((root.base or "" for root in roots if root.is_base_assumed), "")
        self.index = EstateIndex(settings.visibility, assumed_base)
        self.former: list[Retirement] = []
        """The addresses that pages say they once had; which of them are free, only the whole index tells."""

    def run(self) -> Iterator[Diagnostic]:
        for path in self._files.paths:
            lowered = path.lower()
            try:
                if lowered.endswith((".md", ".markdown")):
                    yield from self._markdown(path)
                elif lowered.endswith((".yml", ".yaml")):
                    yield from self._yaml(path)
            except FileUnreadable as error:
                if self._place(path) is not None:
                    yield error.diagnostic(path)
        yield from self._link_members()
        yield from self._narrow_units()
        yield from self._vocabulary.findings()

    def _markdown(self, path: str) -> Iterator[Diagnostic]:
        place = self._place(path)
        source = self._files.read(path)
        if is_markdown_toc(source):
            return
        headed = self._dialect.head(source)
        self._zones(headed.body)
        if place is None:
            return
        metadata = headed.metadata.over(self._defaults(path, place))
        self._monikers(metadata)
        title = headed.metadata.text("title") or first_heading(headed.body) or title_of_path(path)
        known = yield from self._add(
            path, place, NodeKind.PAGE, headed.metadata.text("uid"), title, metadata, None, headed.is_whole
        )
        if known:
            self._vocabulary.add(headed.metadata)
            self._redirected(self.index.pages[path], headed.metadata)

    def _redirected(self, page: PageEntry, metadata: Metadata) -> None:
        """`redirect_from` names the addresses that the page once had."""
        page.children = [(child, line) for _, child, _, line in metadata.each("children")]
        for _, written, file, line in metadata.each("redirect_from"):
            address = "/" + written.lstrip("/")
            if address_key(address) != address_key(page.address):
                path = without_suffix(address.strip("/")) + ".md"
                uid = path_uid(self._docset, path)
                self.former.append(Retirement(path, uid, address, page.address, file, line, "redirect_from"))

    def _yaml(self, path: str) -> Iterator[Diagnostic]:
        place = self._place(path)
        source = self._files.read(path)
        mime = mime_of(source)
        if mime is None or (place is None and mime not in _NO_PAGES):
            return
        try:
            document = parse_yaml(source.text)
        except YamlInvalid as error:
            yield yaml_diagnostic(path, error)
            return
        if document is None or document.entries is None:
            return
        if mime == "Achievements":
            self._achievements(document)
        elif mime == "ZonePivotGroups":
            self._pivots(document)
        elif mime not in _NO_PAGES and place is not None:
            yield from self._document(path, place, mime, document)

    def _document(self, path: str, place: int, mime: str, document: YamlNode) -> Iterator[Diagnostic]:
        kind = LEARN_KINDS.get(mime, NodeKind.PAGE)
        own = learn_metadata(document, path)
        metadata = own.over(self._defaults(path, place))
        self._monikers(metadata)
        title = document.text("title") or own.text("title") or title_of_path(path)
        uid = document.text("uid")
        if uid is None and kind is not NodeKind.PAGE:
            yield Diagnostic(
                path,
                1,
                "uid_missing",
                f"This {mime} has no uid; it gets one from its path.",
                Severity.WARNING,
                fix="Give it a uid, so that others can refer to it.",
            )
        known = yield from self._add(path, place, kind, uid, title, metadata, mime)
        entry = self.index.pages.get(path)
        members = members_of(document, kind)
        if not known or entry is None:
            self._withheld.append((self._locale(path, metadata), members))
            return
        self._vocabulary.add(own)
        self._members.append((entry, members))
        if kind is NodeKind.MODULE:
            self.index.inherited[entry.uid] = inherited_from(own)
            for skill in abstract_skills(document):
                self.index.skills[skill] = widened(self.index.skills.get(skill, ()), entry.visible_to)

    def _add(
        self,
        path: str,
        place: int,
        kind: NodeKind,
        uid: str | None,
        title: str,
        metadata: Metadata,
        mime: str | None,
        is_whole: bool = True,
    ) -> Generator[Diagnostic, None, bool]:
        """Whether the file is a page now. `is_whole`: `metadata` is all that its author wrote."""
        root = self._roots[place]
        match = root.section_of(path)
        locale = self._locale(path, metadata)
        identity = NodeIdentity(uid or path_uid(self._docset, path), locale)
        first = self._identities.setdefault(identity, path)
        if match is None:
            return False
        if first != path:
            yield Diagnostic(
                path,
                1,
                "duplicate_identity",
                f"The uid '{identity.uid}' ({locale}) is {first}'s already; this file was left out.",
                Severity.ERROR,
                fix="Give one of the two another uid, or delete it.",
            )
            return False
        try:
            if self.index.visibility.reads_metadata and not is_whole:
                raise VisibilityUndecidable("the front matter")
            visible_to = self.index.visibility.of_page(path, metadata)
        except VisibilityUndecidable as error:
            yield _undecidable(path, f"the rules of visibility ask for {error.field}, which can't be read")
            return False
        if not visible_to:
            yield _seen_by_nobody(path)
            return False
        address = root.address_of(*match)
        title = " ".join(title.split())
        moniker_range = moniker_range_of(metadata)
        entry = PageEntry(path, identity.uid, kind, locale, title, address, place, mime, visible_to, moniker_range)
        self.index.add(entry)
        return True

    def _place(self, path: str) -> int | None:
        for place, root in enumerate(self._roots):
            if root.section_of(path) is not None:
                return place
        return None

    def _defaults(self, path: str, place: int) -> Metadata:
        root = self._roots[place]
        match = root.section_of(path)
        return root.defaults_for(path, match[0]) if match is not None else Metadata()

    def _locale(self, path: str, metadata: Metadata) -> str:
        named = metadata.text("ms.contentlocale", "locale", "_lang", "lang")
        return (normal_locale(named) if named else None) or locale_of_path(path) or self._rules.default_locale.lower()

    def _achievements(self, document: YamlNode) -> None:
        for achievement in document.sequence("achievements"):
            uid, title = achievement.text("uid"), achievement.text("title")
            if uid and title:
                self.index.achievements[uid] = title

    def _pivots(self, document: YamlNode) -> None:
        for group in document.sequence("groups"):
            for pivot in group.sequence("pivots"):
                name, title = pivot.text("id"), pivot.text("title")
                if name and title:
                    self.index.pivots.setdefault(name, title)

    def _monikers(self, metadata: Metadata) -> None:
        for expression in metadata.texts(*MONIKER_FIELDS):
            self._named(expression)

    def _zones(self, text: str) -> None:
        """Monikers that only a zone names exist too."""
        position = text.find("moniker range=")
        while position >= 0:
            line_end = text.find("\n", position)
            expression = text[position + 14 : line_end if line_end >= 0 else len(text)].strip()
            self._named(expression.strip(":").strip().strip("\"'"))
            position = text.find("moniker range=", position + 14)

    def _named(self, expression: str) -> None:
        if len(self.index.monikers) >= _MOST_MONIKERS:
            return
        try:
            self.index.monikers.update(MonikerRange.parse(expression).named)
        except MonikerInvalid:
            return

    def _link_members(self) -> Iterator[Diagnostic]:
        """Units learn their module, modules their paths; a member that does not exist is the collection's error."""
        for collection, members in self._members:
            via = "units" if collection.kind is NodeKind.MODULE else "modules"
            for ordinal, member in enumerate(members, start=1):
                uid = (member.value or "").strip()
                entry = self._member(uid, collection.locale)
                if entry is None:
                    nearest = self.index.nearest_uid(uid)
                    yield Diagnostic(
                        collection.path,
                        member.line,
                        "member_missing",
                        f"'{uid}' of {via} is no uid of the estate.",
                        Severity.WARNING,
                        member.column,
                        f"Did you mean {nearest}?" if nearest else "Add it, or take it out of the list.",
                    )
                    continue
                entry.listed = True
                entry.parents.append(
                    Parent(collection.uid, collection.kind, via, collection.path, member.line, ordinal)
                )

    def _narrow_units(self) -> Iterator[Diagnostic]:
        """A unit is no more visible than the modules that hold it, for there its audience is written."""
        owners: dict[str, Classes] = {}
        for collection, members in self._members:
            if collection.kind is NodeKind.MODULE:
                self._own(owners, members, collection.locale, collection.visible_to)
        for locale, members in self._withheld:
            self._own(owners, members, locale, ())
        for entry in [entry for entry in self.index.pages.values() if entry.kind is NodeKind.UNIT]:
            if entry.path in owners:
                entry.visible_to = narrowed(entry.visible_to, owners[entry.path])
                if not entry.visible_to:
                    self.index.remove(entry)
                    yield _seen_by_nobody(entry.path)
            elif self.index.visibility.reads_metadata:
                self.index.remove(entry)
                yield _undecidable(
                    entry.path, "no module that can be read lists this unit, and its module may say more"
                )

    def _own(self, owners: dict[str, Classes], members: list[YamlNode], locale: str, classes: Classes) -> None:
        for member in members:
            entry = self._member((member.value or "").strip(), locale)
            if entry is not None:
                owners[entry.path] = widened(owners.get(entry.path, ()), classes)

    def _member(self, uid: str, locale: str) -> PageEntry | None:
        path = self._identities.get(NodeIdentity(uid, locale))
        return self.index.pages.get(path) if path is not None else self.index.by_uid(uid)


def mime_of(source: SourceText) -> str | None:
    """`### YamlMime:Module` on the first line → `Module`."""
    first = source.text.partition("\n")[0].strip()
    return first[len(MIME_MARK) :].strip() if first.startswith(MIME_MARK) else None


def yaml_diagnostic(path: str, error: YamlInvalid) -> Diagnostic:
    return Diagnostic(
        path,
        error.line,
        "yaml_invalid",
        f"The file was left out: {error.message}.",
        Severity.ERROR,
        error.column,
        "Correct the YAML; indent with spaces, quote values that hold a colon.",
    )


def _undecidable(path: str, reason: str) -> Diagnostic:
    return Diagnostic(
        path,
        1,
        "visibility_undecidable",
        f"Who may see this page can't be told, so it was left out: {reason}.",
        Severity.ERROR,
        fix="Correct the metadata; give a field that a rule compares a text or a list of texts.",
    )


def _seen_by_nobody(path: str) -> Diagnostic:
    return Diagnostic(
        path,
        1,
        "visibility_nobody",
        "The rules that hold for this page name no class in common; nobody may see it, so it was left out.",
        Severity.ERROR,
        fix="Let one of the rules name more classes, or hold for fewer pages.",
    )


def first_heading(body: str) -> str | None:
    """The first `# Heading`, or line underlined with `=`, outside fenced code."""
    fence = before = ""
    for line in body.split("\n"):
        bare = line.strip()
        if fence:
            if bare.startswith(fence):
                fence = ""
            continue
        if bare.startswith(("```", "~~~")):
            fence = bare[:3]
        elif line.startswith("# "):
            return bare[2:].rstrip("# ").strip() or None
        elif before and bare and not bare.strip("=") and not line.startswith(("    ", "\t")):
            return before
        before = bare if not bare.startswith((">", "-", "*", "+", "#", "|", "<", ":::")) else ""
    return None
