"""Signals: what is known of a node and of the caller, each as one multiplicative factor.

Every signal is a pure function to a `Factor` with the input that it read; None means that it has nothing to say. At
k = 60 neighbouring ranks differ by 1.6 %, so boosts are small and clamped together; demotions are not clamped.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import lru_cache

from service.domain.errors import SignalUnknown
from service.domain.graph import NEUTRAL_LOCALE
from service.domain.locales import distance
from service.domain.monikers import Moniker, MonikerInvalid, MonikerRange
from service.domain.requests import LEVELS, CallerProfile
from service.retrieval.cards import Card
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Factor:
    """`input` is what the factor was computed from, as plain JSON values."""

    signal: str
    input: str | float | list[str]
    value: float


@dataclass(frozen=True, slots=True)
class Case:
    """One node in front of one caller. `percentile` is that of its global PageRank, in [0, 1], where it is known."""

    card: Card
    profile: CallerProfile
    as_of: datetime
    percentile: float | None


Signal = Callable[[Case, Settings], Factor | None]

# An estate's pages share a few ranges, and a window's two hundred nodes are all held against the same versions.
_range = lru_cache(maxsize=1_024)(MonikerRange.parse)
_version = lru_cache(maxsize=1_024)(Moniker.parse)


def moniker(case: Case, settings: Settings) -> Factor | None:
    """Whether the page is for a version that the caller uses; a range of other product families says nothing."""
    if not case.profile.monikers or not case.card.moniker_range:
        return None
    try:
        declared = _range(case.card.moniker_range)
    except MonikerInvalid:
        return None
    used = [_version(name) for name in case.profile.monikers]
    if any(declared.holds(version) for version in used):
        return Factor("moniker", case.card.moniker_range, settings.moniker_inside)
    if {bound.family for bound in declared.named}.isdisjoint(version.family for version in used):
        return None
    return Factor("moniker", case.card.moniker_range, settings.moniker_outside)


def age(case: Case, settings: Settings) -> Factor | None:
    """floor + (1 − floor)·2^(−age / half-life), age in days; a date to come counts as today."""
    modified = _instant(case.card.last_modified)
    if modified is None:
        return None
    days = max(0.0, (case.as_of - modified).total_seconds() / 86_400)
    floor = settings.age_floor
    return Factor("age", round(days, 1), floor + (1 - floor) * 2 ** (-days / settings.age_half_life))


def role(case: Case, settings: Settings) -> Factor | None:
    return _match("role", case.profile.role, case.card.roles, settings)


def audience(case: Case, settings: Settings) -> Factor | None:
    return _match("audience", case.profile.audience, case.card.audience, settings)


def region(case: Case, settings: Settings) -> Factor | None:
    return _match("region", case.profile.region, case.card.region, settings)


def locale(case: Case, settings: Settings) -> Factor | None:
    """The caller's own locale, or a fallback; a node of no language, or of the caller's for elsewhere, is neither.

    Whoever has no page in their language falls back to the source: a translation into a third is another step away.
    """
    held, wished = case.card.identity.locale, case.profile.locale
    if wished is None or held == NEUTRAL_LOCALE:
        return None
    steps = distance(held, wished)
    if steps == 1:
        return None
    value = settings.profile_match if steps == 0 else settings.locale_fallback
    source = case.card.source_locale
    if steps == 2 and source is not None and distance(source, wished) == 2:
        value *= settings.locale_fallback
    return Factor("locale", held, value)


def prerequisites(case: Case, settings: Settings) -> Factor | None:
    """All declared prerequisites met, or max(floor, step^missing); nothing without any, or with unknown skills."""
    if not case.profile.skills or not case.card.requirements:
        return None
    known = frozenset(case.profile.skills)
    missing = [required.uid for required in case.card.requirements if not required.is_met_by(known)]
    value = max(settings.prerequisite_floor, settings.prerequisite_missing ** len(missing))
    return Factor("prerequisites", missing, value if missing else settings.prerequisite_met)


def level(case: Case, settings: Settings) -> Factor | None:
    """How many steps lie between the node's level and the caller's."""
    if case.profile.level not in LEVELS or case.card.level not in LEVELS:
        return None
    steps = abs(LEVELS.index(case.profile.level) - LEVELS.index(case.card.level))
    values = (settings.profile_match, 1.0, settings.level_far)
    return Factor("level", case.card.level, values[steps])


def authority(case: Case, settings: Settings) -> Factor | None:
    """1 + weight·percentile of the global PageRank: decides near-ties only."""
    if case.percentile is None:
        return None
    return Factor("authority", round(case.percentile, 4), 1 + settings.authority_weight * case.percentile)


def superseded(case: Case, settings: Settings) -> Factor | None:
    """A page that names its successor gives way to it."""
    if case.card.successor is None:
        return None
    return Factor("superseded", case.card.successor.uid, settings.superseded)


SIGNALS: Mapping[str, tuple[Signal, str | None]] = {
    "moniker": (moniker, "monikers"),
    "age": (age, None),
    "role": (role, "role"),
    "audience": (audience, "audience"),
    "region": (region, "region"),
    "locale": (locale, "locale"),
    "prerequisites": (prerequisites, "skills"),
    "level": (level, "level"),
    "authority": (authority, None),
    "superseded": (superseded, None),
}
"""Every signal by its name, in the order that explain shows, with the profile field that it is silent without."""


NAMES = (*SIGNALS, "prior")
"""All that can be switched off; the prior is none of the factors and is named as one."""


def check_names(names: Iterable[str]) -> None:
    """Raises SignalUnknown."""
    for name in names:
        if name not in NAMES:
            nearest = get_close_matches(name, NAMES, n=1)
            raise SignalUnknown(
                f"There is no signal '{name[:100]}'. Signals: {', '.join(NAMES)}.",
                suggestion=nearest[0] if nearest else None,
            )


def speaking(profile: CallerProfile, without: frozenset[str] = frozenset()) -> tuple[Signal, ...]:
    """The signals that may have something to say to this caller; `without` names those that are switched off."""
    return tuple(
        signal
        for name, (signal, field) in SIGNALS.items()
        if name not in without and (field is None or getattr(profile, field))
    )


def factors(case: Case, settings: Settings, signals: Sequence[Signal]) -> tuple[Factor, ...]:
    """What each of these signals has to say."""
    said = (signal(case, settings) for signal in signals)
    return tuple(factor for factor in said if factor is not None)


def combine(said: Sequence[Factor], clamp: float) -> float:
    """The product of the boosts, at most `clamp`, times the product of the demotions."""
    boosts = demotions = 1.0
    for factor in said:
        if factor.value > 1:
            boosts *= factor.value
        else:
            demotions *= factor.value
    return min(clamp, boosts) * demotions


def _match(signal: str, wished: str | None, held: tuple[str, ...], settings: Settings) -> Factor | None:
    if wished is None or wished not in held:
        return None
    return Factor(signal, wished, settings.profile_match)


def _instant(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
