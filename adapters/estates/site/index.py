"""What an estate holds, before any page is read in full: who has which uid, path and address."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from adapters.estates.nearest import Nearest
from adapters.estates.site.locales import locale_of_path
from adapters.estates.visibility import Visibility
from service.domain.graph import EVERYONE, NodeKind
from service.domain.monikers import Moniker
from service.domain.visibility import Classes, covers

_FOLDERS = 2_000


@dataclass(frozen=True, slots=True)
class Parent:
    """What a page or module belongs to, and where that is written."""

    uid: str
    kind: NodeKind
    via: str
    file: str
    line: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a page takes over from the module it belongs to, as properties only: the module's edges are its own."""

    products: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    level: str | None = None


@dataclass(slots=True)
class PageEntry:
    """One page to be. `address` is its path on the site, `root` the index of its content root.

    `moniker_range` is the versions that it is for, as it or its site says; `children` are the pages its front matter
    lists as its own, with their lines."""

    path: str
    uid: str
    kind: NodeKind
    locale: str
    title: str
    address: str
    root: int
    mime: str | None = None
    visible_to: Classes = (EVERYONE,)
    moniker_range: str | None = None
    parents: list[Parent] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    listed: bool = False
    children: list[tuple[str, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Retirement:
    """A redirected path: it is no page any more, its successor is at `target` (an address or a URL)."""

    path: str
    uid: str
    address: str
    target: str
    file: str
    line: int
    via: str = "redirection"

    @property
    def locale(self) -> str | None:
        """That of its folder, None where its path names none."""
        return locale_of_path(self.path)


@dataclass(frozen=True, slots=True)
class OutsideReference:
    """An entry of an imported xref map: a uid that is documented elsewhere."""

    uid: str
    name: str
    href: str


class EstateIndex:
    """Look-ups over the estate; uids are exact, paths and addresses fold case as web servers and Windows do."""

    def __init__(self, visibility: Visibility, assumed_base: str = "") -> None:
        """`assumed_base`: what stands before addresses of which nothing tells where the site begins; whoever names one
        may leave it out."""
        self.visibility = visibility
        self._assumed_base = address_key(assumed_base) if assumed_base.strip("/") else ""
        self.pages: dict[str, PageEntry] = {}
        self.retired: dict[str, Retirement] = {}
        self.ends: dict[str, str] = {}
        """Of each retired uid the address at which its redirections end, once all are known; none where they don't."""
        self.outside: dict[str, OutsideReference] = {}
        self.monikers: set[Moniker] = set()
        self.pivots: dict[str, str] = {}
        self.achievements: dict[str, str] = {}
        self.skills: dict[str, Classes] = {}
        """What modules teach, and who may see that one does."""
        self.inherited: dict[str, Inherited] = {}
        self._by_uid: dict[str, PageEntry] = {}
        self._by_address: dict[str, PageEntry] = {}
        self._by_course: dict[str, PageEntry] = {}
        self._retired_addresses: dict[str, Retirement] = {}
        self._retired_names: set[tuple[str, str | None]] = set()
        self._folders: dict[str, list[str]] = {}
        self._nearest = Nearest()
        self._near_folders = Nearest(_FOLDERS)

    def add(self, entry: PageEntry) -> None:
        self.pages[entry.path] = entry
        self._by_uid.setdefault(entry.uid, entry)
        self._by_address.setdefault(address_key(entry.address), entry)
        self._by_course.setdefault(_course_key(entry), entry)
        self._folders.setdefault(_uid_folder(entry.uid), []).append(entry.uid)

    def retire(self, retirement: Retirement) -> None:
        self.retired[retirement.path.lower()] = retirement
        self._retired_addresses.setdefault(address_key(retirement.address), retirement)
        self._retired_names.add((retirement.uid, retirement.locale))

    def by_uid(self, uid: str) -> PageEntry | None:
        return self._by_uid.get(uid)

    def by_address(self, address: str) -> PageEntry | None:
        """The page at an address; a module or path also by its folder, wherever the site serves it."""
        key = address_key(address)
        entry = next((self._by_address[name] for name in self._names(key) if name in self._by_address), None)
        if entry is None and ("/modules/" in key or "/paths/" in key):
            at = max(key.rfind("/modules/"), key.rfind("/paths/"))
            entry = self._by_course.get(key[at + 1 :])
        return entry

    def is_retired(self, uid: str, locale: str | None) -> bool:
        return (uid, locale) in self._retired_names

    def retired_address(self, address: str) -> Retirement | None:
        known = self._retired_addresses
        return next((known[name] for name in self._names(address_key(address)) if name in known), None)

    @property
    def is_base_assumed(self) -> bool:
        return bool(self._assumed_base)

    def _names(self, key: str) -> Iterator[str]:
        """An address as it is given, and with or without the base that was assumed."""
        yield key
        base = self._assumed_base
        if base:
            yield address_key(base + key)
            if key.startswith(base + "/"):
                yield key[len(base) :]

    @property
    def main_locale(self) -> str | None:
        """The locale of most pages; what belongs to the estate but to no page is in it."""
        counts = Counter(entry.locale for entry in self.pages.values())
        return max(sorted(counts), key=lambda locale: counts[locale]) if counts else None

    def remove(self, entry: PageEntry) -> None:
        """Forget a page that is not published after all; links to it lead nowhere."""
        del self.pages[entry.path]
        for known, key in (
            (self._by_uid, entry.uid),
            (self._by_address, address_key(entry.address)),
            (self._by_course, _course_key(entry)),
        ):
            if known.get(key) is entry:
                del known[key]
        self._folders[_uid_folder(entry.uid)].remove(entry.uid)

    def title_of(self, reference: str, readers: Classes) -> str | None:
        """The title behind a uid or an address, if all who are to read it may see the page that has it."""
        entry = self._by_uid.get(reference)
        if entry is None and reference.startswith("/") and reference not in self.outside:
            entry = self.by_address(reference)
        if entry is not None:
            return entry.title if covers(entry.visible_to, readers) else None
        outside = self.outside.get(reference)
        return outside.name if outside is not None else None

    def nearest_uid(self, uid: str) -> str | None:
        """The uid that a mistyped one most likely means, or None when it looks like nothing of this estate."""
        folder = self._near_folder(_uid_folder(uid))
        if folder is None:
            return None
        return self._nearest.among(uid, self._folders[folder], likeness=0.8)

    def in_uid_space(self, uid: str) -> bool:
        """Whether the uid shares its folder or namespace with a page of this estate."""
        folder = _uid_folder(uid)
        return bool(folder) and folder in self._folders

    def _near_folder(self, folder: str) -> str | None:
        """The folder itself, else one spelt much like it. Estates name few folders, and ask for them often."""
        if folder in self._folders:
            return folder
        return self._near_folders.among(folder, list(self._folders), likeness=0.9)


def _course_key(entry: PageEntry) -> str:
    """`modules/folder`, `modules/folder/unit`, `paths/folder`: how a learning site addresses its content."""
    *_, folder, name = ("", *entry.path.lower().split("/"))
    collection = "paths" if entry.kind is NodeKind.LEARNING_PATH else "modules"
    if entry.kind is NodeKind.UNIT:
        return f"{collection}/{folder}/{name.rpartition('.')[0]}"
    return f"{collection}/{folder}" if entry.kind in (NodeKind.MODULE, NodeKind.LEARNING_PATH) else ""


def address_key(address: str) -> str:
    """One spelling of an address: `/a/Index.html`, `/a/index` and `/a/` are the same page."""
    address = address.partition("#")[0].partition("?")[0].lower().rstrip("/")
    for suffix in (".md", ".html", ".htm", ".yml", ".json"):
        address = address.removesuffix(suffix)
    return address.removesuffix("/index").rstrip("/") or "/"


def _uid_folder(uid: str) -> str:
    bare = uid.partition("(")[0]
    cut = max(bare.rfind("/"), bare.rfind("."))
    return bare[: cut + 1] if cut > 0 else ""
