"""Pages that were read before: a page is what it was if all that it asked the estate still has the same answer.

Reading a page is a pure function of its entry and of what it asks: files, and the index of the estate. Both are asked
through a witness, which writes every question down with its answer, whatever the question is. So no format says what
its pages depend on, and none can forget to.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from adapters.estates.files import EstateFiles, FileUnreadable, SourceText
from adapters.estates.site.index import EstateIndex, PageEntry
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic

Found = tuple[NodeRecord | Diagnostic, ...]


class How(StrEnum):
    """What kind of question it is: an attribute, a key of a mapping, a call, or a file that can't be read."""

    VALUE = "value"
    KEY = "key"
    CALL = "call"
    FAILURE = "failure"


class Question(NamedTuple):
    """`arguments` hash: what does not can't be asked again."""

    of: str
    what: str
    how: How
    arguments: tuple[Any, ...] = ()


FILES, INDEX = "files", "index"
_OF_ITS_ARGUMENTS = frozenset({"join"})
"""What answers by its arguments alone is not worth a note."""


@dataclass(frozen=True, slots=True)
class RememberedPage:
    """What a page held, with all that it asked."""

    entry: PageEntry
    asked: Mapping[Question, object]
    found: Found


@dataclass(frozen=True, slots=True)
class _Site:
    """The pages of one folder, and what all of them depend on."""

    frame: object
    pages: Mapping[str, RememberedPage]


class PageMemory:
    """What was read of each folder last. `most`: pages that are remembered; a folder beyond it is not."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._sites: dict[Path, _Site] = {}

    def recall(self, folder: Path, frame: object) -> Mapping[str, RememberedPage]:
        """By path. `frame`: what every page depends on; where it differs from last time, nothing is remembered."""
        site = self._sites.get(folder)
        return site.pages if site is not None and site.frame == frame else {}

    def replace(self, folder: Path, frame: object, pages: Mapping[str, RememberedPage]) -> None:
        self._sites.pop(folder, None)
        if sum(len(site.pages) for site in self._sites.values()) + len(pages) <= self._most:
            self._sites[folder] = _Site(frame, pages)


class RememberedPages:
    """One reading of a folder, in which pages that are what they were are not read again.

    `files` and `index` answer as EstateFiles and EstateIndex do, and whoever reads a page asks them alone.
    """

    def __init__(self, memory: PageMemory, files: EstateFiles, index: EstateIndex, frame: object) -> None:
        self._memory = memory
        self._folder = files.root
        self._frame = frame
        self._before = memory.recall(files.root, frame)
        self._now: dict[str, RememberedPage] = {}
        self._notes: dict[Question, object] | None = None
        self._targets: Mapping[str, Any] = {FILES: files, INDEX: index}
        self.files: Any = _FilesWitness(FILES, files, self._note)
        self.index: Any = _Witness(INDEX, index, self._note)

    def read(self, entry: PageEntry, read: Callable[[], Iterable[NodeRecord | Diagnostic]]) -> Found:
        """What the page holds, from memory or by `read`."""
        page = self._before.get(entry.path)
        if page is not None and page.entry == entry and self._holds(page):
            self._now[entry.path] = page
            return page.found
        self._notes = {}
        found = tuple(read())
        if self._notes is not None:
            self._now[entry.path] = RememberedPage(entry, self._notes, found)
        return found

    def keep(self) -> None:
        """Remember this reading in place of the one before."""
        self._memory.replace(self._folder, self._frame, self._now)

    def _holds(self, page: RememberedPage) -> bool:
        try:
            return all(_ask(self._targets[question.of], question) == known for question, known in page.asked.items())
        except FileUnreadable:
            return False

    def _note(self, question: Question, answer: object) -> None:
        try:
            if self._notes is not None:
                self._notes[question] = answer
        except TypeError:  # an argument does not hash: this page will have to be read again
            self._notes = None


Note = Callable[[Question, object], None]


class _Witness:
    """Passes every question on, and notes it with its answer."""

    def __init__(self, name: str, target: Any, note: Note) -> None:
        self._name = name
        self._target = target
        self._note = note

    def __getattr__(self, what: str) -> Any:
        value = getattr(self._target, what)
        if isinstance(value, Mapping):
            return _MappingWitness(self._name, what, value, self._note)
        if not callable(value):
            self._note(Question(self._name, what, How.VALUE), value)
            return value
        return value if what in _OF_ITS_ARGUMENTS else partial(self._call, what, value)

    def _call(self, what: str, method: Callable[..., Any], *arguments: Any) -> Any:
        answer = method(*arguments)
        self._note(Question(self._name, what, How.CALL, arguments), answer)
        return answer


class _MappingWitness(Mapping[Any, Any]):
    """Notes the keys that are looked up; whoever walks through all of it, or counts it, depends on all of it."""

    def __init__(self, name: str, what: str, mapping: Mapping[Any, Any], note: Note) -> None:
        self._name = name
        self._what = what
        self._mapping = mapping
        self._note = note

    def __getitem__(self, key: Any) -> Any:
        value = self._mapping.get(key)
        self._note(Question(self._name, self._what, How.KEY, (key,)), value)
        return self._mapping[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def _whole(self) -> Mapping[Any, Any]:
        self._note(Question(self._name, self._what, How.VALUE), self._mapping)
        return self._mapping


class _FilesWitness(_Witness):
    """Of a text that was read the digest is noted, not the text."""

    def read(self, path: str, limit: int | None = None) -> SourceText:
        try:
            source: SourceText = self._target.read(path, limit)
        except FileUnreadable as error:
            self._note(Question(self._name, "read", How.FAILURE, (path, limit)), _told(error))
            raise
        self._note(Question(self._name, "digest", How.CALL, (path,)), self._target.digest(path))
        return source


def _ask(target: Any, question: Question) -> object:
    """Raises FileUnreadable for the digest of a file that can't be read any more."""
    if question.how is How.VALUE:
        return getattr(target, question.what)
    if question.how is How.KEY:
        return getattr(target, question.what).get(*question.arguments)
    if question.how is How.CALL:
        return getattr(target, question.what)(*question.arguments)
    try:
        target.read(*question.arguments)
    except FileUnreadable as error:
        return _told(error)
    return None


def _told(error: FileUnreadable) -> tuple[str, ...]:
    return error.code, error.message, error.fix, error.severity
