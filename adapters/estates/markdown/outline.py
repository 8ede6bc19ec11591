"""The sections of a page as its headings and moniker zones divide it, and what the heading above says of a link."""

import re
from dataclasses import replace

from adapters.estates.markdown.document import LinkRole
from service.domain.content import Block, Section

_PREREQUISITES = frozenset({"prerequisites", "prerequisite", "before-you-begin"})
_RELATED = frozenset(
    {
        "related-content",
        "related-links",
        "related-topics",
        "related-articles",
        "related-concepts",
        "related",
        "see-also",
        "next-steps",
        "next-step",
        "additional-resources",
        "further-reading",
    }
)
_OBJECTIVES = frozenset({"learning-objectives", "objectives"})


class Outline:
    """Grows with the walk: blocks go to the open heading, until the next heading or a zone's border closes it."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.title: str | None = None
        self.heading = ""
        self.anchor = ""
        self._level = 1
        self._blocks: list[Block] = []
        self._zones: list[str | None] = []
        self._regions: dict[str, int] = {}
        self._used_anchors: dict[str, int] = {}

    @property
    def role(self) -> LinkRole:
        """What a link says where the walk stands."""
        if "prerequisite" in self._regions:
            return LinkRole.PREREQUISITE
        return LinkRole.RELATED if "related" in self._regions else LinkRole.TEXT

    @property
    def teaches(self) -> bool:
        """Whether the walk stands below a heading that announces what a reader will learn."""
        return "objective" in self._regions

    def add(self, block: Block) -> None:
        self._blocks.append(block)

    def open(self, heading: str, level: int, anchors: list[str]) -> str:
        """Begin a section; its anchor is the heading's own where it brings one, and is returned."""
        self.close()
        made = slug(heading)
        self.heading, self._level = heading, level
        self.anchor = self._unique(anchors[0] if anchors else made)
        if level == 1 and self.title is None:
            self.title = heading
        self._regions = {role: opened for role, opened in self._regions.items() if opened < level}
        for role, names in (("prerequisite", _PREREQUISITES), ("related", _RELATED), ("objective", _OBJECTIVES)):
            if self.anchor in names or made in names:
                self._regions.setdefault(role, level)
        return self.anchor

    @property
    def zone(self) -> str:
        """The range of monikers that holds where the walk stands, empty where none does."""
        return (self._zones[-1] if self._zones else "") or ""

    @property
    def is_hidden(self) -> bool:
        """Whether the walk stands in a zone that no version of the page shows."""
        return None in self._zones

    def enter_zone(self, expression: str | None) -> None:
        """`expression` is what holds inside, enclosing zones included; None where nothing does."""
        self.close()
        self._zones.append(expression)

    def leave_zone(self) -> None:
        """The end of a zone that was never begun ends nothing."""
        if self._zones:
            self.close()
            self._zones.pop()

    def close(self) -> None:
        """Keep what was read under the open heading; what stands on both sides of a zone's border stays together."""
        blocks, self._blocks = tuple(self._blocks), []
        zone = self.zone or None
        before = self.sections[-1] if self.sections else None
        if before is not None and (before.heading, before.anchor) == (self.heading, self.anchor):
            if before.moniker_range == zone:
                self.sections[-1] = replace(before, blocks=(*before.blocks, *blocks))
                return
            if not blocks:
                return
        if blocks or self.heading:
            self.sections.append(Section(self.heading, self.anchor, self._level, blocks, zone))

    def _unique(self, anchor: str) -> str:
        count = self._used_anchors.get(anchor, 0)
        self._used_anchors[anchor] = count + 1
        return f"{anchor}-{count}" if count else anchor


_NOT_IN_SLUG = re.compile(r"[^\w \-]")


def slug(heading: str) -> str:
    """The fragment that the platforms make of a heading: lower case, letters and digits, words joined by `-`."""
    return _NOT_IN_SLUG.sub("", heading.lower()).strip().replace(" ", "-")
