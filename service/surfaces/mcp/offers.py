"""The tools as MCP lists them: made from the catalogue, and two more under the names that generic clients look for."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import mcp_types as types
from pydantic import Field, ValidationError

from service.domain.requests import NodeRequest, Request, SearchRequest, Text
from service.domain.results import Result
from service.settings import Settings
from service.surfaces.mcp.resources import ResourceName, markdown
from service.surfaces.problems import RequestInvalid
from service.tools import catalogue
from service.tools.catalogue import Asked, Given, Tool

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_ANNOTATIONS = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_FAILURE: Mapping[str, Any] = {
    "type": "object",
    "description": "Of a call that was refused or failed: what is wrong, and what to do.",
    "properties": {
        "code": {"type": "string", "description": "Stable: what a program branches on."},
        "message": {"type": "string"},
        "suggestion": {"type": "string"},
        "line": {"type": "integer"},
        "column": {"type": "integer"},
        "excerpt": {"type": "string"},
        "engine": {"type": "string"},
        "reason": {"type": "string"},
    },
    "required": ["code", "message"],
}


class Ask(Protocol):
    """Calls one tool of the catalogue for whoever asks."""

    async def __call__(self, tool: Tool[Asked, Given], request: Asked) -> Given: ...


@dataclass(frozen=True, slots=True)
class Offer:
    """One tool: how it is listed, and what a call does."""

    tool: types.Tool
    request: type[Request]
    run: Callable[[Any, Ask], Awaitable[Result]]

    async def call(self, arguments: Mapping[str, Any], ask: Ask) -> Result:
        """Raises RequestInvalid for arguments of another shape than the input schema's, and what the tool raises."""
        try:
            request = self.request.model_validate(arguments)
        except ValidationError as error:
            raise RequestInvalid(error, "The tool's inputSchema describes the right one.") from None
        return await self.run(request, ask)


class GenericSearch(Request):
    """What a client that knows nothing of this service searches by."""

    query: Text = Field(description="The question, in words; no query syntax.")


class GenericFetch(Request):
    """What a client that knows nothing of this service fetches by."""

    id: Text = Field(description="The `id` of a search's result, or a uid.")


class GenericHit(Result):
    id: str
    title: str
    url: str


class GenericHits(Result):
    results: list[GenericHit]


class GenericDocument(Result):
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


def offers(settings: Settings) -> dict[str, Offer]:
    """Every tool by its name. A node of the default locale has an id that names no locale."""
    default_locale, budget = settings.default_locale, settings.agent_tokens

    async def search(request: GenericSearch, ask: Ask) -> GenericHits:
        found = await ask(catalogue.SEARCH, SearchRequest(text=request.query))
        hits = []
        for hit in found.hits:
            name = ResourceName.of(hit.kind, hit.uid, hit.locale, default_locale)
            hits.append(GenericHit(id=str(name), title=hit.title, url=hit.url or str(name)))
        return GenericHits(results=hits)

    async def fetch(request: GenericFetch, ask: Ask) -> GenericDocument:
        asked = ResourceName.read(request.id) if ResourceName.is_one(request.id) else None
        uid, locale = (asked.uid, asked.locale) if asked else (request.id, None)
        node = await ask(catalogue.FETCH, NodeRequest(uid=uid, locale=locale, max_tokens=budget))
        name = str(ResourceName.of(node.kind, node.uid, node.locale, default_locale))
        facts = {"kind": node.kind, "locale": node.locale, "contentHash": node.content_hash or ""}
        return GenericDocument(id=name, title=node.title, text=markdown(node), url=node.url or name, metadata=facts)

    generic = [
        _offer(
            "search",
            "Search",
            "Finds pages and course units by a question. The shape is what generic clients expect of `search`.",
            "Not for filters, paging, passages or reasons: docs_search.",
            GenericSearch,
            GenericHits,
            search,
        ),
        _offer(
            "fetch",
            "Fetch",
            "One result of `search` whole, as Markdown. The shape is what generic clients expect of `fetch`.",
            "Not for properties and edges of a node: docs_fetch.",
            GenericFetch,
            GenericDocument,
            fetch,
        ),
    ]
    listed = [_of_catalogue(tool, budget) for tool in catalogue.TOOLS] + generic
    return {offer.tool.name: offer for offer in listed}


def _of_catalogue(tool: Tool[Request, Result], budget: int) -> Offer:
    """An agent's context is small: what it does not bound itself, it gets `budget` tokens of."""

    async def run(request: Request, ask: Ask) -> Result:
        if getattr(request, "max_tokens", budget) is None:
            request = request.model_copy(update={"max_tokens": budget})
        return await ask(tool, request)

    return _offer(tool.name, tool.title, tool.description, tool.not_for, tool.request, tool.result, run)


def _offer(
    name: str,
    title: str,
    description: str,
    not_for: str,
    request: type[Request],
    result: type[Result],
    run: Callable[[Any, Ask], Awaitable[Result]],
) -> Offer:
    tool = types.Tool(
        name=name,
        title=title,
        description=f"{description} {not_for}",
        input_schema={"$schema": DIALECT, **request.model_json_schema()},
        output_schema=_output_schema(result),
        annotations=_ANNOTATIONS,
    )
    return Offer(tool, request, run)


def _output_schema(result: type[Result]) -> dict[str, Any]:
    """The result's own, or a failure: there are clients that hold a failed call's content against it as well."""
    schema = {"$schema": DIALECT, **result.model_json_schema(mode="serialization")}
    schema["properties"] = {**schema.get("properties", {}), "error": dict(_FAILURE)}
    schema["anyOf"] = [{"required": schema.pop("required", [])}, {"required": ["error"]}]
    return schema
