"""What is known of a value before the query runs: enough to refuse what Neo4j would refuse, and to know where
whole nodes hide."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ValueType:
    """kind: a name of Cypher's, or ANY (stored or given data, never a node) or UNSURE (a node may hide in it).

    item: of a list. fields: of a map whose keys are known. stored: a property's value, which is never a map.
    """

    kind: str
    item: "ValueType | None" = None
    fields: "tuple[tuple[str, ValueType], ...] | None" = None
    holds_entity: bool = False
    stored: bool = False

    def __str__(self) -> str:
        if self.item is not None and self.item.kind not in ("ANY", "NULL"):
            return f"LIST<{self.item}>"
        return _SHOWN.get(self.kind, self.kind)


_SHOWN = {"ANY": "a value", "UNSURE": "a value of several kinds", "AMOUNT": "a number", "SUM": "a sum"}
ANY = ValueType("ANY")
STORED = ValueType("ANY", stored=True)
# What arithmetic makes of unknown values: a number or something of the calendar; with + also a string or list.
AMOUNT = ValueType("AMOUNT")
SUM = ValueType("SUM")
NULL = ValueType("NULL")
BOOLEAN = ValueType("BOOLEAN")
INTEGER = ValueType("INTEGER")
FLOAT = ValueType("FLOAT")
NUMBER = ValueType("NUMBER")
STRING = ValueType("STRING")
TEMPORAL = ValueType("TEMPORAL")
DURATION = ValueType("DURATION")
POINT = ValueType("POINT")
MAP = ValueType("MAP")
NODE = ValueType("NODE", holds_entity=True)
RELATIONSHIP = ValueType("RELATIONSHIP", holds_entity=True)
PATH = ValueType("PATH", holds_entity=True)
UNSURE = ValueType("UNSURE", holds_entity=True)

_NUMBERS = frozenset({"INTEGER", "FLOAT", "NUMBER", "AMOUNT"})
_SCALARS = _NUMBERS | {"BOOLEAN", "STRING", "TEMPORAL", "DURATION", "POINT"}

# Which kinds may stand for an argument; ANY, NULL and UNSURE are decided by accepts().
ACCEPTS: dict[str, frozenset[str]] = {
    "boolean": frozenset({"BOOLEAN"}),
    "integer": frozenset({"INTEGER", "NUMBER", "AMOUNT"}),
    "number": _NUMBERS,
    "summable": _NUMBERS | {"DURATION"},
    "string": frozenset({"STRING"}),
    "short string": frozenset({"STRING"}),
    "scalar": _SCALARS,
    "convertible": _NUMBERS | {"STRING", "BOOLEAN"},
    "numeric": _NUMBERS | {"STRING"},
    "truth": frozenset({"INTEGER", "NUMBER", "AMOUNT", "STRING", "BOOLEAN"}),
    "list": frozenset({"LIST"}),
    "map": frozenset({"MAP"}),
    "counted": frozenset({"LIST", "STRING"}),
    "sized": frozenset({"LIST", "STRING", "MAP"}),
    "node": frozenset({"NODE"}),
    "relationship": frozenset({"RELATIONSHIP"}),
    "entity": frozenset({"NODE", "RELATIONSHIP"}),
    "path": frozenset({"PATH"}),
    "keyed": frozenset({"NODE", "RELATIONSHIP", "MAP"}),
}
_MAPS_ONLY = frozenset({"map", "keyed"})
_ENTITIES_ONLY = frozenset({"node", "relationship", "entity", "path"})


def list_of(item: ValueType) -> ValueType:
    """The type of lists of such items."""
    return ValueType("LIST", item, holds_entity=item.holds_entity)


def map_of(entries: tuple[tuple[str, ValueType], ...]) -> ValueType:
    """The type of maps with exactly these keys."""
    return ValueType("MAP", fields=entries, holds_entity=any(value.holds_entity for _, value in entries))


def accepts(argument: str, value: ValueType) -> bool:
    """Whether a value of this type may stand for an argument of this kind; what is unknown may, data for data."""
    kind = value.kind
    if argument == "anything" or kind == "NULL":
        return True
    if argument == "any":
        return not value.holds_entity
    if kind == "ANY":
        return argument not in _ENTITIES_ONLY and not (value.stored and argument in _MAPS_ONLY)
    if kind == "SUM":
        return argument not in _ENTITIES_ONLY and argument not in _MAPS_ONLY and argument != "boolean"
    if kind == "UNSURE":
        return argument in _ENTITIES_ONLY or argument == "list"
    return kind in ACCEPTS[argument]


def join(left: ValueType, right: ValueType) -> ValueType:
    """The least type that holds both."""
    if left is right or left == right or right is NULL:
        return left
    if left is NULL:
        return right
    if left.kind in _NUMBERS and right.kind in _NUMBERS:
        return NUMBER
    if left.item is not None and right.item is not None:
        return list_of(join(left.item, right.item))
    if left.kind == "MAP" and right.kind == "MAP" and not (left.holds_entity or right.holds_entity):
        return MAP
    return UNSURE if left.holds_entity or right.holds_entity else ANY


def type_of(value: object) -> ValueType:
    """The type of a literal or of a hoisted constant."""
    if value is None:
        return NULL
    if value is True or value is False:
        return BOOLEAN
    if isinstance(value, str):
        return STRING
    if isinstance(value, int):
        return INTEGER
    if isinstance(value, float):
        return FLOAT
    if isinstance(value, list):
        item = NULL
        for element in value:
            item = join(item, type_of(element))
        return list_of(item)
    if isinstance(value, dict):
        return map_of(tuple([(key, type_of(element)) for key, element in value.items()]))
    return MAP
