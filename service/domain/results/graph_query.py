"""A graph query's rows, and what such a query may say."""

from typing import Any

from pydantic import Field

from service.domain.results.result import Result


class SchemaResult(Result):
    """What a graph query may say. Counts are of what the caller may see."""

    labels: dict[str, int] = Field(description="Node kind → nodes; the label is the kind with a capital.")
    edge_types: dict[str, int]
    properties: list[str]
    grammar: str = Field(description="The subset of Cypher that is allowed, its limits, and how to write it.")
    examples: list[str]
    content_root: str


class GraphQueryResult(Result):
    columns: list[str]
    rows: list[list[Any]]
    truncated: bool = Field(description="There are more rows than the limit, or the size of an answer, lets through.")
    cypher: str = Field(description="What was run: the canonical text that the guard rendered.")
    content_root: str
    took_ms: float
