"""Version declarations → moniker ranges: `{ghes: '>=3.9', fpt: '*'}` → `>=ghes-3.9 || >=fpt`."""

import re
from collections.abc import Callable

from adapters.estates.yaml_document import YamlNode

_SPACED = re.compile(r"(>=|<=|!=|>|<|=)\s+")
_OPERATORS = (">=", "<=", ">", "<", "=", "!=")

FeatureVersions = Callable[[str], YamlNode | None]
"""A feature's name → the versions that have it."""


def range_of_versions(versions: YamlNode, feature_versions: FeatureVersions) -> str | None:
    """The moniker range of a `versions:` mapping; None where it names no version."""
    alternatives: list[str] = []
    for name, node in (versions.entries or {}).items():
        if name == "feature":
            features = [feature_versions(feature) for feature in node.texts()]
            alternatives += [
                inner
                for feature in features
                if feature is not None and (inner := range_of_versions(_plain(feature), feature_versions))
            ]
            continue
        alternatives += _alternatives(name, node.text() or "*")
    return " || ".join(dict.fromkeys(alternatives)) or None


def range_of_condition(condition: str, feature_versions: FeatureVersions) -> str | None:
    """The range of an `ifversion` condition; None where it is no plain choice of versions (`not`, `and`)."""
    alternatives: list[str] = []
    for part in condition.split(" or "):
        words = part.split()
        if len(words) == 3 and words[1] in _OPERATORS and words[1] != "!=":
            alternatives.append(f"{words[1]}{words[0]}-{words[2]}")
        elif len(words) == 1 and words[0] not in ("not", "and"):
            feature = feature_versions(words[0])
            inner = range_of_versions(_plain(feature), feature_versions) if feature is not None else f">={words[0]}"
            if inner is None:
                return None
            alternatives.append(inner)
        else:
            return None
    return " || ".join(dict.fromkeys(alternatives)) or None


def _alternatives(name: str, text: str) -> list[str]:
    """One product line: `*` is every release of it, `>=2.22 <3.1` a stretch, `3.4` one release."""
    if text == "*":
        return [f">={name}"]
    parts = [_SPACED.sub(r"\1", part).split() for part in text.split("||")]
    return [" ".join(_bound(name, word) for word in words) for words in parts if words]


def _bound(name: str, word: str) -> str:
    operator = next((sign for sign in _OPERATORS if word.startswith(sign)), "")
    return f"{operator or '='}{name}-{word[len(operator) :]}"


def _plain(feature: YamlNode) -> YamlNode:
    """A feature of other features is not followed: nothing refers in a circle."""
    entries = {name: node for name, node in (feature.entries or {}).items() if name != "feature"}
    return YamlNode(feature.line, feature.column, entries=entries)
