"""The schema: a field a tool of the catalogue, and a Relay connection wherever a tool gives pages.

A page's `endCursor` is the tool's own `nextCursor`: opaque, and pinned to the snapshot and the request. Cursors go
forward only, from the end of one page to the next.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args, get_origin

import strawberry
from graphql import GraphQLError
from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from strawberry.schema.config import StrawberryConfig
from strawberry.tools import create_type
from strawberry.types import ExecutionContext
from strawberry.types.field import StrawberryField

from service.domain.requests import FetchRequest, ListRequest, Request
from service.domain.results import Result
from service.surfaces.graphql import types
from service.surfaces.graphql.asking import Asking
from service.surfaces.graphql.limits import WithinLimits
from service.surfaces.graphql.types import Argument, Facet, derived_field, given, object_type, result_field
from service.surfaces.problems import RequestInvalid
from service.tools import catalogue
from service.tools.catalogue import Tool

NAMES: Mapping[str, str] = {
    catalogue.SEARCH.name: "search",
    catalogue.SAMPLES.name: "samples",
    catalogue.LIST.name: "nodes",
    catalogue.FETCH.name: "node",
    catalogue.RELATED.name: "related",
    catalogue.LEARNING_PATH.name: "learning_path",
    catalogue.GRAPH_QUERY.name: "query_graph",
    catalogue.SCHEMA.name: "schema",
}
"""Tool → its field, where that is not the tool's own name."""

_SHAPE = "The schema describes the right one."


@dataclass(frozen=True, slots=True)
class Page:
    """A tool's page as a connection. `began_later`: the request had a cursor."""

    result: Any
    began_later: bool


@dataclass(frozen=True, slots=True)
class Edge:
    node: Any
    cursor: str | None


@strawberry.type(description="Where a page stands. Pages are read forwards.")
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


class _Schema(strawberry.Schema):
    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """What is unforeseen is logged where it becomes a problem."""


@cache
def schema() -> strawberry.Schema:
    """Takes 0.3 s. Its context is an `Asking`, whose settings bound each document."""
    query = create_type("Query", [*(_field(tool) for tool in catalogue.TOOLS), _facets()])
    return _Schema(query, extensions=[WithinLimits], config=StrawberryConfig(name_converter=_WireNames()))


class _WireNames(strawberry.schema.name_converter.NameConverter):
    """Names as every other surface has them."""

    def apply_naming_config(self, name: str) -> str:
        return to_camel(name)


def _field(tool: Tool[Any, Any]) -> StrawberryField:
    """It may be null, so that one tool's refusal leaves the answers of the others."""
    name = NAMES.get(tool.name, tool.name)
    description = f"{tool.description} {tool.not_for}"
    listed = _listed(tool.result)
    taken = types.arguments_of(tool.request)
    if listed is None:
        result: type[Result] = tool.result
        return derived_field(name, _asks(tool), taken, object_type(result) | None, description)
    wire = {"limit": "first", "cursor": "after"}
    paged = {wire.get(argument, argument): about for argument, about in taken.items()}
    return derived_field(name, _asks_for_a_page(tool), paged, _connection(tool.result, listed) | None, description)


def _asks(tool: Tool[Any, Any]) -> Callable[..., Any]:
    async def resolve(info: Any, **arguments: Any) -> Any:
        asking: Asking = info.context
        request = request_of(tool.request, arguments)
        if isinstance(request, FetchRequest) and request.uid and request.model_fields_set <= {"uid", "locale"}:
            return await asking.node(request.uid, request.locale)
        return await asking.ask(tool, request)

    return resolve


def _asks_for_a_page(tool: Tool[Any, Any]) -> Callable[..., Any]:
    async def resolve(info: Any, first: Any = strawberry.UNSET, after: Any = strawberry.UNSET, **arguments: Any) -> Any:
        request = request_of(tool.request, {**arguments, "limit": first, "cursor": after})
        return Page(await info.context.ask(tool, request), began_later=bool(after))

    return resolve


def request_of(model: type[Request], arguments: Mapping[str, Any]) -> Any:
    """Raises RequestInvalid, and what the request's own fields raise."""
    held = {name: given(value) for name, value in arguments.items() if value is not strawberry.UNSET}
    try:
        return model.model_validate(held)
    except ValidationError as error:
        raise RequestInvalid(error, _SHAPE) from None


def _listed(result: type[Result]) -> str | None:
    """Of a result with pages, the field that holds the page's entries."""
    if "next_cursor" not in result.model_fields:
        return None
    return next(name for name, about in result.model_fields.items() if _entry(about.annotation))


def _entry(annotation: Any) -> type[Result] | None:
    of = get_args(annotation)[0] if get_origin(annotation) is list else None
    return of if isinstance(of, type) and issubclass(of, Result) else None


def _connection(result: type[Result], listed: str) -> type:
    """Relay's connection; what the tool says besides its entries stands beside the edges."""
    model = _entry(result.model_fields[listed].annotation)
    assert model is not None
    name, entry = types.type_name(model), object_type(model)
    edge = create_type(
        f"{name}Edge",
        [
            derived_field("node", lambda root: root.node, {}, entry),
            derived_field(
                "cursor",
                lambda root: root.cursor,
                {},
                str | None,
                "Of a page's last entry, where another page follows.",
            ),
        ],
    )

    def edges(root: Any) -> Any:
        entries = getattr(root.result, listed)
        return [
            Edge(entry, root.result.next_cursor if place == len(entries) else None)
            for place, entry in enumerate(entries, start=1)
        ]

    def page_info(root: Any) -> Any:
        end = root.result.next_cursor
        return PageInfo(
            has_next_page=end is not None, has_previous_page=root.began_later, start_cursor=None, end_cursor=end
        )

    beside = [
        result_field(name, about, part=lambda root: root.result)
        for name, about in result.model_fields.items()
        if name not in (listed, "next_cursor")
    ]
    shown = [
        derived_field("edges", edges, {}, list[edge]),  # type: ignore[valid-type]
        derived_field("page_info", page_info, {}, PageInfo),
    ]
    return create_type(f"{name}Connection", [*shown, *beside], description=result.__dict__.get("__doc__"))


def _facets() -> StrawberryField:
    async def resolve(info: Any, **arguments: Any) -> Any:
        request = request_of(ListRequest, {"facets": arguments.pop("names"), "limit": 1, **arguments})
        return types.facets((await info.context.ask(catalogue.LIST, request)).facets)

    names = Argument(list[str], is_required=True, description="Properties to count by, such as kind.")
    taken = {"names": names, "filter": types.arguments_of(ListRequest)["filter"]}
    return derived_field(
        "facets", resolve, taken, list[Facet] | None, "How many nodes of the filtered estate hold each value."
    )
