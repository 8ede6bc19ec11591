"""How large an answer is, and how much of it fits."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json


def size_of(value: Any) -> int:
    """Bytes of JSON, at least roughly: what JSON can't hold leaves in another form of about the same length."""
    try:
        if isinstance(value, BaseModel):
            return len(value.__pydantic_serializer__.to_json(value, by_alias=True))
        return len(to_json(value))
    except PydanticSerializationError:
        return len(repr(value))


def fitting(values: Iterable[Any], most: int, *, least: int = 1) -> int:
    """How many of these, from the first, fit into `most` bytes of JSON: `least` in any case, so that paging goes on."""
    taken = size = 0
    for value in values:
        size += size_of(value) + 1
        if size > most and taken >= least:
            break
        taken += 1
    return taken
