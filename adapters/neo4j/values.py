"""Python values → what Bolt can carry, and Bolt's values → plain JSON."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from neo4j.graph import Entity, Path
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

from adapters.indexing.moments import shortest_moment
from adapters.indexing.stored_passage import engine_text

TITLE_TERMS = "titleTerms"
NAME_BEGINNINGS = "nameBeginnings"
NAME_AUDIENCES = "nameAudiences"
ALIAS_WORDS = "aliasWords"

INDEX_ONLY = frozenset({TITLE_TERMS, NAME_BEGINNINGS, NAME_AUDIENCES, ALIAS_WORDS})
"""The properties that the full-text indexes need and nobody else: they leave with no answer."""


def whole_word(text: str) -> str:
    """A visibility class or an alias as one word of a full-text index, whatever it holds."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def to_parameter(value: Any) -> Any:
    """Lone surrogates become escapes, as everywhere they are stored: Bolt speaks UTF-8."""
    if isinstance(value, str):
        return engine_text(value)
    if isinstance(value, Mapping):
        return {engine_text(str(name)): to_parameter(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [to_parameter(item) for item in value]
    return value


def to_plain(value: Any) -> Any:
    """JSON values only: times as ISO 8601, points as GeoJSON, whole nodes as maps."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case DateTime() | Date() | Time() | Duration():
            return shortest_moment(value.iso_format())
        case Point():
            return _geo_json(value)
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case Entity():
            return to_plain(dict(value.items()))
        case Path():
            return [to_plain(node) for node in value.nodes]
        case Mapping():
            return {str(name): to_plain(item) for name, item in value.items() if name not in INDEX_ONLY}
        case _:
            return [to_plain(item) for item in value]


_GEOGRAPHIC = frozenset({4326, 4979})
"""The reference systems of WGS 84, in two and three dimensions: the one that GeoJSON means."""


def _geo_json(point: Point) -> dict[str, Any]:
    """Longitude before latitude; a point of a plane says so by its `srid`."""
    plain: dict[str, Any] = {"type": "Point", "coordinates": list(point)}
    return plain if point.srid in _GEOGRAPHIC else {**plain, "srid": point.srid}
