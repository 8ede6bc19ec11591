"""What a caller may ask: a vocabulary and limits, as plain data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal as OneOf

from cypher_guard.functions import FUNCTION_NAMES
from cypher_guard.vocabulary import EDGE_PROPERTIES, EDGE_TYPES, LABELS, PROPERTIES

_VOCABULARY = ("edge_types", "labels", "properties", "functions", "edge_properties")
_NULLABLE = ("labels", "properties", "edge_properties")
_SWITCHES = ("allow_disconnected", "allow_regex", "allow_bare_arrows")


@dataclass(frozen=True, slots=True)
class Profile:
    """The bounds of one kind of caller. Every field has a default, so a file may hold any subset.

    labels and properties: None means any. max_hops: of one variable length; max_total_hops: of the whole
    query, subqueries included. max_rows and default_rows: rows returned. timeout_ms: wall clock at the caller.
    max_text, max_parameter_bytes and max_result_bytes: bytes of UTF-8. cost_limit: estimated rows touched.
    identity_properties leave with every whole node, edge_properties (None: all of properties) with every whole
    relationship. allow_bare_arrows: `-->` may stand for `-[]->`, which
    means all types; off unless said, since it is mostly an oversight.
    """

    edge_types: frozenset[str] = EDGE_TYPES
    labels: frozenset[str] | None = LABELS
    properties: frozenset[str] | None = PROPERTIES
    functions: frozenset[str] = FUNCTION_NAMES
    clauses: OneOf["bounded", "extended"] = "bounded"
    max_hops: int = 4
    max_total_hops: int = 8
    max_rows: int = 1000
    default_rows: int = 100
    timeout_ms: int = 250
    max_text: int = 16 * 1024
    max_nesting: int = 64
    max_subqueries: int = 4
    max_parameter_bytes: int = 256 * 1024
    max_result_bytes: int = 4 * 1024 * 1024
    cost_limit: int = 500_000_000
    allow_disconnected: bool = False
    allow_regex: bool = False
    allow_bare_arrows: bool = False
    identity_properties: tuple[str, ...] = ("uid", "locale")
    edge_properties: frozenset[str] | None = None
    exported_properties: tuple[str, ...] | None = field(init=False, repr=False, compare=False)
    exported_edge_properties: tuple[str, ...] | None = field(init=False, repr=False, compare=False)
    function_keys: frozenset[str] = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in _VOCABULARY:
            value = getattr(self, name)
            if value is None and name in _NULLABLE:
                continue
            object.__setattr__(self, name, frozenset(_names(name, value)))
        object.__setattr__(self, "identity_properties", tuple(_names("identity_properties", self.identity_properties)))
        if self.clauses not in ("bounded", "extended"):
            raise ValueError(f"clauses is bounded or extended, not {self.clauses!r}")
        for part in fields(self):
            value = getattr(self, part.name) if part.init else None
            if part.name in _SWITCHES and type(value) is not bool:
                raise ValueError(f"{part.name} is true or false, not {value!r}")
            if part.type in (int, "int") and part.init and (type(value) is not int or value < 1):
                raise ValueError(f"{part.name} is an integer of 1 or more, not {value!r}")
        if self.default_rows > self.max_rows:
            raise ValueError(f"default_rows ({self.default_rows}) is above max_rows ({self.max_rows})")
        exported, exported_edge = None, None
        if self.properties is not None:
            rest = self.properties - set(self.identity_properties)
            exported = (*self.identity_properties, *sorted(rest))
            exported_edge = tuple(
                sorted(self.properties if self.edge_properties is None else self.properties & self.edge_properties)
            )
        object.__setattr__(self, "exported_properties", exported)
        object.__setattr__(self, "exported_edge_properties", exported_edge)
        object.__setattr__(self, "function_keys", frozenset(name.lower() for name in self.functions))
        values = tuple(getattr(self, part.name) for part in fields(self) if part.compare)
        object.__setattr__(self, "_hash", hash(values))

    def __hash__(self) -> int:
        return self._hash

    @classmethod
    def from_mapping(cls, values: Mapping[str, object]) -> "Profile":
        """A profile from a file's fields; raises ValueError that names the field at fault."""
        if not isinstance(values, Mapping):
            raise ValueError("a profile is an object of fields")
        known = {part.name for part in fields(cls) if part.init}
        unknown = [str(name) for name in values if name not in known]
        if unknown:
            raise ValueError(f"unknown field {unknown[0]!r}; the fields are {', '.join(sorted(known))}")
        return cls(**values)  # type: ignore[arg-type]

    def as_mapping(self) -> dict[str, object]:
        """The fields as JSON-ready data that from_mapping reads back."""
        plain: dict[str, object] = {}
        for part in fields(self):
            if part.init:
                value = getattr(self, part.name)
                plain[part.name] = sorted(value) if isinstance(value, frozenset) else value
        plain["identity_properties"] = list(self.identity_properties)
        return plain

    def describe(self) -> str:
        """Grammar, limits and examples as text for a tool's description."""
        from cypher_guard.description import describe

        return describe(self)


def _names(field_name: str, value: object) -> Iterable[str]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ValueError(f"{field_name} is a list of names, not {value!r}")
    for name in value:
        if not isinstance(name, str) or not name or not name.isprintable() or "\\" in name:
            raise ValueError(f"{field_name} holds {name!r}, which is no name")
        yield name


BOUNDED = Profile(edge_properties=EDGE_PROPERTIES, allow_bare_arrows=True)
EXTENDED = Profile(edge_properties=EDGE_PROPERTIES, allow_bare_arrows=True, clauses="extended")
