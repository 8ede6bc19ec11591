"""The bounds, one small function each; every one raises Refusal or returns nothing."""

from cypher_guard.functions import FUNCTIONS, Function
from cypher_guard.profile import Profile
from cypher_guard.tree import LabelName, Length
from cypher_guard.violation import Refusal, suggest

_INSTEAD = {
    "id": "Use elementId(x), or the property uid.",
    "exists": "Use x IS NOT NULL, or EXISTS { pattern }.",
    "range": "Pass the list as a parameter.",
    "reduce": "Use a list comprehension, or an aggregate such as sum().",
    "shortestpath": "Use a variable length with an upper bound and ORDER BY length(p).",
    "rels": "Use relationships(p).",
    "rand": "Order by a property; answers must be repeatable.",
}


def check_text_size(profile: Profile, text: str) -> None:
    """The text in UTF-8 is within max_text."""
    if len(text) > profile.max_text or len(text.encode()) > profile.max_text:
        raise Refusal("too_large", f"the query is longer than {profile.max_text} bytes", None)


def check_relationship_type(profile: Profile, name: LabelName) -> None:
    """The type is one of the profile's."""
    if name.name not in profile.edge_types:
        raise Refusal(
            "unknown_relationship",
            f"there is no relationship type {name.name}",
            name.position,
            suggest(name.name, profile.edge_types) or f"The types are {', '.join(sorted(profile.edge_types)[:12])}.",
        )


def check_bare_arrow(profile: Profile, position: int) -> None:
    """An arrow without brackets stands only where the profile lets it mean all types."""
    if not profile.allow_bare_arrows:
        raise Refusal(
            "unknown_relationship",
            "a relationship without brackets names no type",
            position,
            "Name the types, -[:TYPE]->, or write -[]-> for all of them.",
        )


def check_label(profile: Profile, name: str, position: int) -> None:
    """The label is one of the profile's."""
    if profile.labels is not None and name not in profile.labels:
        raise Refusal("unknown_label", f"there is no label {name}", position, suggest(name, profile.labels))


def check_property(profile: Profile, key: str, position: int) -> None:
    """The property is one of the profile's."""
    allowed = profile.properties
    if allowed is not None and key not in allowed and key not in profile.identity_properties:
        raise Refusal("unknown_property", f"there is no property {key}", position, suggest(key, allowed))


def check_function(profile: Profile, name: str, position: int) -> Function | None:
    """The function is one of the profile's; None when the profile allows one without a known signature."""
    key = name.lower()
    if key not in profile.function_keys:
        raise Refusal(
            "unknown_function",
            f"the function {name[:80]}() is not allowed",
            position,
            _INSTEAD.get(key) or suggest(name, profile.functions),
        )
    return FUNCTIONS.get(key)


def check_arguments(function: Function, count: int, position: int) -> None:
    """The function takes this many arguments."""
    if not function.accepts(count):
        most = "any number" if function.repeats else str(len(function.arguments))
        wanted = str(function.required) if most == str(function.required) else f"{function.required} to {most}"
        raise Refusal("bad_arguments", f"{function.name}() takes {wanted} arguments, not {count}", position)


def check_regex(profile: Profile, position: int) -> None:
    """Regular expressions stand only where the profile allows them: one can run for ever."""
    if not profile.allow_regex:
        raise Refusal("unknown_function", "=~ is not allowed", position, "Use STARTS WITH, ENDS WITH or CONTAINS.")


def check_length(profile: Profile, length: Length) -> int:
    """A variable length has an upper bound within max_hops; returns the bound."""
    most = length.maximum
    if most is None:
        raise Refusal(
            "unbounded",
            "a variable length needs an upper bound",
            length.position,
            f"Write *{length.minimum}..{max(profile.max_hops, length.minimum)} at most."
            if length.minimum <= profile.max_hops
            else None,
        )
    if most > profile.max_hops:
        raise Refusal(
            "too_deep",
            f"a variable length may have at most {profile.max_hops} hops, not {most}",
            length.position,
            f"Write *{min(length.minimum, profile.max_hops)}..{profile.max_hops}.",
        )
    if length.minimum > most:
        raise Refusal("syntax", "the lower bound is above the upper one", length.position)
    return most


def check_total_hops(profile: Profile, hops: int, position: int) -> None:
    """All relationships of the query together stay within max_total_hops."""
    if hops > profile.max_total_hops:
        raise Refusal(
            "too_deep",
            f"the whole query may cross at most {profile.max_total_hops} hops",
            position,
            "Ask in several queries, each starting from what the last one found.",
        )


def check_connected(profile: Profile, apart: int, position: int) -> None:
    """Patterns share variables, so that no product of two searches arises."""
    if apart > 1 and not profile.allow_disconnected:
        raise Refusal(
            "cartesian",
            "these patterns share no variable, so every match of one would meet every match of the other",
            position,
            "Connect them by a relationship or a shared variable, or ask in two queries.",
        )


def check_cost(profile: Profile, rows: float, position: int) -> None:
    """The estimate of touched rows is within cost_limit."""
    if rows > profile.cost_limit:
        raise Refusal(
            "too_costly",
            f"this may touch about {rows:.0e} rows, and the limit is {profile.cost_limit:.0e}",
            position,
            "Start from a node with a label and a property such as {uid: $uid}, give directions, or take fewer hops.",
        )
