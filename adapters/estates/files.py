"""An estate's files, and nothing outside its folder: bounded reads, no symbolic link that leads out."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path, PurePosixPath

from adapters.estates.nearest import Nearest
from service.domain.diagnostics import Diagnostic, Severity


class FileUnreadable(Exception):
    """A file that exists, or should, and can't be used; `code` and `fix` are the diagnostic's."""

    def __init__(self, code: str, message: str, fix: str, severity: Severity = Severity.ERROR) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix
        self.severity = severity

    def diagnostic(self, file: str, line: int = 1, column: int = 1) -> Diagnostic:
        return Diagnostic(file, line, self.code, self.message, self.severity, column, self.fix)


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file's text with `\\n` line ends and no byte order mark. `path` is relative to the estate, with slashes."""

    path: str
    text: str


class EstateFiles:
    """Reads below one root. Paths are relative to it, with slashes, as records and diagnostics name them."""

    def __init__(self, root: Path, page_bytes: int) -> None:
        self.root = root.resolve()
        self._root = str(self.root)
        self.page_bytes = page_bytes
        self._paths: tuple[str, ...] | None = None
        self._known: frozenset[str] = frozenset()
        self._plain: set[str] = set()
        self._passed_over: list[Diagnostic] = []
        self._folded: dict[str, str] = {}
        self._digests: dict[str, bytes] = {}
        self._by_name: dict[str, list[str]] = {}
        self._by_folder: dict[str, list[str]] = {}
        self._nearest = Nearest()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file, sorted; hidden folders are left out, links out of the estate are not followed."""
        if self._paths is None:
            self._paths = tuple(sorted(self._walk()))
            self._known = frozenset(self._paths)
            self._folded = {path.lower(): path for path in reversed(self._paths)}
        return self._paths

    @property
    def passed_over(self) -> tuple[Diagnostic, ...]:
        """What is in the folder and is never read: links to folders, names that are no text."""
        _ = self.paths
        return tuple(self._passed_over)

    def find(self, path: str) -> str | None:
        """The file's path as the folder spells it: links on Windows were written without regard to case."""
        if self._paths is None:
            _ = self.paths
        return path if path in self._known else self._folded.get(path.lower())

    def nearest(self, path: str) -> str | None:
        """The file that a mistyped path most likely means: same name elsewhere, else a like name beside it."""
        folder, _, name = path.rpartition("/")
        if not self._by_name:
            for known in self.paths:
                known_folder, _, known_name = known.rpartition("/")
                self._by_name.setdefault(known_name, []).append(known)
                self._by_folder.setdefault(known_folder, []).append(known)
        if name in self._by_name:
            return self._nearest.among(path, self._by_name[name], likeness=0.0)
        return self._nearest.among(path, self._by_folder.get(folder, []), likeness=0.7)

    def read(self, path: str, limit: int | None = None) -> SourceText:
        """Raises FileUnreadable: outside the estate, missing, larger than `limit` (the page bound), not UTF-8."""
        limit = limit or self.page_bytes
        try:
            with open(self._file(path), "rb") as source:
                data = source.read(min(os.fstat(source.fileno()).st_size, limit) + 1)
        except FileNotFoundError:
            raise self.missing(path) from None
        except OSError as error:
            raise FileUnreadable(
                "file_unreadable", f"{path} can't be read: {error.strerror}.", "Make the file readable."
            ) from None
        if len(data) > limit:
            raise FileUnreadable(
                "file_too_large",
                f"{path} is larger than {limit:,} bytes and was left out.",
                "Split the page, or raise page_bytes.",
            )
        self._digests[path] = blake2b(data, digest_size=16).digest()
        return SourceText(path, _decode(path, data))

    def digest(self, path: str) -> bytes:
        """Of the file as it was last read here, which it is now if it never was. Raises as `read` does."""
        if path not in self._digests:
            self.read(path)
        return self._digests[path]

    def missing(self, path: str) -> FileUnreadable:
        nearest = self.nearest(path)
        fix = f"Did you mean {nearest}?" if nearest else "Add the file, or take the reference out."
        return FileUnreadable("file_missing", f"There is no file {path} in the estate.", fix, Severity.WARNING)

    def join(self, base: str, relative: str) -> str | None:
        """A path relative to the file `base`, normalised; None where it climbs out of the estate."""
        return normalise(str(PurePosixPath(base).parent / relative.replace("\\", "/")))

    def _file(self, path: str) -> str | Path:
        """What to open. One that the walk met as a file needs no second look, and most are such."""
        if path in self._plain:
            return f"{self._root}/{path}"
        real = self._inside(path)
        if not real.exists():
            raise self.missing(path)
        if not real.is_file():
            raise FileUnreadable("file_unreadable", f"{path} is not a file.", "Point at a file.")
        return real

    def _inside(self, path: str) -> Path:
        normalised = normalise(path)
        refused = FileUnreadable(
            "path_outside_estate", f"{path} leads out of the estate and was not read.", "Keep the file in the estate."
        )
        if normalised is None or "\0" in path:
            raise refused
        try:
            real = (self.root / normalised).resolve()
        except (OSError, RuntimeError):
            raise refused from None
        if not real.is_relative_to(self.root):
            raise refused
        return real

    def _walk(self) -> Iterator[str]:
        pending = [""]
        while pending:
            prefix = pending.pop()
            for entry in _entries(f"{self._root}/{prefix}"):
                if _is_folder(entry):
                    if not _hidden(entry.name) and self._is_entered(prefix, entry):
                        pending.append(f"{prefix}{entry.name}/")
                elif not is_text(entry.name):
                    self._pass_over(
                        prefix + entry.name, "file_name_unreadable", "has a name that is no UTF-8", "Rename it."
                    )
                else:
                    if entry.is_file(follow_symlinks=False):
                        self._plain.add(prefix + entry.name)
                    yield prefix + entry.name

    def _is_entered(self, prefix: str, entry: "os.DirEntry[str]") -> bool:
        """Whether a folder of the estate is walked: a link could lead out of it, or round in a circle."""
        name = entry.name
        if not is_text(name):
            self._pass_over(prefix + name, "file_name_unreadable", "has a name that is no UTF-8", "Rename it.")
            return False
        if entry.is_symlink():
            self._pass_over(
                prefix + name,
                "folder_link",
                "is a link to a folder, and is not followed",
                "Put the folder itself there.",
            )
            return False
        return True

    def _pass_over(self, path: str, code: str, reason: str, fix: str) -> None:
        readable = path.encode("utf-8", "replace").decode()
        self._passed_over.append(Diagnostic(readable, 1, code, f"{readable} {reason}.", Severity.WARNING, 1, fix))


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    """What lies in a folder, by name; nothing where it can't be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=attrgetter("name"))
    except OSError:
        return []


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    """Also where a link leads to one; a link to itself leads nowhere."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def normalise(path: str) -> str | None:
    """`a/../b/./c` → `b/c`; None where the path climbs above its root or is absolute."""
    parts: list[str] = []
    if path.startswith("/"):
        return None
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if not parts:
                return None
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def without_suffix(path: str) -> str:
    """`a/b.c/page.md` → `a/b.c/page`; a name that is all suffix stays."""
    folder, slash, name = path.rpartition("/")
    stem, dot, _ = name.rpartition(".")
    return folder + slash + (stem if dot and stem else name)


def is_text(name: str) -> bool:
    """Whether a name can be stored: a file system's may be any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _hidden(name: str) -> bool:
    return name.startswith(".") or name in ("node_modules", "__pycache__")


def _decode(path: str, data: bytes) -> str:
    encoding = "utf-8-sig"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileUnreadable(
            "file_not_utf8", f"{path} is not UTF-8: byte {error.start:,}, line {line}.", "Save the file as UTF-8."
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
