"""The caller's parameters: present, used, of JSON's kinds, of the kinds that the query needs, and not too many."""

from collections.abc import Mapping

from cypher_guard.growth import STORED_CHARACTERS
from cypher_guard.lexer import LARGEST_INTEGER
from cypher_guard.profile import Profile
from cypher_guard.value_types import accepts, type_of
from cypher_guard.violation import Refusal, suggest

DEEPEST_VALUE = 16


def check_parameters(
    profile: Profile, params: object, used: Mapping[str, int], kinds: Mapping[str, str]
) -> dict[str, object]:
    """A copy of the parameters, checked. used: each name with its place in the text; kinds: what some must be."""
    if not isinstance(params, Mapping):
        raise Refusal("bad_parameter", "parameters are an object of names and values", None)
    given = dict(params)
    for name in given:
        if not isinstance(name, str):
            raise Refusal("bad_parameter", f"a parameter's name is text, not {type(name).__name__}", None)
        if name.startswith("__"):
            raise Refusal("bad_parameter", "parameters that start with __ are reserved", None)
    for name, position in used.items():
        if name not in given:
            unused = [other for other in given if other not in used]
            raise Refusal("missing_parameter", f"the parameter ${name} is not given", position, suggest(name, unused))
    for name in given:
        if name not in used:
            shown = name[:80].encode("ascii", "backslashreplace").decode()
            raise Refusal(
                "unused_parameter", f"the query does not use the parameter {shown}", None, suggest(name, used)
            )
    budget = Budget(profile.max_parameter_bytes)
    checked = {name: budget.copy(name, value, 0) for name, value in given.items()}
    for name, kind in kinds.items():
        value = checked[name]
        if not accepts(kind, type_of(value)):
            raise Refusal("bad_parameter", f"the parameter ${name} must be a {kind}", used[name])
        if kind == "short string" and isinstance(value, str) and len(value) > STORED_CHARACTERS:
            raise Refusal("too_large", f"the parameter ${name} is too long for replace()", used[name])
    return checked


class Budget:
    """Bytes that parameters may still take."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left = limit

    def _spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise Refusal("too_large", f"the parameters are larger than {self.limit} bytes", None)

    def copy(self, name: str, value: object, depth: int) -> object:
        """The value, rebuilt of plain JSON kinds."""
        if value is None or value is True or value is False:
            self._spend(5)
            return value
        kind = type(value)
        if kind is str:
            return self._copy_text(name, str(value))
        if isinstance(value, int) and kind is int:
            if not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
                raise Refusal("bad_parameter", f"the parameter ${name} is beyond 64 bits", None)
            self._spend(8)
            return value
        if kind is float:
            if value != value or value in (float("inf"), float("-inf")):
                raise Refusal("bad_parameter", f"the parameter ${name} is no finite number", None)
            self._spend(8)
            return value
        if depth >= DEEPEST_VALUE:
            raise Refusal("too_large", f"the parameter ${name} nests deeper than {DEEPEST_VALUE} levels", None)
        if isinstance(value, (list, tuple)):
            self._spend(2 + 2 * len(value))
            return [self.copy(name, item, depth + 1) for item in value]
        if isinstance(value, Mapping):
            return self._copy_map(name, value, depth)
        raise Refusal("bad_parameter", f"the parameter ${name} holds a {kind.__name__}, which JSON has not", None)

    def _copy_text(self, name: str, value: str) -> str:
        try:
            self._spend(2 + (len(value) if value.isascii() else len(value.encode())))
        except UnicodeEncodeError:
            raise Refusal("bad_parameter", f"the parameter ${name} is not valid Unicode", None) from None
        return value

    def _copy_map(self, name: str, value: Mapping[object, object], depth: int) -> dict[str, object]:
        made: dict[str, object] = {}
        for key, item in value.items():
            if type(key) is not str:
                raise Refusal("bad_parameter", f"the parameter ${name} has a key that is no text", None)
            made[self._copy_text(name, key)] = self.copy(name, item, depth + 1)
        return made
