"""Errors as GraphQL tells them: `extensions` has what the problem of the same error has on HTTP."""

from collections.abc import Callable
from typing import Any

from graphql import GraphQLError

from service.surfaces.encoding import storable
from service.surfaces.problems import Problem, SurfaceRefused, problem_of

_TOLD = {"code", "suggestion", "line", "column", "excerpt", "engine", "reason", "instance"}


class DocumentInvalid(SurfaceRefused):
    """What GraphQL itself refuses: syntax, names, types, variables. The code is that of any other wrong shape."""

    code = "request_invalid"


def failure_of(error: GraphQLError, seen: Callable[[Problem], None]) -> dict[str, Any]:
    """`message`, `locations` and `path` as the specification has them; `seen` is told of the problem."""
    cause = error.original_error
    if cause is None or isinstance(cause, GraphQLError):
        cause = DocumentInvalid(error.message)
    problem = problem_of(cause)
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
