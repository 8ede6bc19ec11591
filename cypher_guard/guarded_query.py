"""The one thing that may go to a database: a rendering and its parameters, made by the guard alone."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NoReturn, final

LANGUAGE_PREFIX = "CYPHER 5 "
_SEAL = object()


@final
class GuardedQuery:
    """A bounded read-only query.

    text: canonical Cypher behind LANGUAGE_PREFIX. params: the caller's and the reserved ones. limit: rows the
    caller may have; the text fetches one more, so that a longer answer is known as truncated. columns: names in
    order. hops: relationships that one match may cross. fingerprint: of the text, equal for queries that
    differ in literals alone.
    """

    __slots__ = ("columns", "fingerprint", "hops", "limit", "params", "text")

    text: str
    params: Mapping[str, object]
    limit: int
    columns: tuple[str, ...]
    hops: int
    fingerprint: str

    def __new__(cls, seal: object = None, **values: object) -> "GuardedQuery":
        if seal is not _SEAL:
            raise TypeError("a GuardedQuery comes from cypher_guard.guard() alone")
        made = object.__new__(cls)
        for name in cls.__slots__:
            object.__setattr__(made, name, values[name])
        return made

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a GuardedQuery does not change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a GuardedQuery does not change")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a GuardedQuery cannot be pickled: guard the text where it runs")

    def __copy__(self) -> "GuardedQuery":
        return self

    def __deepcopy__(self, memo: object) -> "GuardedQuery":
        return self

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("GuardedQuery has no subclasses")

    def __repr__(self) -> str:
        return f"GuardedQuery({self.text!r}, limit={self.limit})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GuardedQuery):
            return NotImplemented
        return self.text == other.text and self.params == other.params and self.limit == other.limit

    def __hash__(self) -> int:
        return hash((self.text, self.limit))


def seal(
    *, text: str, params: dict[str, object], limit: int, columns: tuple[str, ...], hops: int, fingerprint: str
) -> GuardedQuery:
    """Make one; for the guard only."""
    return GuardedQuery(
        _SEAL,
        text=text,
        params=MappingProxyType(params),
        limit=limit,
        columns=columns,
        hops=hops,
        fingerprint=fingerprint,
    )
