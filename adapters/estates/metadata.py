"""A page's metadata: its front matter over the defaults of its site, each value with its file and line."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from adapters.estates.declared_names import DeclaredNames, Name
from adapters.estates.yaml_document import YamlNode
from service.domain.graph import NEUTRAL_LOCALE, EdgeType, NodeKind, Reference

_TYPES = {
    "article": "concept",
    "concept-article": "concept",
    "conceptual": "concept",
    "conceptual-article": "concept",
    "explanation": "concept",
    "how-to-guide": "how-to",
    "howto": "how-to",
    "interactive-tutorial": "tutorial",
    "quick-start": "quickstart",
    "language-reference": "reference",
    "hub": "hub-page",
    "landing": "landing-page",
}
_PRODUCT_FIELDS = ("products", "product", "ms.prod", "ms.service", "ms.subservice", "ms.technology")
MONIKER_FIELDS = ("monikerRange", "moniker_range", "monikers")
_LANGUAGE_FIELDS = ("dev_langs", "ms.devlang")
NameOf = Callable[[str], Name | None]
_DATES = ("%m/%d/%Y", "%m/%d/%y", "%Y/%m/%d", "%d.%m.%Y")


@dataclass(frozen=True, slots=True)
class Datum:
    """One value and where it stands; `name` is its name there, where that is not the one it is asked for by."""

    node: YamlNode
    file: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Metadata:
    """Values by name; a name may be asked for under several spellings, the first that is there holds."""

    values: Mapping[str, Datum] = field(default_factory=dict)

    def over(self, defaults: "Metadata") -> "Metadata":
        return Metadata({**defaults.values, **self.values})

    def datum(self, *names: str) -> Datum | None:
        return next((self.values[name] for name in names if name in self.values), None)

    def text(self, *names: str) -> str | None:
        for name in names:
            datum = self.values.get(name)
            if datum is not None and (text := datum.node.text()):
                return text
        return None

    def texts(self, *names: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for _, text, _, _ in self.each(*names)))

    def each(self, *names: str) -> Iterator[tuple[str, str, str, int]]:
        """(name, value, file, line) of every scalar under the names; `a, b` in one scalar stays one."""
        for name in names:
            datum = self.values.get(name)
            if datum is not None:
                for scalar in datum.node.scalars():
                    yield name, (scalar.value or "").strip(), datum.file, scalar.line


def metadata_of(node: YamlNode | None, file: str) -> Metadata:
    entries = node.entries if node is not None and node.entries is not None else {}
    return Metadata({name: Datum(value, file) for name, value in entries.items() if not _empty(value)})


def content_type(metadata: Metadata) -> str | None:
    """`ms.topic` by one spelling: `concept-article` → concept, `how_to` → how-to."""
    name = metadata.text("ms.topic", "contentType", "content_type", "type", "topic")
    if name is None:
        return None
    name = name.strip().lower().replace("_", "-").replace(" ", "-")
    return _TYPES.get(name, name)


def products_of(metadata: Metadata, names: DeclaredNames) -> tuple[str, ...]:
    return _by_their_names(metadata.texts(*_PRODUCT_FIELDS), names.product)


def topics_of(metadata: Metadata) -> tuple[str, ...]:
    return metadata.texts("topics", "subjects", "subject", *_LANGUAGE_FIELDS)


def roles_of(metadata: Metadata, names: DeclaredNames) -> tuple[str, ...]:
    return _by_their_names(metadata.texts("roles", "role"), names.role)


def _by_their_names(spellings: tuple[str, ...], name_of: NameOf) -> tuple[str, ...]:
    """Declared names instead of their aliases; what is not declared stays as it is spelt."""
    named = ((name_of(spelling), spelling) for spelling in spellings)
    return tuple(dict.fromkeys(name.name if name is not None else spelling for name, spelling in named))


def moniker_range_of(metadata: Metadata) -> str | None:
    """The versions that a page is for, as an expression; one that was never checked."""
    return " || ".join(metadata.texts(*MONIKER_FIELDS)) or None


def last_modified(metadata: Metadata) -> str | None:
    """`ms.date` as an ISO 8601 date; None where there is none, or none that can be read."""
    text = metadata.text("ms.date", "date", "lastmod", "last_modified", "updated")
    if text is None:
        return None
    return iso_date(text)


def iso_date(text: str) -> str | None:
    """`10/24/2018` → `2018-10-24`; ISO dates and date-times stay; None for anything else."""
    text = text.strip()
    for form in _DATES:
        try:
            return datetime.strptime(text, form).date().isoformat()
        except ValueError:
            continue
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.date().isoformat() if len(text) <= 10 else moment.isoformat()


def vocabulary_references(metadata: Metadata, names: DeclaredNames) -> list[Reference]:
    """appliesTo products and languages, forRole roles: by the name that the estate declares, else as spelt."""
    references: list[Reference] = []
    for name, value, file, line in metadata.each(*_PRODUCT_FIELDS):
        references.append(_vocabulary(EdgeType.APPLIES_TO, NodeKind.PRODUCT, name, value, file, line, names.product))
    for name, value, file, line in metadata.each(*_LANGUAGE_FIELDS):
        references.append(_vocabulary(EdgeType.APPLIES_TO, NodeKind.TOPIC, name, value, file, line))
    for name, value, file, line in metadata.each("roles", "role"):
        references.append(_vocabulary(EdgeType.FOR_ROLE, NodeKind.ROLE, name, value, file, line, names.role))
    for name, value, file, line in metadata.each("topics"):
        references.append(_vocabulary(EdgeType.APPLIES_TO, NodeKind.TOPIC, name, value, file, line))
    return references


def _vocabulary(
    edge: EdgeType,
    kind: NodeKind,
    via: str,
    value: str,
    file: str,
    line: int,
    name_of: NameOf = lambda _: None,
) -> Reference:
    name = name_of(value) or Name(value)
    return Reference(
        type=edge,
        target_uid=f"{kind.value}:{name.name.lower()}",
        via=via,
        file=file,
        line=line,
        target_locale=NEUTRAL_LOCALE,
        target_kind=kind,
        target_title=name.title or name.name,
        target_aliases=tuple(sorted(name.spellings - {name.name.casefold()})),
    )


def _empty(node: YamlNode) -> bool:
    return node.items is None and node.entries is None and not (node.value or "").strip()
