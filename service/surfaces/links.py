"""What requests that fit into a link have in common: filters by name and value, and the way to the next page."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Request
from pydantic import ConfigDict, Field
from starlette.convertors import PathConvertor, register_url_convertor

from service.domain.requests import FilterValues
from service.domain.requests import Request as ToolRequest


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
