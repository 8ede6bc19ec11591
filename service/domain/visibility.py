"""Visibility classes as sets: who sees one thing, given who sees others. `("*",)` is everyone, `()` is nobody."""

from collections.abc import Iterable

from service.domain.graph import EVERYONE

Classes = tuple[str, ...]
"""Sorted, each once; everyone stands alone."""


def classes(names: Iterable[str]) -> Classes:
    """One spelling of these classes: with everyone among them, the others say nothing."""
    distinct = set(names)
    return (EVERYONE,) if EVERYONE in distinct else tuple(sorted(distinct))


def narrowed(first: Classes, second: Classes) -> Classes:
    """Who is among both."""
    if EVERYONE in first:
        return second
    return first if EVERYONE in second else classes(set(first) & set(second))


def widened(first: Classes, second: Classes) -> Classes:
    """Who is among either."""
    if first == second or EVERYONE in first:
        return first
    return classes((*first, *second))


def covers(shown: Iterable[str], others: Iterable[str]) -> bool:
    """Whether all of `others` see what is shown to `shown`: only then may it be said where they read."""
    seen = set(shown)
    return EVERYONE in seen or seen.issuperset(others)
