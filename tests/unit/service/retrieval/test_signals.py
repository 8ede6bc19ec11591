from datetime import UTC, datetime

import pytest

from service.domain.graph import NodeIdentity
from service.domain.requests import CallerProfile
from service.retrieval import signals
from service.retrieval.cards import Card, Requirement
from service.retrieval.signals import Case, Factor, combine
from service.settings import Settings

SETTINGS = Settings()
AS_OF = datetime(2026, 1, 1, tzinfo=UTC)


def card(**fields) -> Card:
    values = dict.fromkeys(Card.__dataclass_fields__)
    values |= {
        "identity": NodeIdentity("a", "en-us"),
        "kind": "page",
        "title": "A",
        "docset": "",
        "roles": (),
        "audience": (),
        "region": (),
        "requirements": (),
    }
    return Card(**{**values, **fields})


def case(held: Card, percentile: float | None = None, **profile) -> Case:
    return Case(held, CallerProfile(**profile), AS_OF, percentile)


def value(factor: Factor | None) -> float | None:
    return None if factor is None else factor.value


@pytest.mark.parametrize(
    ("declared", "used", "expected"),
    [
        (">=net-8.0", ["net-9.0"], 1.05),
        (">=net-8.0", ["net-7.0"], 0.35),
        (">=net-8.0", ["net-7.0", "net-8.0"], 1.05),
        ("=vs-2019 || >=net-8.0", ["net-7.0"], 0.35),
        (">=net-8.0", ["vs-2022"], None),
        (None, ["net-9.0"], None),
        (">=net-8.0", [], None),
        ("not a range >", ["net-9.0"], None),
    ],
)
def test_moniker(declared: str | None, used: list[str], expected: float | None) -> None:
    assert value(signals.moniker(case(card(moniker_range=declared), monikers=used), SETTINGS)) == expected


@pytest.mark.parametrize(
    ("modified", "expected"),
    [
        ("2026-01-01", 1.0),
        ("2027-01-01", 1.0),
        ("2024-07-10", 0.75 + 0.25 / 2),
        ("2023-01-17", 0.75 + 0.25 / 4),
        ("2026-01-01T00:00:00+00:00", 1.0),
        ("last week", None),
        (None, None),
    ],
)
def test_age_halves_every_540_days(modified: str | None, expected: float | None) -> None:
    settings = Settings(age_floor=0.75, age_half_life=540)
    assert value(signals.age(case(card(last_modified=modified)), settings)) == (
        None if expected is None else pytest.approx(expected)
    )


@pytest.mark.parametrize(
    ("signal", "field"), [(signals.role, "roles"), (signals.audience, "audience"), (signals.region, "region")]
)
def test_a_match_with_the_profile_lifts_and_anything_else_says_nothing(signal, field: str) -> None:
    wish = "role" if field == "roles" else field
    held = card(**{field: ("developer", "student")})
    assert value(signal(case(held, **{wish: "developer"}), SETTINGS)) == 1.02
    assert signal(case(held, **{wish: "admin"}), SETTINGS) is None
    assert signal(case(held), SETTINGS) is None


@pytest.mark.parametrize(
    ("held", "wished", "expected"),
    [
        ("de-de", "de-de", 1.02),
        ("de-de", "de-AT", None),
        ("de-at", "de-AT", 1.02),
        ("en-us", "de-at", 0.9),
        ("en-us", "de-de", 0.9),
        ("und", "de-de", None),
        ("en-us", None, None),
    ],
)
def test_locale(held: str, wished: str | None, expected: float | None) -> None:
    node = card(identity=NodeIdentity("a", held))
    assert value(signals.locale(case(node, locale=wished), SETTINGS)) == expected


@pytest.mark.parametrize(
    ("held", "source", "wished", "expected"),
    [
        ("en-us", None, "fr-fr", 0.9),
        ("de-de", "en-us", "fr-fr", 0.9 * 0.9),
        ("de-de", "en-us", "de-de", 1.02),
        ("de-de", "en-us", "de-at", None),
        ("de-de", "fr-ca", "fr-fr", 0.9),
        ("de-de", "en-us", None, None),
    ],
)
def test_who_has_no_page_in_their_language_falls_back_to_the_source_before_another_translation(
    held: str, source: str | None, wished: str | None, expected: float | None
) -> None:
    node = card(identity=NodeIdentity("a", held), source_locale=source)
    assert value(signals.locale(case(node, locale=wished), SETTINGS)) == (expected and pytest.approx(expected))


@pytest.mark.parametrize(("missing", "expected"), [(0, 1.05), (1, 0.8), (2, 0.64), (3, 0.6), (9, 0.6)])
def test_prerequisites(missing: int, expected: float) -> None:
    needs = [Requirement(f"skill:{n}", frozenset()) for n in range(missing)] + [Requirement("skill:known", frozenset())]
    factor = signals.prerequisites(case(card(requirements=tuple(needs)), skills=["skill:known"]), SETTINGS)
    assert value(factor) == pytest.approx(expected)
    assert factor is not None
    assert factor.input == [f"skill:{n}" for n in range(missing)]


def test_prerequisites_say_nothing_where_none_are_declared_or_skills_are_unknown() -> None:
    need = (Requirement("skill:a", frozenset()),)
    assert signals.prerequisites(case(card(), skills=["skill:a"]), SETTINGS) is None
    assert signals.prerequisites(case(card(requirements=need)), SETTINGS) is None


def test_who_knows_all_that_a_required_module_teaches_has_met_it() -> None:
    module = Requirement("module", frozenset({"skill:a", "skill:b"}))
    assert module.is_met_by(frozenset({"skill:a", "skill:b", "skill:c"}))
    assert not module.is_met_by(frozenset({"skill:a"}))
    assert module.is_met_by(frozenset({"module"}))
    assert not Requirement("page", frozenset()).is_met_by(frozenset({"skill:a"}))


@pytest.mark.parametrize(
    ("held", "own", "expected"),
    [
        ("beginner", "beginner", 1.02),
        ("intermediate", "beginner", 1.0),
        ("advanced", "beginner", 0.8),
        ("beginner", "advanced", 0.8),
        (None, "beginner", None),
        ("expert", "beginner", None),
        ("beginner", None, None),
    ],
)
def test_level(held: str | None, own: str | None, expected: float | None) -> None:
    assert value(signals.level(case(card(level=held), level=own), SETTINGS)) == expected


def test_authority_is_half_a_percent_at_most() -> None:
    assert value(signals.authority(case(card(), percentile=1.0), SETTINGS)) == pytest.approx(1.005)
    assert value(signals.authority(case(card(), percentile=0.0), SETTINGS)) == pytest.approx(1.0)
    assert signals.authority(case(card()), SETTINGS) is None


def test_a_superseded_page_names_its_successor() -> None:
    factor = signals.superseded(case(card(successor=NodeIdentity("new", "en-us"))), SETTINGS)
    assert factor == Factor("superseded", "new", 0.25)
    assert signals.superseded(case(card()), SETTINGS) is None


def test_boosts_are_clamped_together_and_demotions_are_not() -> None:
    all_said = [Factor("a", "", 1.1), Factor("b", "", 1.1), Factor("c", "", 0.5), Factor("d", "", 0.5)]
    assert combine(all_said, 1.15) == pytest.approx(1.15 * 0.25)
    assert combine(all_said[:1], 1.15) == pytest.approx(1.1)
    assert combine([], 1.15) == 1.0


def said(held: Case, without: frozenset[str] = frozenset()) -> set[str]:
    found = signals.factors(held, SETTINGS, signals.speaking(held.profile, without))
    return {factor.signal for factor in found}


def test_a_signal_that_is_switched_off_says_nothing() -> None:
    held = case(card(level="beginner", roles=("developer",)), level="beginner", role="developer")
    assert said(held) == {"role", "level"}
    assert said(held, frozenset({"role"})) == {"level"}


def test_to_a_caller_without_a_profile_only_the_node_itself_speaks() -> None:
    everything = card(
        level="beginner",
        roles=("developer",),
        audience=("admin",),
        region=("eu",),
        moniker_range=">=net-8.0",
        last_modified="2025-01-01",
        requirements=(Requirement("skill:a", frozenset()),),
        successor=NodeIdentity("b", "en-us"),
    )
    assert said(case(everything, percentile=0.5)) == {"age", "authority", "superseded"}
    assert set(signals.SIGNALS) == said(
        case(
            everything,
            percentile=0.5,
            monikers=["net-8.0"],
            role="developer",
            audience="admin",
            region="eu",
            locale="en-us",
            skills=["skill:a"],
            level="beginner",
        )
    )
