"""The routes of the content API: links in, documents out. Translation only."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from service.domain.documents import CatalogResult, Document
from service.domain.requests import EstateRequest, FilterValues, NodeRequest
from service.settings import Settings
from service.surfaces import openapi
from service.surfaces.conditional import StrongValidator
from service.surfaces.content import language_models, ndjson, xref_map
from service.surfaces.content.catalog_query import CatalogQuery, catalog_request
from service.surfaces.content.streams import EstatePages, Stream
from service.surfaces.dependencies import Caller, Tools
from service.surfaces.encoding import encode
from service.surfaces.links import ETAG_HEADER, LINK_HEADER, Filtered, InLocale, LinkRoute, next_link
from service.tools import estate

STREAMS = frozenset({"/content", "/xrefmap.yml", "/llms.txt"})
"""Paths whose answer takes as long as it is read."""

Locale = Annotated[InLocale, Query()]

publishers = APIRouter(route_class=LinkRoute, tags=["content"], responses=openapi.CONTENT_PROBLEMS)


class EstateQuery(Filtered):
    """Which documents."""


def _text(media_type: str, schema: dict[str, Any], description: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": description, "content": {media_type: {"schema": schema}}, "headers": ETAG_HEADER}}


@publishers.get(
    "/content",
    response_class=Response,
    responses=_text(ndjson.MEDIA_TYPE, {"type": "string"}, "One JSON object a line: begin, document …, end."),
    summary="Every document, as a stream",
)
async def estate_stream(
    query: Annotated[EstateQuery, Query()], http: Request, toolbox: Tools, caller: Caller, validator: StrongValidator
) -> Response:
    """All of one snapshot, or a last line that says why not. A reader sets the pace, and one who leaves ends it."""
    if validator.is_fresh:
        return validator.not_modified()
    request = EstateRequest(filter=query.filter_values())
    pages = await EstatePages.open(toolbox, estate.DOCUMENTS, request, caller)
    return Stream(
        ndjson.lines(pages, http.app.state.problems),
        media_type=ndjson.MEDIA_TYPE,
        headers=validator.headers(pages.content_root),
        silence=_silence(http),
    )


@publishers.get(
    "/content/{uid:uid}",
    response_model=Document,
    responses={200: {"headers": ETAG_HEADER}},
    summary="One document",
)
async def one_document(
    uid: Annotated[str, Path(description="The uid, percent-encoded.", examples=["cogitave.query.fusion"])],
    query: Locale,
    toolbox: Tools,
    caller: Caller,
    validator: StrongValidator,
) -> Response:
    """A node in the estate's own JSON; what it lacks is left out. A uid that is `..` has no link: POST /v1/fetch."""
    if validator.is_fresh:
        return validator.not_modified()
    document = await toolbox.call(estate.DOCUMENT, NodeRequest(uid=uid, locale=query.locale), caller)
    body = encode(document, leave_out_none=True)
    return validator.answer(body, "application/json", content_root=document.content_root)


@publishers.get(
    "/catalog",
    response_model=CatalogResult,
    responses={200: {"headers": {**ETAG_HEADER, **LINK_HEADER}}},
    summary="The catalog",
)
async def catalog(
    query: Annotated[CatalogQuery, Query()], http: Request, toolbox: Tools, caller: Caller, validator: StrongValidator
) -> Response:
    """Learning paths, modules, units and pages by Microsoft Learn's filters, with the vocabularies in use."""
    request = catalog_request(query, http)
    if validator.is_fresh:
        return validator.not_modified()
    result = await toolbox.call(estate.CATALOG, request, caller)
    return validator.answer(
        encode(result, leave_out_none=True),
        "application/json",
        content_root=result.content_root,
        is_whole=not result.degraded,
        more=next_link(http, result.next_cursor),
    )


@publishers.get(
    "/xrefmap.yml",
    response_class=Response,
    responses=_text(xref_map.MEDIA_TYPE, {"type": "object"}, "docfx's YamlMime:XRefMap."),
    summary="The cross-reference map",
)
async def cross_references(
    query: Locale, http: Request, toolbox: Tools, caller: Caller, validator: StrongValidator
) -> Response:
    """uid, name and address of all that can be referred to, for docfx's `xref`. Name it there as it is."""
    if validator.is_fresh:
        return validator.not_modified()
    request = EstateRequest(filter={"kind": list(xref_map.KINDS), **_locale(query.locale, http)})
    pages = await EstatePages.open(toolbox, estate.SUMMARIES, request, caller)
    return Stream(
        xref_map.yaml(pages),
        media_type=xref_map.MEDIA_TYPE,
        headers=validator.headers(pages.content_root),
        silence=_silence(http),
    )


@publishers.get(
    "/llms.txt",
    response_class=Response,
    responses=_text("text/plain", {"type": "string"}, "Markdown: a heading a kind, a link a node."),
    summary="What there is to read, for language models",
)
async def index_for_language_models(
    query: Locale, http: Request, toolbox: Tools, caller: Caller, validator: StrongValidator
) -> Response:
    """Learning paths, modules and pages with their addresses and summaries."""
    if validator.is_fresh:
        return validator.not_modified()
    sections = [
        (
            heading,
            await EstatePages.open(
                toolbox, estate.SUMMARIES, EstateRequest(filter={"kind": [kind], **_locale(query.locale, http)}), caller
            ),
        )
        for kind, heading in language_models.SECTIONS
    ]
    return Stream(
        language_models.markdown(sections, _settings(http).result_bytes),
        media_type=language_models.MEDIA_TYPE,
        headers=validator.headers(sections[0][1].content_root),
        silence=_silence(http),
    )


def _locale(wished: str | None, http: Request) -> FilterValues:
    return {"locale": [_settings(http).default_locale if wished is None else wished]}


def _silence(http: Request) -> float:
    return _settings(http).stream_silence / 1000


def _settings(http: Request) -> Settings:
    settings: Settings = http.app.state.settings
    return settings
