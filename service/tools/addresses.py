"""Addresses of pages: from what a reader's browser shows to the spellings that nodes may keep."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

_LOCALE = re.compile(r"/([a-z]{2,3}(?:-[a-z0-9]{2,8})+)(/.*)", re.IGNORECASE)
_INDEX = re.compile(r"/index(?:\.html?)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """`spellings` likeliest first, without query and fragment; `locale` where the address names one."""

    spellings: tuple[str, ...]
    locale: str | None


def read_address(text: str, hosts: Collection[str]) -> Address | None:
    """A text as an address within a site; None for what is none.

    hosts: those that serve the estates, any where none are named. An address at another host is that alone, whole.
    """
    try:
        parts = urlsplit(text.strip())
        host = parts.hostname or ""
    except ValueError:
        return None
    path = parts.path
    if parts.scheme not in ("", "http", "https"):
        return None
    if not host and not path.startswith("/"):
        first, slash, rest = path.partition("/")
        if not slash or "." not in first.strip("."):
            return None
        host, path = first.lower(), f"/{rest}"
    spellings: list[str] = []
    if host:
        spellings += [f"https://{host}{variant}" for variant in _variants(path)]
        spellings += [f"http://{host}{variant}" for variant in _variants(path)]
    named = _LOCALE.fullmatch(path)
    if not host or not hosts or host in hosts:
        spellings += _variants(path)
        if named:
            spellings += _variants(named[2])
    locale = named[1].lower() if named else None
    return Address(tuple(dict.fromkeys(spelling for spelling in spellings if spelling.strip("/"))), locale)


def _variants(path: str) -> Sequence[str]:
    """As it stands, decoded, with and without a last slash or `index`, and all of it in lower case."""
    found: list[str] = []
    for spelt in (path, unquote(path)):
        bare = _INDEX.sub("", spelt).rstrip("/")
        found += [spelt, bare, f"{bare}/"]
    return [*found, *(variant.lower() for variant in found)]
