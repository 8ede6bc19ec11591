"""Locales, and how near one is to another."""


def distance(held: str, wished: str | None) -> int:
    """0 for the wished locale and for any where none is wished, 1 for its language in another region, else 2."""
    if wished is None or held.casefold() == wished.casefold():
        return 0
    return 1 if _language(held) == _language(wished) else 2


def _language(locale: str) -> str:
    return locale.partition("-")[0].casefold()
