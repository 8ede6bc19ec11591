"""The OpenAPI 3.1 document beyond what the types say: examples, and the problems every route can answer with."""

from collections.abc import Mapping
from importlib import metadata
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.models import Example
from fastapi.openapi.utils import get_openapi

from service.surfaces.problems import MEDIA_TYPE, Problem
from service.tools import catalogue

TITLE = "Cogitave Query"
DESCRIPTION = "Hybrid retrieval over a documentation estate, with a bounded read-only graph query."

_SCHEMA = "#/components/schemas/{model}"


def version() -> str:
    """The distribution's own."""
    return metadata.version("cogitave-query")


def _problem(description: str) -> dict[str, Any]:
    return {
        "description": description,
        "content": {MEDIA_TYPE: {"schema": {"$ref": _SCHEMA.format(model="Problem")}}},
    }


TOOL_PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: _problem("Refused: the request can't be answered as it stands."),
    401: _problem("Nobody known asks, or the credentials are not valid."),
    403: _problem("The caller may not do this."),
    404: _problem("No such node, or none that the caller may see."),
    408: _problem("The body was not complete in time."),
    410: _problem("The cursor's snapshot has been replaced; start again without the cursor."),
    413: _problem("The body is larger than what is read."),
    415: _problem("The body is no application/json."),
    421: _problem("The server is not known by the name that it was asked for."),
    422: _problem("The request has the wrong shape, or the guard refused the query."),
    429: _problem("Too many requests of this caller; Retry-After says when to try again."),
    500: _problem("A fault of the service."),
    503: _problem("Something that the service stands on can't serve now."),
    504: _problem("No answer before the deadline."),
}

CONTENT_PROBLEMS: dict[int | str, dict[str, Any]] = {
    304: {"description": "The caller has the answer already: If-None-Match names it."},
    **{status: TOOL_PROBLEMS[status] for status in TOOL_PROBLEMS},
}

HEALTH_PROBLEMS: dict[int | str, dict[str, Any]] = {
    500: _problem("A fault of the service."),
    504: _problem("No answer before the deadline."),
}

EXAMPLES: Mapping[str, dict[str, Example]] = {
    catalogue.SEARCH.name: {
        "words": {"summary": "A question", "value": {"text": "how are two rankings fused?"}},
        "narrowed": {
            "summary": "Units and pages for beginners, explained",
            "value": {
                "text": "publish a folder of Markdown",
                "limit": 5,
                "filter": {"kind": ["page", "unit"], "level": ["beginner"]},
                "explain": True,
            },
        },
        "profiled": {
            "summary": "From a page, by a developer who reads German",
            "value": {
                "text": "cursor stale",
                "currentDocument": "cogitave.query.errors",
                "profile": {"role": "developer", "locale": "de-de"},
            },
        },
    },
    catalogue.WHY_NOT.name: {
        "missing": {
            "summary": "A page that one expected",
            "value": {"search": {"text": "rank fusion"}, "uid": "cogitave.query.degradation"},
        }
    },
    catalogue.LIST.name: {
        "all": {"summary": "Everything, page by page", "value": {}},
        "modules": {"summary": "Modules", "value": {"filter": {"kind": ["module"]}, "limit": 100}},
    },
    catalogue.FETCH.name: {
        "uid": {"summary": "By uid", "value": {"uid": "cogitave.query.fusion"}},
        "locale": {"summary": "In one language", "value": {"uid": "cogitave.query.fusion", "locale": "en-us"}},
        "section": {
            "summary": "One section, in a small room",
            "value": {"uid": "cogitave.query.fusion", "section": "weights", "maxTokens": 500},
        },
    },
    catalogue.FETCH_BATCH.name: {
        "several": {
            "summary": "Two pages",
            "value": {"uids": ["cogitave.query.fusion", "cogitave.query.ranking"], "maxTokens": 2000},
        }
    },
    catalogue.SAMPLES.name: {
        "identifier": {
            "summary": "Code that uses an identifier, in Python",
            "value": {"text": "urlopen", "language": "py", "limit": 5},
        }
    },
    catalogue.RELATED.name: {
        "around": {"summary": "What lies around a page", "value": {"uid": "cogitave.query.fusion", "limit": 10}}
    },
    catalogue.LEARNING_PATH.name: {
        "goal": {
            "summary": "In two hours, by someone who knows the first module",
            "value": {"goal": "cogitave.query.search", "knownSkills": ["cogitave.query.install"], "minutes": 120},
        }
    },
    catalogue.XREF.name: {
        "several": {
            "summary": "An overload group and a page",
            "value": {"uids": ["System.Linq.Enumerable.Select*", "cogitave.query.fusion"]},
        }
    },
    catalogue.SUGGEST.name: {
        "begun": {"summary": "Half a title", "value": {"text": "fusion: how"}},
        "misspelt": {"summary": "A misspelt title", "value": {"text": "degradaton", "limit": 3}},
    },
    catalogue.GRAPH_QUERY.name: {
        "units": {
            "summary": "The units of a module",
            "value": {
                "cypher": "MATCH (u:Unit)-[:partOf]->(m:Module) WHERE m.uid = $module RETURN u.uid, u.title LIMIT 20",
                "parameters": {"module": "cogitave.query.search"},
            },
        }
    },
    catalogue.SCHEMA.name: {"whole": {"summary": "The whole schema", "value": {}}},
}
"""For each tool of the catalogue, by its name."""


def describe(app: FastAPI) -> None:
    """Make /openapi.json this module's document; built at the first request for it."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            built = get_openapi(title=TITLE, version=app.version, description=DESCRIPTION, routes=app.routes)
            schemas = built["components"]["schemas"]
            problem = Problem.model_json_schema(ref_template=_SCHEMA)
            schemas |= problem.pop("$defs", {}) | {"Problem": problem}
            built["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
            built["security"] = [{"bearer": []}, {}]  # none is needed where the server asks nobody
            app.openapi_schema = built
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]
