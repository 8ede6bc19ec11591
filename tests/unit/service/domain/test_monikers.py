import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.monikers import Moniker, MonikerInvalid, MonikerRange


def inside(range_text: str, *names: str) -> list[str]:
    parsed = MonikerRange.parse(range_text)
    return [name for name in names if parsed.holds(Moniker.parse(name))]


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("net-maui-8.0", "net-maui"),
        ("aspnetcore-3.1", "aspnetcore"),
        ("netframework-4.7.2", "netframework"),
        ("vs-2022", "vs"),
        ("sql-server-ver15", "sql-server-ver"),
        ("azuresqldb-current", "azuresqldb"),
        ("efcore", "efcore"),
    ],
)
def test_family(name: str, family: str) -> None:
    assert Moniker.parse(name).family == family


def test_versions_compare_as_numbers() -> None:
    names = ["net-8.0", "net-10.0", "net-9.0", "net-8.0.1", "net-current", "net-10.0-rc1", "net-10.0-preview2"]
    ordered = sorted(names, key=lambda name: Moniker.parse(name).order)
    assert ordered == [
        "net-8.0", "net-8.0.1", "net-9.0", "net-10.0-preview2", "net-10.0-rc1", "net-10.0", "net-current",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "order"),
    [("net-2.0", 2 * 10**11), ("net-2.1", 2 * 10**11 + 10**8), ("net-4.7.2", 4 * 10**11 + 7 * 10**8 + 2_000)],
)
def test_the_order_of_a_version_is_its_number(name: str, order: int) -> None:
    assert Moniker.parse(name).order == order


def test_a_range_with_two_alternatives() -> None:
    names = ("aspnetcore-3.0", "aspnetcore-3.1", "aspnetcore-8.0", "aspnetcore-10.0", "net-maui-8.0", "net-maui-9.0")
    assert inside(">=aspnetcore-3.1 <=aspnetcore-8.0 || net-maui-8.0", *names) == [
        "aspnetcore-3.1",
        "aspnetcore-8.0",
        "net-maui-8.0",
    ]


def test_strict_bounds_and_equality() -> None:
    names = ("vs-2017", "vs-2019", "vs-2022")
    assert inside(">vs-2017", *names) == ["vs-2019", "vs-2022"]
    assert inside("<vs-2019", *names) == ["vs-2017"]
    assert inside("=vs-2019", *names) == ["vs-2019"]
    assert inside("> vs-2017 && < vs-2022", *names) == ["vs-2019"]


def test_an_open_range_contains_versions_that_nobody_knew_when_it_was_written() -> None:
    assert inside(">=net-maui-8.0", "net-maui-42.0") == ["net-maui-42.0"]


def test_another_family_is_never_inside() -> None:
    assert inside(">=aspnetcore-1.0", "net-maui-8.0", "aspnetcore") == []


def test_expand_keeps_family_and_version_order() -> None:
    known = [Moniker.parse(f"net-maui-{version}.0") for version in (10, 9, 7)]
    expanded = MonikerRange.parse(">=net-maui-8.0").expand(known)
    assert [moniker.name for moniker in expanded] == ["net-maui-9.0", "net-maui-10.0"]


def test_a_range_names_each_moniker_once() -> None:
    named = MonikerRange.parse(">=net-8.0 <net-10.0 || net-8.0").named
    assert [moniker.name for moniker in named] == ["net-8.0", "net-10.0"]


@pytest.mark.parametrize("text", ["", " ", "||", ">=", "a || ", "net-8.0 || %", "net(8)", ">=>=a-1"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(MonikerInvalid):
        MonikerRange.parse(text)


@given(st.text(max_size=40))
def test_any_text_is_a_range_or_a_typed_refusal(text: str) -> None:
    try:
        MonikerRange.parse(text)
    except MonikerInvalid:
        return


@given(st.text(max_size=40))
def test_any_name_is_a_moniker(name: str) -> None:
    assert -1_000 < Moniker.parse(name).order < 2**53


@pytest.mark.parametrize(
    ("inner", "outer", "shared"),
    [
        ("<net-9.0", ">=net-8.0", ">=net-8.0 <net-9.0"),
        ("net-8.0", ">=net-8.0", "net-8.0"),
        (">=net-8.0", "net-9.0", "net-9.0"),
        ("net-8.0 || net-9.0", ">net-8.0", "net-9.0"),
        (">=net-8.0 || vs-2022", ">=net-6.0", ">=net-8.0"),
        (">=net-8.0", "net-9.0 || net-10.0 || vs-2022", "net-9.0 || net-10.0"),
        (">ghes-3.1", ">=ghes-3.0 <ghes-3.5", ">ghes-3.1 <ghes-3.5"),
        (">=net-8.0 <=net-9.0", ">=net-8.0 <=net-9.0", ">=net-8.0 <=net-9.0"),
        ("net-8.0", "net-9.0", None),
        (">net-8.0", "<=net-8.0", None),
        (">=net-8.0", ">=vs-2022", None),
        (">=net-9.0 <net-8.0", ">=net-6.0", None),
    ],
)
def test_what_two_ranges_share(inner: str, outer: str, shared: str | None) -> None:
    found = MonikerRange.parse(inner).within(MonikerRange.parse(outer))
    assert (None if found is None else str(found)) == shared


_NAMES = st.sampled_from(["a-1.0", "a-2.0", "a-3.0", "a-2.0-preview1", "a-latest", "b-1", "b-2", "c"])
_BOUNDS = st.builds(str.__add__, st.sampled_from(["", "=", ">", ">=", "<", "<="]), _NAMES)
_RANGES = st.lists(st.lists(_BOUNDS, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=4).map(" || ".join)


@given(_RANGES, _RANGES, _NAMES)
def test_a_version_is_in_what_two_ranges_share_if_it_is_in_both(inner: str, outer: str, name: str) -> None:
    moniker = Moniker.parse(name)
    here, there = MonikerRange.parse(inner), MonikerRange.parse(outer)
    shared = here.within(there)
    assert (shared is not None and shared.holds(moniker)) == (here.holds(moniker) and there.holds(moniker))
    assert shared is None or MonikerRange.parse(str(shared)) == shared


def test_very_long_ranges_are_not_taken_apart() -> None:
    many = MonikerRange.parse(" || ".join(f"a-{n}" for n in range(10_000)))
    assert many.within(many) is many
