"""Where a format differs from its neighbours: how a page's source is to be understood, and what leads through it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from adapters.estates.files import SourceText
from adapters.estates.front_matter import HeadedText, split_front_matter
from adapters.estates.site.index import EstateIndex
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic


def _no_navigation(_index: EstateIndex) -> Iterator[NodeRecord | Diagnostic]:
    return iter(())


@dataclass(frozen=True, slots=True)
class Dialect:
    """`head` gives a Markdown file's metadata and its body, as many lines as the source has.

    `navigate` runs once every page is indexed: pages learn their parents, and records that are no page come from it.
    `state` is all else that `head` depends on, as a value.
    """

    head: Callable[[SourceText], HeadedText] = split_front_matter
    navigate: Callable[[EstateIndex], Iterator[NodeRecord | Diagnostic]] = _no_navigation
    state: object = None
