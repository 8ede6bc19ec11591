"""Who may read a finding: whoever may see every node of its file, and every node that its words name."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

from service.domain.diagnostics import Diagnostic, Readers
from service.domain.graph import EVERYONE, Node

_AROUND_NAMES = "'\"`“”‘’.,;:()[]<>"


def classes_of(nodes: Iterable[Node], docsets: Collection[str]) -> dict[str, set[str]]:
    """Of each docset the visibility classes that see something of it."""
    classes: dict[str, set[str]] = {docset: set() for docset in docsets}
    for node in nodes:
        if node.docset in classes:
            classes[node.docset].update(node.visible_to)
    return classes


def readers_of(nodes: Iterable[Node], docsets: Collection[str], *, prefixed: bool) -> Callable[[Diagnostic], Readers]:
    """For findings about these docsets, among all nodes there are. `prefixed`: files are named with their docset
    before them.

    A file that made no node is for whoever may see all of the docsets: nobody knows whose it would have been.
    """
    by_file: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    by_name: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    of_docsets: set[tuple[str, ...]] = set()
    for node in nodes:
        if node.docset in docsets and node.path:
            by_file[f"{node.docset}/{node.path}" if prefixed else node.path].add(node.visible_to)
        if EVERYONE in node.visible_to:
            continue
        if node.docset in docsets:
            of_docsets.add(node.visible_to)
        names = (node.identity.uid, node.path, f"{node.docset}/{node.path}", node.url)
        for name in filter(None, names):
            by_name[name.casefold()].add(node.visible_to)
    spaced = [name for name in by_name if len(name.split()) > 1]

    def readers(finding: Diagnostic) -> Readers:
        said = f"{finding.message} {finding.fix}".casefold()
        words = said.split()
        named = {*words, *(word.strip(_AROUND_NAMES) for word in words), *(name for name in spaced if name in said)}
        asked = set(by_file.get(finding.file, of_docsets))
        asked.update(*(by_name[name] for name in named & by_name.keys()))
        return tuple(sorted(one for one in asked if EVERYONE not in one))

    return readers
