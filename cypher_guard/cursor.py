"""Where a parser stands in the tokens, how deep it is, and how many steps it has taken."""

from collections.abc import Callable

from cypher_guard.lexer import QUOTED, WORD, Tokens
from cypher_guard.tree import Expression
from cypher_guard.violation import Refusal

RESERVED_PREFIX = "__"


class Cursor:
    """One pass over the tokens: it only ever moves forward."""

    __slots__ = (
        "depth",
        "ends",
        "frames",
        "index",
        "kinds",
        "max_frames",
        "max_nesting",
        "max_subqueries",
        "partners",
        "read_expression",
        "starts",
        "steps",
        "subqueries",
        "text",
        "values",
    )

    def __init__(
        self,
        tokens: Tokens,
        read_expression: "Callable[[Cursor], Expression]",
        *,
        max_nesting: int,
        max_subqueries: int,
    ) -> None:
        # Patterns hold expressions and expressions hold patterns; this is the way back.
        self.read_expression = read_expression
        self.text = tokens.text
        self.kinds = tokens.kinds
        self.values = tokens.values
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.partners = tokens.partners
        self.max_nesting = max_nesting
        # Operators of falling precedence take a frame each; the tree may not grow deeper than this.
        self.max_frames = 4 * max_nesting
        self.max_subqueries = max_subqueries
        self.index = 0
        self.depth = 0
        self.frames = 0
        self.subqueries = 0
        self.steps = 0

    @property
    def kind(self) -> str:
        return self.kinds[self.index]

    @property
    def position(self) -> int:
        return self.starts[self.index]

    def ahead(self, count: int) -> str:
        """The kind `count` tokens on."""
        index = self.index + count
        return self.kinds[index] if index < len(self.kinds) else "end"

    def advance(self) -> None:
        self.steps += 1
        self.index += 1

    def accept(self, kind: str) -> bool:
        """Step over a token of this kind, if it is next."""
        if self.kinds[self.index] != kind:
            return False
        self.steps += 1
        self.index += 1
        return True

    def expect(self, kind: str, purpose: str) -> None:
        """Step over a token of this kind, or refuse."""
        if self.kinds[self.index] != kind:
            raise self.unexpected(f"{kind} {purpose}")
        self.steps += 1
        self.index += 1

    def names(self, offset: int = 0) -> bool:
        """Whether the token there can be a name."""
        kind = self.ahead(offset)
        return is_name(kind)

    def name(self, what: str) -> str:
        """Step over a name: a word, keyword or not, or a quoted one."""
        if not is_name(self.kinds[self.index]):
            raise self.unexpected(what)
        value = str(self.values[self.index])
        self.steps += 1
        self.index += 1
        return value

    def variable(self, what: str = "a variable") -> str:
        """Step over the name of a variable that the caller may use."""
        position = self.starts[self.index]
        name = self.name(what)
        if name.startswith(RESERVED_PREFIX):
            raise Refusal("syntax", f"names that start with {RESERVED_PREFIX} are reserved", position)
        return name

    def enter(self) -> None:
        """Go one level of nesting deeper."""
        self.depth += 1
        if self.depth > self.max_nesting:
            raise Refusal("too_large", f"the query nests deeper than {self.max_nesting} levels", self.position)

    def leave(self) -> None:
        self.depth -= 1

    def unexpected(self, wanted: str) -> Refusal:
        """A refusal that says what was wanted and what stands there."""
        if self.kind == "end":
            found = "the end of the query"
        else:
            start, end = self.starts[self.index], self.ends[self.index]
            found = repr(self.text[start : min(end, start + 40)])
        return Refusal("syntax", f"expected {wanted}, found {found}", self.position)


def is_name(kind: str) -> bool:
    """Whether tokens of this kind can name something."""
    first = kind[0]
    return first.isupper() or first == "_" or kind in (QUOTED, WORD)
