"""What a text says as an address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tools.addresses import read_address

SITE = ("learn.example",)


@pytest.mark.parametrize(
    ("text", "spelling", "locale"),
    [
        ("/maui/shell", "/maui/shell", None),
        ("/maui/shell/", "/maui/shell", None),
        ("/maui/shell", "/maui/shell/", None),
        ("/maui/index", "/maui/", None),
        ("/maui/index.html", "/maui", None),
        ("/Maui/Shell", "/maui/shell", None),
        ("/maui/a%20b?view=net-8.0#top", "/maui/a b", None),
        ("/de-de/maui/shell", "/maui/shell", "de-de"),
        ("/zh-Hant-TW/maui/shell", "/maui/shell", "zh-hant-tw"),
        ("/en-us", "/en-us", None),
        ("https://learn.example/maui/shell", "/maui/shell", None),
        ("HTTPS://LEARN.example:443/fr-FR/maui/shell/", "/maui/shell", "fr-fr"),
        ("learn.example/maui/shell", "/maui/shell", None),
        ("//learn.example/maui/shell", "/maui/shell", None),
        ("https://code.example/maui/shell", "https://code.example/maui/shell", None),
        ("http://code.example/maui/shell", "https://code.example/maui/shell", None),
    ],
)
def test_a_text_is_read_as_the_spellings_that_nodes_may_keep(text: str, spelling: str, locale: str | None) -> None:
    address = read_address(text, SITE)
    assert address is not None
    assert (spelling in address.spellings, address.locale) == (True, locale)


def test_at_another_host_it_is_that_address_alone() -> None:
    address = read_address("https://code.example/maui/shell", SITE)
    assert address is not None
    assert all(spelling.startswith("http") for spelling in address.spellings)
    anywhere = read_address("https://code.example/maui/shell", ())
    assert anywhere is not None
    assert "/maui/shell" in anywhere.spellings


@pytest.mark.parametrize(
    "text", ["", " ", "maui", "maui/shell", "System.String", "System.String.Join*", "ftp://a/b", "http://["]
)
def test_a_name_is_no_address(text: str) -> None:
    assert read_address(text, ()) is None


@pytest.mark.parametrize("text", ["/", "//", "https://", "https://learn.example", "https://learn.example/"])
def test_a_site_is_no_page(text: str) -> None:
    address = read_address(text, SITE)
    assert address is None or all("://" in spelling for spelling in address.spellings)


@given(st.text())
def test_any_text_is_an_address_or_none(text: str) -> None:
    address = read_address(text, ())
    assert address is None or len(address.spellings) <= 48
