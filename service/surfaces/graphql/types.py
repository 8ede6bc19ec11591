"""The schema's types, derived from the tools' requests and results: a field that appears there appears here.

Maps become lists where their values are counts, and the JSON scalar otherwise. Whatever names a node by uid and locale
has the field `node`, that node whole.
"""

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import strawberry
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from strawberry.annotation import StrawberryAnnotation
from strawberry.scalars import JSON
from strawberry.tools import create_type
from strawberry.types.field import StrawberryField

from service.domain.filters import NodeFilter
from service.domain.requests import FilterValues, Request
from service.domain.results import NodeResult, Result
from service.surfaces.graphql.asking import Asking

Info = strawberry.Info[Asking, None]


@strawberry.type(description="How many nodes.")
class Count:
    name: str
    count: int


@strawberry.type(description="The values of one property in the filtered estate, most first.")
class Facet:
    name: str
    values: list[Count]


def counts(mapping: Mapping[str, int]) -> list[Count]:
    return [Count(name=name, count=count) for name, count in mapping.items()]


def facets(mapping: Mapping[str, Mapping[str, int]]) -> list[Facet]:
    return [Facet(name=name, values=counts(values)) for name, values in mapping.items()]


_LISTED: Mapping[Any, tuple[Any, Callable[[Any], Any]]] = {
    dict[str, int]: (list[Count], counts),
    dict[str, dict[str, int]]: (list[Facet], facets),
}


@cache
def object_type(model: type[Any]) -> type:
    """A result as the schema has it: SectionResult is called Section."""
    shown = [result_field(name, about) for name, about in model.model_fields.items()]
    if model is not NodeResult and {"uid", "locale"} <= model.model_fields.keys():
        shown.append(_named_node())
    return create_type(type_name(model), shown, description=model.__dict__.get("__doc__"))


def type_name(model: type[BaseModel]) -> str:
    return model.__name__.removesuffix("Result")


def result_field(name: str, about: FieldInfo, part: Callable[[Any], Any] | None = None) -> StrawberryField:
    """One field of a result. `part` finds the result in what the parent's resolver gave, if that is something else."""
    listed = _LISTED.get(about.annotation)
    if listed is None and part is None:
        return plain_field(name, _output(about.annotation), about.description)
    shown, shape = listed or (_output(about.annotation), lambda value: value)

    def resolve(root: Any) -> Any:
        return shape(getattr(part(root) if part else root, name))

    return derived_field(name, resolve, {}, shown, about.description)


def plain_field(name: str, shown: Any, description: str | None = None) -> StrawberryField:
    """The attribute of that name as it stands: less work than any resolver, and most of an answer."""
    return StrawberryField(
        python_name=name, graphql_name=None, type_annotation=StrawberryAnnotation(shown), description=description
    )


@dataclass(frozen=True, slots=True)
class Argument:
    """What a field or an input takes; `is_required` or it may be left out, and null."""

    type: Any
    is_required: bool
    description: str | None = None

    @property
    def annotation(self) -> Any:
        return self.type if self.is_required else self.type | None


def derived_field(
    name: str,
    resolve: Callable[..., Any],
    arguments: Mapping[str, Argument],
    returns: Any,
    description: str | None = None,
) -> StrawberryField:
    """A field whose arguments and type are known as values."""
    own = [
        one.replace(annotation=Info if one.name == "info" else Any)
        for one in inspect.signature(resolve).parameters.values()
        if one.kind is not inspect.Parameter.VAR_KEYWORD and one.name not in arguments
    ]
    taken = [
        inspect.Parameter(
            argument,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if about.is_required else strawberry.UNSET,
            annotation=Annotated[about.annotation, strawberry.argument(description=about.description)],
        )
        for argument, about in arguments.items()
    ]
    resolve.__name__ = name
    resolve.__signature__ = inspect.Signature([*own, *taken], return_annotation=returns)  # type: ignore[attr-defined]
    resolve.__annotations__ = {one.name: one.annotation for one in (*own, *taken)} | {"return": returns}
    made: StrawberryField = strawberry.field(resolver=resolve, description=description)
    return made


def arguments_of(model: type[Request]) -> dict[str, Argument]:
    """A request's fields. What is left out is left out of the request, too: its defaults are there."""
    return {
        name: Argument(_input(about.annotation), about.is_required(), about.description)
        for name, about in model.model_fields.items()
    }


def given(value: Any) -> Any:
    """What a caller gave, as plain values by the names of the wire; what was left out stays out."""
    if is_dataclass(value) and not isinstance(value, type):
        held = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: given(one) for name, one in held.items() if one is not strawberry.UNSET}
    return [given(one) for one in value] if isinstance(value, list) else value


def _output(annotation: Any) -> Any:
    annotation = _bare(annotation)
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        return _optional(annotation, _output)
    if origin is Literal:
        return str
    if origin is list:
        return list[_output(get_args(annotation)[0])]  # type: ignore[misc]
    if origin is tuple:
        return list[get_args(annotation)[0]]  # type: ignore[misc]
    if annotation in (str, int, float, bool):
        return annotation
    if _is_model(annotation, Result):
        return object_type(annotation)
    return JSON | None if annotation is Any else JSON  # anything may be null


def _input(annotation: Any) -> Any:
    annotation = _bare(annotation)
    origin = get_origin(annotation)
    if annotation == FilterValues:
        return filter_input()
    if origin in (Union, types.UnionType):
        return _input(next(one for one in get_args(annotation) if one is not types.NoneType))
    if origin is list:
        return list[_input(get_args(annotation)[0])]  # type: ignore[misc]
    if annotation in (str, int, float, bool):
        return annotation
    return input_type(annotation) if _is_model(annotation, Request) else JSON


@cache
def input_type(model: type[Request]) -> type:
    """A request within a request."""
    return _make_input(f"{model.__name__.removesuffix('Request')}Input", arguments_of(model), model.__doc__)


@cache
def filter_input() -> type:
    """Every filter there is, each a list of values of which any suffices."""
    taken = {field.name: Argument(list[str], is_required=False) for field in fields(NodeFilter)}
    return _make_input("NodeFilterInput", taken, "Values of one filter widen, different filters narrow.")


def _make_input(name: str, taken: Mapping[str, Argument], description: str | None) -> type:
    made = types.new_class(name, (), {}, lambda body: body.update(_input_body(taken)))
    return strawberry.input(made, description=description)


def _input_body(taken: Mapping[str, Argument]) -> dict[str, Any]:
    """What a class statement would hold; the required come first, as a dataclass wants them."""
    ordered = sorted(taken, key=lambda name: not taken[name].is_required)
    body: dict[str, Any] = {"__annotations__": {name: taken[name].annotation for name in ordered}}
    for name, about in taken.items():
        default = {} if about.is_required else {"default": strawberry.UNSET}
        body[name] = strawberry.field(description=about.description, **default)
    return body


def _named_node() -> StrawberryField:
    async def node(root: Any, info: Any) -> Any:
        return None if root.uid is None else await info.context.node(root.uid, root.locale)

    where: Any = Annotated["Node", strawberry.lazy(__name__)] | None
    return derived_field("node", node, {}, where, "That node whole.")


def _optional(annotation: Any, shown: Callable[[Any], Any]) -> Any:
    return shown(next(one for one in get_args(annotation) if one is not types.NoneType)) | None


def _bare(annotation: Any) -> Any:
    return _bare(get_args(annotation)[0]) if get_origin(annotation) is Annotated else annotation


def _is_model(annotation: Any, family: type[BaseModel]) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, family)


Node = object_type(NodeResult)
