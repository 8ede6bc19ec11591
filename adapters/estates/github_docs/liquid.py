"""Liquid tags → the Markdown that they stand for, line by line, so that every line keeps its number."""

from collections.abc import Callable
from dataclasses import dataclass, field

from adapters.estates.github_docs.versions import FeatureVersions, range_of_condition

_DEPTH = 5


@dataclass(slots=True)
class Liquid:
    """`variable` gives the text behind `data variables.x.y`; reusables become includes of their files."""

    variable: Callable[[str], str | None]
    feature_versions: FeatureVersions
    _raw: bool = field(default=False, init=False)

    def render(self, text: str) -> str:
        """Data in place, version conditions as moniker zones where they stand on lines of their own."""
        if "{%" not in text and "{{" not in text:
            return text
        self._raw = False
        return "\n".join(self._line(line) if self._raw or "{" in line else line for line in text.split("\n"))

    def phrase(self, text: str, depth: int = 0) -> str:
        """A value of the front matter: data in place, all other tags gone."""
        parts: list[str] = []
        position = 0
        while (start := text.find("{%", position)) >= 0 and (end := text.find("%}", start)) >= 0:
            parts += [text[position:start], self._data(_inside(text[start : end + 2]), depth)]
            position = end + 2
        return "".join([*parts, text[position:]])

    def _line(self, line: str) -> str:
        bare = line.strip()
        if not self._raw and bare.startswith("{%") and bare.endswith("%}") and bare.count("{%") == 1:
            block = self._block(_inside(bare))
            if block is not None:
                return line[: len(line) - len(line.lstrip())] + block
        return self._inline(line)

    def _block(self, tag: str) -> str | None:
        """A tag on a line of its own, where that makes it a block."""
        name, _, rest = tag.partition(" ")
        if name in ("ifversion", "elsif", "else"):
            versions = range_of_condition(rest.strip(), self.feature_versions) if rest.strip() else None
            if name == "ifversion":
                return f'::: moniker range="{versions or ""}"'
            return f'::: moniker-else range="{versions or ""}"'
        if name == "endif":
            return "::: moniker-end"
        return None

    def _inline(self, line: str) -> str:
        parts: list[str] = []
        position = 0
        while position < len(line):
            start = _next_tag(line, position)
            if start < 0:
                break
            closing = "%}" if line.startswith("{%", start) else "}}"
            end = line.find(closing, start)
            if end < 0:
                break
            parts.append(line[position:start])
            parts.append(self._tag(line[start : end + 2]))
            position = end + 2
        return "".join([*parts, line[position:]])

    def _tag(self, tag: str) -> str:
        inside = _inside(tag)
        if self._raw:
            self._raw = not (tag.startswith("{%") and inside == "endraw")
            return tag if self._raw else ""
        if tag.startswith("{{"):
            return ""
        if inside == "raw":
            self._raw = True
            return ""
        return self._data(inside, 0)

    def _data(self, inside: str, depth: int) -> str:
        words = inside.split()
        if len(words) < 2 or words[0] not in ("data", "indented_data_reference"):
            return ""
        collection, _, name = words[1].partition(".")
        if collection == "reusables" and name:
            path = "/".join(name.split("."))
            return f"[!INCLUDE [{name.rpartition('.')[2]}](/data/reusables/{path}.md)]"
        if collection == "variables" and name and depth < _DEPTH:
            value = self.variable(name)
            return self.phrase(value, depth + 1) if value is not None else name.rpartition(".")[2]
        return ""


def _inside(tag: str) -> str:
    return tag[2:-2].strip().strip("-").strip()


def _next_tag(text: str, position: int) -> int:
    """Where the next `{%` or `{{` begins, -1 where none does."""
    while (start := text.find("{", position)) >= 0:
        if text[start + 1 : start + 2] in ("%", "{"):
            return start
        position = start + 1
    return -1
