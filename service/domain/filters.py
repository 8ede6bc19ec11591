"""What a request narrows the estate to: one value that every leg and the graph get."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches

from service.domain.errors import FilterUnknown, FilterValueUnknown
from service.domain.graph import NodeKind
from service.domain.principal import Principal


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """Values allowed per property; an empty tuple allows all.

    Any one value of a property suffices, and every property named must agree. Values match exactly.
    """

    kind: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    product: tuple[str, ...] = ()
    topic: tuple[str, ...] = ()
    role: tuple[str, ...] = ()
    level: tuple[str, ...] = ()
    language: tuple[str, ...] = ()
    moniker: tuple[str, ...] = ()
    locale: tuple[str, ...] = ()
    audience: tuple[str, ...] = ()
    region: tuple[str, ...] = ()
    docset: tuple[str, ...] = ()
    workspace: tuple[str, ...] = ()

    @classmethod
    def from_mapping(cls, values: Mapping[str, str | Iterable[str]]) -> "NodeFilter":
        """Raises FilterUnknown for a key that is no filter, FilterValueUnknown for a kind that does not exist and for
        a filter of no value, which would narrow nothing, or of an empty one, which nothing has."""
        known = [field.name for field in fields(cls)]
        chosen: dict[str, tuple[str, ...]] = {}
        for key, value in values.items():
            if key not in known:
                nearest = get_close_matches(key, known, n=1)
                raise FilterUnknown(
                    f"There is no filter '{key}'. Filters: {', '.join(known)}.",
                    suggestion=nearest[0] if nearest else None,
                )
            chosen[key] = (value,) if isinstance(value, str) else tuple(value)
            if not chosen[key] or not all(one.strip() for one in chosen[key]):
                raise FilterValueUnknown(f"The filter '{key}' has an empty value; name one, or leave the filter out.")
        kinds = [kind.value for kind in NodeKind]
        for kind in chosen.get("kind", ()):
            if kind not in kinds:
                nearest = get_close_matches(kind, kinds, n=1)
                raise FilterValueUnknown(
                    f"There is no kind '{kind}'. Kinds: {', '.join(kinds)}.",
                    suggestion=nearest[0] if nearest else None,
                )
        return cls(**chosen)

    def constraints(self) -> dict[str, tuple[str, ...]]:
        """The properties that are narrowed, by filter name."""
        return {field.name: values for field in fields(self) if (values := getattr(self, field.name))}


READ_KINDS = tuple(
    kind.value for kind in (NodeKind.PAGE, NodeKind.MODULE, NodeKind.UNIT, NodeKind.LEARNING_PATH, NodeKind.RETIRED)
)
"""What a search looks through when its filter names no kind: what people read; code samples have their own search."""


SINGLE_VALUED: Mapping[str, str] = {
    "kind": "kind",
    "type": "type",
    "level": "level",
    "language": "language",
    "locale": "locale",
    "docset": "docset",
    "workspace": "workspace",
}
"""Filter name → the node property that holds one value."""

MANY_VALUED: Mapping[str, str] = {
    "product": "products",
    "topic": "topics",
    "role": "roles",
    "moniker": "monikers",
    "audience": "audience",
    "region": "region",
}
"""Filter name → the node property that holds a list."""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """All that may show: the filter, the visibility classes of the caller, and the snapshot's generation.

    Each engine applies all three inside its own query.
    """

    filter: NodeFilter
    audiences: frozenset[str]
    generation: int

    @classmethod
    def of(cls, principal: Principal, generation: int, filter: NodeFilter | None = None) -> "SearchScope":
        return cls(filter or NodeFilter(), principal.audiences, generation)
