"""Two tools over MCP: what the graph holds, and a guarded query of it."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from cypher_guard import Violation, Visibility, guard
from cypher_guard.profile import Profile
from cypher_guard.proxy_database import DatabaseRefused, GuardedDatabase
from cypher_guard.proxy_schema import LiveSchema

SERVER_NAME = "cypher-guard"
_ERROR = {
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "line": {"type": "integer"},
        "column": {"type": "integer"},
        "excerpt": {"type": "string"},
        "suggestion": {"type": ["string", "null"]},
    },
    "required": ["code", "message"],
}
_ANSWER = {
    "type": "object",
    "properties": {
        "columns": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "array"}},
        "truncated": {"type": "boolean"},
        "cypher": {"type": "string"},
        "tookMs": {"type": "number"},
        "error": _ERROR,
    },
}
_KINDS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "count": {"type": ["integer", "null"]},
            "properties": {"type": "array", "items": {"type": "string"}},
        },
    },
}


@dataclass(frozen=True)
class GuardedGraph:
    """The tools: each takes the arguments of a call and gives its structured content."""

    database: GuardedDatabase
    profile: Profile
    schema: LiveSchema
    visibility: Visibility | None = None

    async def describe_schema(self, _arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "labels": [kind.as_mapping() for kind in self.schema.labels],
            "relationshipTypes": [kind.as_mapping() for kind in self.schema.edge_types],
            "guide": self.profile.describe(),
        }

    async def query_graph(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        cypher, params = arguments.get("cypher"), arguments.get("params", {})
        if not isinstance(cypher, str):
            raise Violation("bad_parameter", "query_graph needs a string called cypher")
        if not isinstance(params, dict):
            raise Violation("bad_parameter", "params is an object of values by name")
        query = guard(cypher, params, self.profile, visibility=self.visibility)
        answer = await self.database.run(query, self.profile)
        return {
            "columns": list(answer.columns),
            "rows": answer.rows,
            "truncated": answer.truncated,
            "cypher": query.text,
            "tookMs": answer.took_ms,
        }

    def tools(self) -> list[Tool]:
        read_only = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True)
        return [
            Tool(
                name="describe_schema",
                title="What the graph holds",
                description="Labels, relationship types and properties with counts, the limits, and example queries. "
                "Call it once before the first query_graph; it takes no arguments.",
                input_schema={"type": "object", "properties": {}, "additionalProperties": False},
                output_schema={
                    "type": "object",
                    "properties": {
                        "labels": _KINDS,
                        "relationshipTypes": _KINDS,
                        "guide": {"type": "string"},
                        "error": _ERROR,
                    },
                },
                annotations=read_only,
            ),
            Tool(
                name="query_graph",
                title="Query the graph",
                description="Runs one bounded read-only Cypher query. A refusal says what to change. "
                "Not for writing, for procedures, or for reading the whole graph.\n\n" + self.profile.describe(),
                input_schema={
                    "type": "object",
                    "properties": {
                        "cypher": {"type": "string", "description": "The query; values go into params."},
                        "params": {"type": "object", "description": "Values for $names of the query."},
                    },
                    "required": ["cypher"],
                    "additionalProperties": False,
                },
                output_schema=_ANSWER,
                annotations=read_only,
            ),
        ]


def build_server(graph: GuardedGraph) -> Server[Any]:
    """The MCP server of these tools, for any transport."""
    handlers: dict[str, Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]] = {
        "describe_schema": graph.describe_schema,
        "query_graph": graph.query_graph,
    }

    async def list_tools(
        _context: ServerRequestContext[Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=graph.tools())

    async def call_tool(_context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        handler = handlers.get(params.name)
        if handler is None:
            return _failed({"code": "unknown_tool", "message": f"the tools are {', '.join(handlers)}"})
        try:
            content = await handler(params.arguments or {})
        except Violation as violation:
            return _failed(violation.as_dict())
        except DatabaseRefused as refusal:
            return _failed({"code": "database", "message": str(refusal)})
        return _result(content)

    return Server(SERVER_NAME, on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio(graph: GuardedGraph) -> None:
    """Serve until the client closes our standard input."""
    server = build_server(graph)
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


def _failed(error: Mapping[str, Any]) -> CallToolResult:
    result = _result({"error": dict(error)})
    result.is_error = True
    return result


def _result(content: dict[str, Any]) -> CallToolResult:
    mirror = json.dumps(content, ensure_ascii=False)
    return CallToolResult(content=[TextContent(text=mirror)], structured_content=content)
