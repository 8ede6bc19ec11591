"""Links of the console: its own, and those that an estate's content names."""

from urllib.parse import quote, urlencode, urlsplit


def link(path: str, fragment: str = "", **parameters: str | None) -> str:
    """A path of the console with its parameters; one that is None is left out."""
    given = tuple((name, value) for name, value in parameters.items() if value is not None)
    return f"{path}?{encoded(given)}" + (f"#{quote(fragment, errors='replace')}" if fragment else "")


def encoded(parameters: tuple[tuple[str, str], ...]) -> str:
    """A query string; text that UTF-8 can't hold becomes `?`."""
    return urlencode(parameters, quote_via=quote, errors="replace")


def safe_url(url: str | None) -> str | None:
    """The URL if a browser may be sent there: an absolute web address. `javascript:` and the like are no address.

    A relative one belongs to the estate's own site, which this server is not.
    """
    if url is None:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None
