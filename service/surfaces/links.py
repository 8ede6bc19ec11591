"""What requests that fit into a link have in common: filters by name and value, and the way to the next page."""

from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from typing import Annotated, Any, get_origin
from urllib.parse import quote

from fastapi import Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.responses import Response

from service.domain.requests import FilterValues
from service.domain.requests import Request as ToolRequest
from service.surfaces.problems import ParameterRepeated


class UidConvertor(PathConvertor):
    """The rest of the path, line breaks included: Starlette's own stops at them."""

    regex = "(?s:.*)"


register_url_convertor("uid", UidConvertor())

FilterPair = Annotated[str, Field(pattern=r"^[^=]+=", examples=["kind=page"])]


class Filtered(ToolRequest):
    """`filter=name=value`, repeated: values of one name widen, different names narrow."""

    model_config = ConfigDict(strict=False)  # a link holds nothing but strings

    filter: list[FilterPair] = Field(default_factory=list, description="name=value; may be repeated.")

    def filter_values(self) -> FilterValues:
        values: FilterValues = {}
        for pair in self.filter:
            name, _, value = pair.partition("=")
            values.setdefault(name, []).append(value)
        return values


class InLocale(ToolRequest):
    """Which locale's; another parameter is refused, for a misspelt one must not be passed over in silence."""

    model_config = ConfigDict(strict=False)

    locale: str | None = Field(default=None, description="Else the estate's default, else the first there is.")


class LinkRoute(APIRoute):
    """A route whose links give each parameter once, but those that hold several: of two values of one name one reader
    would take the first and another the last."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        several = frozenset(self._holding_several())

        async def handle_once(request: Request) -> Response:
            given = Counter(name for name, _ in request.query_params.multi_items())
            for name, times in given.items():
                if times > 1 and name not in several:
                    raise ParameterRepeated(name)
            return await handle(request)

        return handle_once

    def _holding_several(self) -> Iterator[str]:
        for parameter in self.dependant.query_params:
            held = parameter.field_info.annotation
            fields = held.model_fields if isinstance(held, type) and issubclass(held, BaseModel) else {}
            for name, field in fields.items():
                if get_origin(field.annotation) is list:
                    yield field.alias or name


def next_link(http: Request, cursor: str | None) -> dict[str, str]:
    """The header that leads to the next page (RFC 8288), relative to where the caller is; none on the last page."""
    if cursor is None:
        return {}
    pairs = [(name, value) for name, value in http.query_params.multi_items() if name != "cursor"]
    query = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in [*pairs, ("cursor", cursor)])
    return {"Link": f'<?{query}>; rel="next"'}


LINK_HEADER: dict[str, Any] = {
    "Link": {
        "description": 'The next page, rel="next"; absent on the last.',
        "schema": {"type": "string"},
    }
}
ETAG_HEADER: dict[str, Any] = {
    "ETag": {
        "description": "Names this answer for If-None-Match; absent from one that lacks what was down.",
        "schema": {"type": "string"},
    }
}
