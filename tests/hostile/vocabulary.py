"""The small vocabulary of the generated graphs and queries, and the profile that allows it."""

from __future__ import annotations

from typing import Any

EDGE_TYPES = ("partOf", "dependsOn", "xref", "appliesTo")
LABELS = ("Page", "Module", "Skill", "Product")
TEXTS = ("uid", "caption")
NUMBERS = ("level", "minutes")
PROPERTIES = (*TEXTS, *NUMBERS, "featured", "tags", "weight", "ordinal", "via")
WORDS = ("p1", "p2", "m1", "alpha", "beta", "ga", "", "it's", "x", "DELETE")

PROFILE: dict[str, Any] = {
    "edge_types": list(EDGE_TYPES),
    "labels": list(LABELS),
    "properties": list(PROPERTIES),
    "clauses": "extended",
    "allow_bare_arrows": True,
    "max_rows": 1_000_000,
    "default_rows": 1_000_000,
    "cost_limit": 10**15,
}
