"""The settings that reading depends on, as one value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """`site_hosts` are the hosts whose absolute links are links within the site; `code_sample_lines` is the shortest
    code block that becomes a code sample of its own; `remembered_pages` is how many pages readers remember."""

    default_locale: str = "en-us"
    page_bytes: int = 4_194_304
    code_sample_lines: int = 3
    site_hosts: tuple[str, ...] = ()
    remembered_pages: int = 100_000
