"""A tool's request as a GraphQL operation that selects all there is, and its answer as every other surface has it."""

from types import UnionType
from typing import Annotated, Union, get_args, get_origin

from graphql import (
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLObjectType,
    build_schema,
    get_named_type,
    get_nullable_type,
)

from service.domain.results import Result
from service.surfaces.graphql.schema import NAMES, schema

SCHEMA = build_schema(schema().as_str())


def field_name(tool):
    head, *tail = NAMES.get(tool.name, tool.name).split("_")
    return head + "".join(word.capitalize() for word in tail)


def field_of(tool):
    return SCHEMA.query_type.fields[field_name(tool)]


async def over_graphql(client, tool, request):
    """The result as plain values, or the code of its refusal; None for what GraphQL can't say."""
    wire = {"limit": "first", "cursor": "after"} if "first" in field_of(tool).args else {}
    given = {wire.get(name, name): value for name, value in request.items()}
    taken = field_of(tool).args
    if not all(is_sayable(taken[name].type, value) for name, value in given.items() if name in taken):
        return None
    answer = await client.post("/graphql", json={"query": operation(tool, given), "variables": given})
    told = answer.json()
    if "errors" in told:
        return told["errors"][0]["extensions"]["code"]
    return restored(tool.result, told["data"]["asked"])


def is_sayable(kind, value):
    """GraphQL takes one value for a list of one, and has a field for each filter that there is."""
    kind = get_nullable_type(kind)
    if isinstance(kind, GraphQLList) and value is not None:
        return isinstance(value, (list, dict)) and all(is_sayable(kind.of_type, one) for one in value)
    if isinstance(kind, GraphQLInputObjectType) and isinstance(value, dict):
        if kind.name == "NodeFilterInput" and not value.keys() <= kind.fields.keys():
            return False
        return all(is_sayable(kind.fields[name].type, one) for name, one in value.items() if name in kind.fields)
    return True


def operation(tool, given):
    taken = field_of(tool).args
    declared = ", ".join(f"${name}: {taken[name].type}" for name in given if name in taken)
    passed = ", ".join(f"{name}: ${name}" if name in taken else f"{name}: 1" for name in given)
    called = field_name(tool) + (f"({passed})" if passed else "")
    kind = get_named_type(field_of(tool).type)
    return f"query{f'({declared})' if declared else ''} {{ asked: {called} {{ {selection(kind)} }} }}"


def selection(kind):
    return " ".join(
        selected(name, get_named_type(field.type)) for name, field in kind.fields.items() if not leads_on(kind, name)
    )


def leads_on(kind, name):
    """The way from whatever names a node to that node is no part of the result."""
    return name == "node" and {"uid", "locale"} <= kind.fields.keys()


def selected(name, kind):
    return f"{name} {{ {selection(kind)} }}" if isinstance(kind, GraphQLObjectType) else name


def restored(model, value):
    """The answer with its connections as lists, and its counts as maps."""
    if value is None:
        return None
    told = {}
    for about in model.model_fields.values():
        within = entry_of(about.annotation)
        if "pageInfo" in value and about.alias == "nextCursor":
            told[about.alias] = value["pageInfo"]["endCursor"]
        elif "pageInfo" in value and within and get_origin(about.annotation) is list:
            told[about.alias] = [restored(within, edge["node"]) for edge in value["edges"]]
        elif within:
            told[about.alias] = each(value[about.alias], lambda one, within=within: restored(within, one))
        elif about.annotation == dict[str, dict[str, int]]:
            told[about.alias] = {facet["name"]: counted(facet["values"]) for facet in value[about.alias]}
        elif about.annotation == dict[str, int]:
            told[about.alias] = counted(value[about.alias])
        else:
            told[about.alias] = value[about.alias]
    return told


def each(value, restore):
    return [restore(one) for one in value] if isinstance(value, list) else restore(value)


def counted(counts):
    return {count["name"]: count["count"] for count in counts}


def entry_of(annotation):
    """The result that a field holds, one or many of it."""
    if isinstance(annotation, type) and issubclass(annotation, Result):
        return annotation
    if get_origin(annotation) in (list, tuple, Union, UnionType, Annotated):
        return next((found for one in get_args(annotation) if (found := entry_of(one))), None)
    return None
