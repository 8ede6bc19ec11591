"""Links of the console: its own, and those that an estate's content names."""

from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit


@dataclass(frozen=True, init=False)
class Link:
    """A path of the console with its parameters; prints as the link."""

    path: str
    parameters: tuple[tuple[str, str], ...]

    def __init__(self, path: str, **parameters: str | None) -> None:
        object.__setattr__(self, "path", path)
        given = tuple((name, value) for name, value in parameters.items() if value is not None)
        object.__setattr__(self, "parameters", given)

    def __str__(self) -> str:
        return f"{self.path}?{encoded(self.parameters)}"


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
