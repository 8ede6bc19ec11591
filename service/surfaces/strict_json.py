"""JSON as RFC 8259 would have it: UTF-8, no NaN, no half of a surrogate pair, no bottomless nesting, no name twice."""

import json
from typing import Any

from pydantic_core import from_json
from starlette.datastructures import Headers


def is_json(headers: Headers) -> bool:
    """Whether a body is sent as JSON, or as one of its dialects."""
    main, _, sub = headers.get("content-type", "").partition(";")[0].strip().lower().partition("/")
    return main == "application" and (sub == "json" or sub.endswith("+json"))


def read_json(body: bytes) -> Any:
    """Raises ValueError that says what is wrong and, where it can, at which place."""
    value = from_json(body, allow_inf_nan=False)
    # Two readers of one document may each take another of two values: what one of them checked, the other never saw.
    json.loads(body, object_pairs_hook=_refuse_twice)
    return value


def _refuse_twice(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError("an object has a name twice")
