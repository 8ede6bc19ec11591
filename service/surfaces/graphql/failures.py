"""Errors as GraphQL tells them: `extensions` has what the problem of the same error has on HTTP."""

from collections.abc import Callable
from typing import Any

from graphql import FieldNode, GraphQLError

from service.surfaces.encoding import storable
from service.surfaces.graphql.refusals import DocumentInvalid
from service.surfaces.problems import Problem, problem_of

_TOLD = {"code", "suggestion", "line", "column", "excerpt", "engine", "reason", "instance"}


def failure_of(error: GraphQLError, seen: Callable[[Problem], None]) -> dict[str, Any]:
    """`message`, `locations` and `path` as the specification has them; `seen` is told of the problem."""
    problem = problem_of(_cause(error))
    seen(problem)
    told: dict[str, Any] = {
        "message": problem.detail,
        "extensions": problem.model_dump(include=_TOLD, exclude_none=True),
    }
    if error.locations:
        told["locations"] = [{"line": place.line, "column": place.column} for place in error.locations]
    if error.path:
        told["path"] = [storable(step) if isinstance(step, str) else step for step in error.path]
    return told


def _cause(error: GraphQLError) -> Exception:
    """What a tool raised; or that the document is at fault; or the error itself, when a result did not fit its type."""
    if error.original_error is not None and not isinstance(error.original_error, GraphQLError):
        return error.original_error
    is_of_a_result = error.path is not None and all(isinstance(node, FieldNode) for node in error.nodes or ())
    return error if is_of_a_result else DocumentInvalid(error.message)
