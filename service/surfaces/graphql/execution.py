"""One operation from its text to its answer. Importing this loads GraphQL's library, which takes a while."""

from collections.abc import Callable
from typing import Any

from service.surfaces.graphql.asking import Asking
from service.surfaces.graphql.failures import failure_of
from service.surfaces.graphql.schema import schema
from service.surfaces.problems import Problem


async def execute(
    query: str,
    variables: dict[str, Any] | None,
    operation_name: str | None,
    asking: Asking,
    seen: Callable[[Problem], None],
) -> dict[str, Any]:
    """The response; without `data` nothing was executed. `seen` is told of every problem in it."""
    try:
        result = await schema().execute(query, variables, context_value=asking, operation_name=operation_name)
    finally:
        await asking.close()
    errors = [failure_of(error, seen) for error in result.errors or ()]
    told: dict[str, Any] = {"errors": errors} if errors else {}
    if result.data is not None or any("path" in error for error in errors):
        told["data"] = result.data
    return told
