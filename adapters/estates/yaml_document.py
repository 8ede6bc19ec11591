"""YAML and JSON documents as nodes that remember their lines, bounded against hostile input.

Scalars keep their spelling (`no`, `1.10`, `2024-01-01` stay text): the readers ask for the type they need.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import yaml

MAX_DEPTH = 200
MAX_NODES = 2_000_000

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "yes", "on"})


class YamlInvalid(Exception):
    """The text is no YAML, or no YAML that is read here: `line` and `column` are 1-based."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


@dataclass(slots=True)
class YamlNode:
    """A scalar (`value` is text or None), a sequence (`items`) or a mapping (`entries`), at a 1-based line.

    Nobody changes one: whoever parses the same text again is handed the same nodes.
    """

    line: int
    column: int
    value: str | None = None
    items: "list[YamlNode] | None" = None
    entries: "dict[str, YamlNode] | None" = None
    duplicates: Sequence[tuple[str, int]] = ()
    block_scalar: bool = False

    def get(self, key: str) -> "YamlNode | None":
        return self.entries.get(key) if self.entries is not None else None

    def at(self, *keys: str) -> "YamlNode | None":
        """The node under a chain of keys, or None."""
        node: YamlNode | None = self
        for key in keys:
            if node is None:
                return None
            node = node.get(key)
        return node

    def text(self, *keys: str) -> str | None:
        """The scalar under the keys, stripped; None where there is none or it is empty."""
        node = self.at(*keys)
        if node is None or node.value is None:
            return None
        return node.value.strip() or None

    def texts(self, *keys: str) -> tuple[str, ...]:
        """The scalars of a sequence, or a scalar alone, under the keys; each once, in order."""
        return tuple(dict.fromkeys(node.value.strip() for node in self.scalars(*keys) if node.value))

    def scalars(self, *keys: str) -> "Iterator[YamlNode]":
        """The scalar nodes of a sequence, or a scalar alone, under the keys."""
        node = self.at(*keys)
        if node is None:
            return
        for item in node.items if node.items is not None else [node]:
            if item.value is not None and item.value.strip():
                yield item

    def sequence(self, *keys: str) -> "list[YamlNode]":
        node = self.at(*keys)
        return node.items if node is not None and node.items is not None else []

    def mapping(self, *keys: str) -> "dict[str, YamlNode]":
        node = self.at(*keys)
        return node.entries if node is not None and node.entries is not None else {}

    def flag(self, *keys: str) -> bool:
        return (self.text(*keys) or "").lower() in _TRUE

    def walk(self) -> "Iterator[YamlNode]":
        """This node and everything under it, in the document's order."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.items or list((node.entries or {}).values())))


def parse_yaml(text: str, first_line: int = 1) -> YamlNode | None:
    """The first document of the text, None when it is empty. `first_line` is where the text stands in its file.

    An alias counts as a copy of its anchor, so a bomb of aliases meets the same bound as a document written out.
    Raises YamlInvalid.
    """
    key = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), first_line)
    known = _memory.find(key)
    if known is not None:
        return known[0]
    document, nodes = _parse(text, first_line)
    _memory.keep(key, document, 1 + nodes + len(text) // _CHARACTERS_A_NODE)
    return document


def _parse(text: str, first_line: int) -> tuple[YamlNode | None, int]:
    """The document, and how many nodes it counts."""
    builder = _Builder(first_line)
    try:
        return builder.build(text), builder.nodes
    except yaml.MarkedYAMLError as error:
        line, column = _place(error, text)
        raise YamlInvalid(error.problem or "This is not YAML", line + first_line, column + 1) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position)
        raise YamlInvalid(
            f"Character #x{ord(str(error.character)[:1] or ' '):04x} is not allowed in YAML", line + first_line, 1
        ) from None
    except yaml.YAMLError as error:
        raise YamlInvalid(str(error), first_line, 1) from None


def _place(error: yaml.MarkedYAMLError, text: str) -> tuple[int, int]:
    """Where the error is, both counted from 0. What is never closed is found at the text's end, and mended where it
    was opened, else where the text ends."""
    written = text.rstrip()
    last = written.count("\n")
    marks = [mark for mark in (error.problem_mark, error.context_mark) if mark is not None]
    for mark in marks:
        if mark.line <= last:
            return mark.line, mark.column
    return (last, max(len(written) - written.rfind("\n") - 2, 0)) if marks else (0, 0)


class _Builder:
    """Events → nodes, with an explicit stack: nesting costs no recursion."""

    def __init__(self, first_line: int) -> None:
        self._first_line = first_line
        self.nodes = 0

    def build(self, text: str) -> YamlNode | None:
        anchors: dict[str, tuple[YamlNode, int]] = {}
        open_anchors: set[str] = set()
        stack: list[tuple[YamlNode, str | None, int]] = []
        pending: list[YamlNode | None] = []
        root: YamlNode | None = None
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.DocumentEndEvent):
                return root
            if isinstance(event, yaml.ScalarEvent):
                node = self._scalar(event)
                if event.anchor:
                    anchors[event.anchor] = (node, 1)
            elif isinstance(event, yaml.AliasEvent):
                node = self._alias(event, anchors, open_anchors)
            elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                node = self._collection(event)
                if len(stack) >= MAX_DEPTH:
                    raise YamlInvalid(f"Nested deeper than {MAX_DEPTH} levels", node.line, node.column)
                stack.append((node, event.anchor, self.nodes))
                if event.anchor:
                    open_anchors.add(event.anchor)
                pending.append(None)
                continue
            elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
                node, anchor, before = stack.pop()
                pending.pop()
                if anchor:
                    open_anchors.discard(anchor)
                    anchors[anchor] = (node, self.nodes - before + 1)
            else:
                continue
            if not stack:
                root = node
            else:
                _put(stack[-1][0], pending, node)
        return root

    def _scalar(self, event: Any) -> YamlNode:
        self._count(1, event)
        plain = event.style is None or event.style == ""
        value = None if plain and event.value in _NULLS else event.value
        return YamlNode(*self._place(event), value=value, block_scalar=event.style in ("|", ">"))

    def _collection(self, event: Any) -> YamlNode:
        self._count(1, event)
        if isinstance(event, yaml.SequenceStartEvent):
            return YamlNode(*self._place(event), items=[])
        return YamlNode(*self._place(event), entries={})

    def _alias(self, event: Any, anchors: dict[str, tuple[YamlNode, int]], open_anchors: set[str]) -> YamlNode:
        line, column = self._place(event)
        if event.anchor in open_anchors:
            raise YamlInvalid(f"The alias '*{event.anchor}' stands inside its own anchor", line, column)
        if event.anchor not in anchors:
            raise YamlInvalid(f"The alias '*{event.anchor}' has no anchor", line, column)
        node, size = anchors[event.anchor]
        self._count(size, event)
        return node

    def _count(self, nodes: int, event: Any) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            raise YamlInvalid(f"More than {MAX_NODES} values, aliases written out", *self._place(event))

    def _place(self, event: Any) -> tuple[int, int]:
        return event.start_mark.line + self._first_line, event.start_mark.column + 1


def _put(parent: YamlNode, pending: list[YamlNode | None], node: YamlNode) -> None:
    """Add to a sequence, or take turns between key and value in a mapping; of two equal keys the last one holds."""
    if parent.items is not None:
        parent.items.append(node)
        return
    key = pending[-1]
    if key is None:
        pending[-1] = node
        return
    pending[-1] = None
    if parent.entries is None:
        return
    # A site's documents have the same few keys, by the ten thousand.
    name = sys.intern(key.value or "")
    if name in parent.entries:
        known = parent.duplicates if isinstance(parent.duplicates, list) else []
        known.append((name, key.line))
        parent.duplicates = known
    if name == "<<" and node.entries is not None:
        for inherited, value in node.entries.items():
            parent.entries.setdefault(inherited, value)
        return
    parent.entries[name] = node


class DocumentMemory:
    """Documents parsed before, by the digest of their text: a reading meets each of its own twice, and the next
    reading meets most of them again. Beyond the bound all are forgotten."""

    def __init__(self, most_nodes: int) -> None:
        self._most = most_nodes
        self._nodes = 0
        self._known: dict[tuple[bytes, int], YamlNode | None] = {}

    def find(self, key: tuple[bytes, int]) -> tuple[YamlNode | None] | None:
        """The document in a tuple, for an empty text is a document too; None for one that isn't known."""
        try:
            return (self._known[key],)
        except KeyError:
            return None

    def keep(self, key: tuple[bytes, int], document: YamlNode | None, nodes: int) -> None:
        if nodes > self._most // 4:
            return
        if self._nodes + nodes > self._most:
            self._known, self._nodes = {}, 0
        self._known[key] = document
        self._nodes += nodes


_CHARACTERS_A_NODE = 64
"""Text of this length counts as a node more: a scalar may be as long as its file."""

_memory = DocumentMemory(most_nodes=1_000_000)
"""Front matter of some 70,000 pages, at about 150 bytes a node; what does not fit is parsed anew at each reading."""
