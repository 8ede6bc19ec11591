"""What the guard makes of a query, for tests: the rendering without its language prefix, or the violation."""

from cypher_guard import LANGUAGE_PREFIX, GuardedQuery, Profile, Violation, Visibility, guard

PROFILE = Profile.from_mapping(
    {
        "edge_types": ["CALLS", "READS"],
        "labels": ["A", "B", "C"],
        "properties": ["name", "size", "tags"],
        "identity_properties": [],
        "clauses": "extended",
        "allow_bare_arrows": True,
    }
)
PRINCIPAL = Visibility(frozenset({"*", "staff"}))


def ask(
    text: str,
    params: dict[str, object] | None = None,
    profile: Profile = PROFILE,
    visibility: Visibility | None = None,
) -> GuardedQuery:
    return guard(text, params, profile, visibility=visibility, cache=None)


def rendered(text: str, profile: Profile = PROFILE, visibility: Visibility | None = None) -> str:
    query = ask(text, None, profile, visibility)
    assert query.text.startswith(LANGUAGE_PREFIX)
    return query.text.removeprefix(LANGUAGE_PREFIX)


def refused(text: str, params: dict[str, object] | None = None, profile: Profile = PROFILE) -> Violation:
    try:
        query = ask(text, params, profile)
    except Violation as violation:
        return violation
    raise AssertionError(f"accepted: {query.text}")
