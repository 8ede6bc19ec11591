"""Results as JSON bytes. Whatever an estate holds, an answer encodes."""

from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json


def encode(model: BaseModel, *, leave_out_none: bool = False) -> bytes:
    """UTF-8 JSON by the wire's names.

    Text that UTF-8 can't hold (a lone surrogate read from a source file) leaves with U+FFFD in its place.
    """
    try:
        return model.__pydantic_serializer__.to_json(model, by_alias=True, exclude_none=leave_out_none)
    except PydanticSerializationError:
        plain = model.model_dump(by_alias=True, exclude_none=leave_out_none)
        return to_json(_encodable(plain), inf_nan_mode="null", fallback=storable)


def encode_plain(value: Any) -> bytes:
    """The same for plain values."""
    try:
        return to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:
        return to_json(_encodable(value), inf_nan_mode="null", fallback=storable)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return {storable(key): _encodable(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(one) for one in value]
    return value


def storable(value: object) -> str:
    """Text that UTF-8 can hold: half a surrogate pair becomes U+FFFD."""
    return str(value).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
