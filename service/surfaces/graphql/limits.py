"""What one GraphQL document may ask for, judged on its syntax before validation, which can be quadratic itself."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSyntaxError,
    InlineFragmentNode,
    IntValueNode,
    Node,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    get_operation_ast,
    parse,
)
from strawberry.extensions import SchemaExtension

from service.settings import Settings
from service.surfaces.graphql.refusals import FragmentCycle, IntrospectionOff, QueryOverLimit

_PAGE_SIZES = frozenset({"first", "limit"})
_INTROSPECTION = frozenset({"__schema", "__type"})


@dataclass(frozen=True, slots=True)
class Extent:
    """How much a selection asks for, its fragments written out.

    depth: levels of fields. cost: values in the answer, where each page is full and other lists count as one value.
    """

    depth: int = 0
    fields: int = 0
    aliases: int = 0
    directives: int = 0
    cost: int = 0

    def beside(self, other: "Extent") -> "Extent":
        return Extent(
            max(self.depth, other.depth),
            self.fields + other.fields,
            self.aliases + other.aliases,
            self.directives + other.directives,
            self.cost + other.cost,
        )


class WithinLimits(SchemaExtension):
    """Parses the document and raises `SurfaceRefused` for one that asks for too much."""

    def on_parse(self) -> Iterator[None]:
        context = self.execution_context
        settings: Settings = context.context.settings
        document = read(context.query or "", settings)
        check(document, context.variables or {}, settings)
        _one_query(document, context.operation_name)
        context.graphql_document = document
        yield


def read(text: str, settings: Settings) -> DocumentNode:
    """Raises QueryOverLimit, and GraphQLError for what is no document."""
    most = settings.graphql_tokens
    try:
        return parse(text, max_lexical_tokens=most, max_comments=most)
    except GraphQLSyntaxError as error:
        if error.message.endswith("Parsing aborted."):
            raise QueryOverLimit("graphql_tokens", most) from None
        raise


def _one_query(document: DocumentNode, name: str | None) -> None:
    """Raises GraphQLError unless one operation is meant, and a query."""
    operation = get_operation_ast(document, name)
    if operation is None:
        raise GraphQLError(
            "Name one operation of the document in operationName." if name is None else "No such operation."
        )
    if operation.operation is not OperationType.QUERY:
        raise GraphQLError("There are queries only.", operation)


def check(document: DocumentNode, variables: Mapping[str, Any], settings: Settings) -> None:
    """Raises FragmentCycle, IntrospectionOff or QueryOverLimit; the time is linear in the document."""
    for extent in _Measuring(variables, settings).operations(document):
        for name in ("directives", "aliases", "depth", "fields", "cost"):
            found, most = getattr(extent, name), getattr(settings, f"graphql_{name}")
            if found > most:
                raise QueryOverLimit(f"graphql_{name}", most, found)


class _Measuring:
    def __init__(self, variables: Mapping[str, Any], settings: Settings) -> None:
        self._variables = variables
        self._settings = settings
        self._fragments: dict[str, Extent] = {}

    def operations(self, document: DocumentNode) -> Iterator[Extent]:
        fragments = {one.name.value: one for one in document.definitions if isinstance(one, FragmentDefinitionNode)}
        for name in _innermost_first(fragments):
            self._fragments[name] = self._of_definition(fragments[name])
        for definition in document.definitions:
            if isinstance(definition, OperationDefinitionNode):
                yield self._of_definition(definition)

    def _of_definition(self, definition: OperationDefinitionNode | FragmentDefinitionNode) -> Extent:
        variables = definition.variable_definitions or ()
        directives = _directives(definition) + sum(_directives(variable) for variable in variables)
        return Extent(directives=directives).beside(self._of_set(definition.selection_set))

    def _of_set(self, selected: SelectionSetNode | None) -> Extent:
        extent = Extent()
        for selection in selected.selections if selected else ():
            extent = extent.beside(Extent(directives=_directives(selection))).beside(self._of_selection(selection))
        return extent

    def _of_selection(self, selection: SelectionNode) -> Extent:
        match selection:
            case FragmentSpreadNode():
                return self._fragments.get(selection.name.value, Extent())
            case InlineFragmentNode():
                return self._of_set(selection.selection_set)
            case FieldNode():
                return self._of_field(selection)
            case _:
                return Extent()

    def _of_field(self, field: FieldNode) -> Extent:
        if field.name.value in _INTROSPECTION and not self._settings.graphql_introspection:
            raise IntrospectionOff
        within = self._of_set(field.selection_set)
        return Extent(
            within.depth + 1,
            within.fields + 1,
            within.aliases + (field.alias is not None),
            within.directives,
            within.cost * self._page_size(field) + 1,
        )

    def _page_size(self, field: FieldNode) -> int:
        """What the field asks for, up to the most that any tool gives; 1 for what has no pages."""
        for argument in field.arguments or ():
            if argument.name.value in _PAGE_SIZES:
                asked = self._number(argument.value)
                return max(1, min(asked, self._settings.search_limit_cap))
        has_pages = any(one.name.value == "edges" for one in _fields(field.selection_set))
        return self._settings.search_limit if has_pages else 1

    def _number(self, value: ValueNode) -> int:
        if isinstance(value, IntValueNode):
            return int(value.value[:10])
        given = self._variables.get(value.name.value) if isinstance(value, VariableNode) else None
        return given if isinstance(given, int) else self._settings.search_limit


def _innermost_first(fragments: Mapping[str, FragmentDefinitionNode]) -> Iterator[str]:
    """Each fragment after all that it spreads. Raises FragmentCycle."""
    spread = {name: set(_spreads(fragment.selection_set)) & fragments.keys() for name, fragment in fragments.items()}
    try:
        yield from TopologicalSorter(spread).static_order()
    except CycleError as error:
        raise FragmentCycle(str(error.args[1][0])) from None


def _spreads(selected: SelectionSetNode | None) -> Iterator[str]:
    for selection in selected.selections if selected else ():
        if isinstance(selection, FragmentSpreadNode):
            yield selection.name.value
        elif isinstance(selection, (FieldNode, InlineFragmentNode)):
            yield from _spreads(selection.selection_set)


def _fields(selected: SelectionSetNode | None) -> list[FieldNode]:
    return [one for one in selected.selections if isinstance(one, FieldNode)] if selected else []


def _directives(node: Node) -> int:
    return len(getattr(node, "directives", None) or ())
