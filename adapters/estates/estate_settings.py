"""`cogitave-query.yml` in an estate's root: who may see which pages, and the names that the estate knows.

A mistake in it must not make a page more visible than was meant. So it is read strictly, and an estate whose settings
can't be understood is refused as a whole: what was published of it before stays.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from adapters.estates.declared_names import DeclaredNames, Name
from adapters.estates.files import EstateFiles, FileUnreadable
from adapters.estates.globs import GlobInvalid, check_glob
from adapters.estates.nearest import Nearest
from adapters.estates.visibility import Rule, Visibility
from adapters.estates.yaml_document import YamlInvalid, YamlNode, parse_yaml
from service.domain.diagnostics import Diagnostic, EstateRefused, Severity
from service.domain.graph import EVERYONE
from service.domain.visibility import Classes, classes

SETTINGS_NAMES = ("cogitave-query.yml", "cogitave-query.yaml")
_LARGEST = 262_144
_LONGEST_NAME = 200
_AUDIENCE = ("audience", "ms.audience")


@dataclass(frozen=True, slots=True)
class EstateSettings:
    """What the file says; without a file everyone sees everything, and no names are declared."""

    visibility: Visibility = field(default_factory=Visibility)
    names: DeclaredNames = field(default_factory=DeclaredNames)
    site_hosts: tuple[str, ...] = ()


def read_estate_settings(files: EstateFiles) -> EstateSettings:
    """Raises EstateRefused with every finding."""
    found = [path for path in files.paths if path.rpartition("/")[2].lower() in SETTINGS_NAMES]
    if not found:
        above = next((folder for folder in files.root.parents if _holds_settings(folder)), None)
        if above is None:
            return EstateSettings()
        raise _refused(
            SETTINGS_NAMES[0],
            1,
            1,
            f"This folder is a part of the estate {above}.",
            "Publish that, or give this its own.",
        )
    [path, *others] = sorted(found, key=lambda path: (path.count("/"), path))
    if others or "/" in path:
        astray = others[0] if others else path
        raise _refused(
            astray,
            1,
            1,
            "One file of settings is read, in the estate's root.",
            f"Move it to {SETTINGS_NAMES[0]} there.",
        )
    try:
        document = parse_yaml(files.read(path, min(_LARGEST, files.page_bytes)).text)
    except FileUnreadable as error:
        raise EstateRefused([error.diagnostic(path)]) from None
    except YamlInvalid as error:
        raise _refused(path, error.line, error.column, f"{error.message}.", "Correct the YAML.") from None
    reader = _Reader(path)
    settings = reader.settings(document)
    if reader.findings:
        raise EstateRefused(sorted(reader.findings))
    return settings


def _holds_settings(folder: Path) -> bool:
    """Whether the folder is the root of an estate with settings, by name alone: nothing outside is read."""
    try:
        return any((folder / name).exists() for name in SETTINGS_NAMES)
    except OSError:
        return False


def _refused(path: str, line: int, column: int, message: str, fix: str) -> EstateRefused:
    return EstateRefused([_finding(path, line, column, message, fix)])


def _finding(path: str, line: int, column: int, message: str, fix: str) -> Diagnostic:
    return Diagnostic(
        path,
        line,
        "estate_settings_invalid",
        f"{message} Nothing of the estate was published.",
        Severity.ERROR,
        column,
        fix,
    )


class _Reader:
    """One pass over the document. What is wrong is noted and the pass goes on, so that one run names it all."""

    def __init__(self, path: str) -> None:
        self.findings: list[Diagnostic] = []
        self._path = path

    def settings(self, document: YamlNode | None) -> EstateSettings:
        if document is None:
            return EstateSettings()
        known = self._fields(document, "visibility", "products", "roles", "siteHosts")
        return EstateSettings(
            visibility=self._visibility(known["visibility"]) if "visibility" in known else Visibility(),
            names=DeclaredNames(
                self._names(known["products"]) if "products" in known else None,
                self._names(known["roles"]) if "roles" in known else None,
            ),
            site_hosts=tuple(text.lower() for text, _ in self._texts(known.get("siteHosts"))),
        )

    def _visibility(self, node: YamlNode) -> Visibility:
        known = self._fields(node, "default", "rules")
        default = self._classes(known["default"]) if "default" in known else (EVERYONE,)
        rules = [self._rule(item) for item in self._items(known.get("rules"))]
        if node.entries == {}:
            self._wrong(node, "'visibility' says nothing.", "Give it a default or rules, or take it out.")
        return Visibility(default, tuple(rules), self._path)

    def _rule(self, node: YamlNode) -> Rule:
        known = self._fields(node, "files", "audience", "metadata", "visibleTo")
        conditions: list[tuple[tuple[str, ...], frozenset[str]]] = []
        if "audience" in known:
            conditions.append((_AUDIENCE, self._values(known["audience"])))
        if "metadata" in known:
            if not known["metadata"].entries:
                self._wrong(known["metadata"], "'metadata' takes names and values.", "Write `name: value` below it.")
            for name, value in (known["metadata"].entries or {}).items():
                conditions.append(((name.lower(),), self._values(value)))
        if "visibleTo" not in known:
            self._wrong(node, "A rule without 'visibleTo' decides nothing.", "Name the classes that may see the pages.")
        if not known.keys() & {"files", "audience", "metadata"}:
            self._wrong(node, "The rule names no pages.", "Give it files, audience or metadata; `default` is for all.")
        return Rule(
            files=tuple(text for text, _ in self._texts(known.get("files"), self._check_glob)),
            conditions=tuple(conditions),
            visible_to=self._classes(known["visibleTo"]) if "visibleTo" in known else (),
        )

    def _classes(self, node: YamlNode) -> Classes:
        return classes(text for text, _ in self._texts(node, self._check_class))

    def _values(self, node: YamlNode) -> frozenset[str]:
        return frozenset(text.casefold() for text, _ in self._texts(node))

    def _names(self, node: YamlNode) -> tuple[Name, ...]:
        """Names as plain text, or as `name`, `title` and `aliases`."""
        names: list[Name] = []
        taken: set[str] = set()
        for item in self._items(node):
            if item.entries is None:
                names += [Name(text) for text, _ in self._texts(item)]
            else:
                known = self._fields(item, "name", "title", "aliases")
                own = [text for text, _ in self._texts(known.get("name"))]
                title = [text for text, _ in self._texts(known.get("title"))]
                if len(own) != 1 or len(title) > 1:
                    self._wrong(item, "A name is one text, and so is its title.", "Write `- name: text` with a title.")
                    continue
                aliases = tuple(text for text, _ in self._texts(known.get("aliases")))
                names.append(Name(own[0], title[0] if title else None, aliases))
            if names and (twice := taken & names[-1].spellings):
                self._wrong(item, f"'{min(twice)}' is declared twice.", "Let every name and alias stand once.")
            taken |= names[-1].spellings if names else set()
        return tuple(names)

    # What every part is made of

    def _fields(self, node: YamlNode, *allowed: str) -> dict[str, YamlNode]:
        if node.entries is None:
            self._wrong(node, f"Here names are expected: {', '.join(allowed)}.", "Write a name, a colon, a value.")
            return {}
        for name, line in node.duplicates:
            self.findings.append(_finding(self._path, line, 1, f"'{name}' stands twice.", "Keep one of them."))
        for name, value in node.entries.items():
            if name not in allowed:
                nearest = Nearest().among(name, allowed, likeness=0.5)
                fix = f"Did you mean {nearest}?" if nearest else f"Known here: {', '.join(allowed)}."
                self._wrong(value, f"There is no setting '{name}'.", fix)
        return {name: value for name, value in node.entries.items() if name in allowed}

    def _items(self, node: YamlNode | None) -> list[YamlNode]:
        if node is None:
            return []
        if not node.items:
            self._wrong(node, "A list is expected here, with something in it.", "Begin each entry with `- `.")
        return node.items or []

    def _texts(
        self, node: YamlNode | None, check: Callable[[YamlNode, str], None] | None = None
    ) -> Iterator[tuple[str, YamlNode]]:
        """A text alone or a list of them; anything else, and an empty one, is noted."""
        if node is None:
            return
        if node.entries is not None or node.items == []:
            self._wrong(node, "A text or a list of texts is expected here.", "Write one, or begin each with `- `.")
            return
        for item in node.items if node.items is not None else [node]:
            text = (item.value or "").strip()
            if not text or len(text) > _LONGEST_NAME or not text.isprintable():
                self._wrong(item, f"A text of 1 to {_LONGEST_NAME} characters is expected here.", "Write one.")
                continue
            if check is not None:
                check(item, text)
            yield text, item

    def _check_glob(self, node: YamlNode, pattern: str) -> None:
        try:
            check_glob(pattern)
        except GlobInvalid as error:
            self._wrong(node, f"The pattern '{pattern}' can't be used: {error}.", "Write it like `folder/**/*.md`.")

    def _check_class(self, node: YamlNode, name: str) -> None:
        if "," in name:
            self._wrong(node, f"'{name}' is one class, for it is one text.", "Write several classes as a list.")

    def _wrong(self, node: YamlNode, message: str, fix: str) -> None:
        self.findings.append(_finding(self._path, node.line, node.column, message, fix))
