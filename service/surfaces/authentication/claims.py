"""Claims of a token → scopes and visibility classes, by the rules in the settings."""

from collections.abc import Mapping, Sequence
from typing import Any

from service.domain.principal import Principal, Scope
from service.settings import ClaimRule

_LISTS_IN_TEXT = ("scope", "scp")
"""Claims whose text is a list parted by blanks (RFC 8693, 4.2)."""


def principal_of(claims: Mapping[str, Any], rules: Sequence[ClaimRule]) -> Principal:
    """What the rules make of a token that was found to be valid. No rule, no right."""
    scopes: set[Scope] = set()
    audiences: set[str] = set()
    for rule in rules:
        for value in _values(claims, rule.claim):
            if rule.value in ("*", value):
                scopes.update(rule.scopes)
                audiences.update(name.replace("{value}", value) for name in rule.classes)
    return Principal(f"token:{claims['sub']}", frozenset(audiences), frozenset(scopes))


def _values(claims: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    """The texts at a path, such as ("realm_access", "roles"); anything else there counts for nothing."""
    found: Any = claims
    for step in path:
        found = found.get(step) if isinstance(found, Mapping) else None
    if isinstance(found, str):
        return found.split() if path[-1] in _LISTS_IN_TEXT else [found]
    return [value for value in found if isinstance(value, str)] if isinstance(found, list) else []
