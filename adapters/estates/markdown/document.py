"""What a Markdown file says, as the formats need it: text by section, and every piece of markup that may be an edge."""

from dataclasses import dataclass, field
from enum import StrEnum

from service.domain.content import Section


class LinkForm(StrEnum):
    """How a link is written."""

    LINK = "link"
    XREF = "xref"
    AT = "@uid"


class LinkRole(StrEnum):
    """Where on the page a link stands, when that says what it means."""

    TEXT = "text"
    PREREQUISITE = "prerequisite"
    RELATED = "related"


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written. `file` and `line` say where: an included file, when the link came with an include."""

    href: str
    text: str
    file: str
    line: int
    form: LinkForm = LinkForm.LINK
    role: LinkRole = LinkRole.TEXT


@dataclass(frozen=True, slots=True)
class Listing:
    """A fenced or indented code block; `heading` is the one it stands under."""

    language: str
    text: str
    heading: str
    anchor: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Snippet:
    """Code that stands in another file. `part` names the region or lines, empty for the whole file.

    `code` is None where it can't be shown.
    """

    source: str
    language: str
    part: str
    file: str
    line: int
    code: str | None = None


@dataclass(frozen=True, slots=True)
class MonikerZone:
    """A stretch that holds for a range of monikers only."""

    expression: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Inclusion:
    """An included file, by its path in the estate."""

    path: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Bullet:
    """An item of a list."""

    text: str
    file: str
    line: int


@dataclass(slots=True)
class MarkdownDocument:
    """Everything read from one Markdown text, its includes in place.

    `bullets` are the items of its outermost lists; those that say what a reader will learn are its `checklist`.
    """

    title: str | None = None
    sections: list[Section] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)
    snippets: list[Snippet] = field(default_factory=list)
    zones: list[MonikerZone] = field(default_factory=list)
    inclusions: list[Inclusion] = field(default_factory=list)
    bullets: list[Bullet] = field(default_factory=list)
    checklist: list[Bullet] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
