"""The text of a question: refused when nothing could be meant by it, taken as words otherwise."""

from service.domain.errors import QueryEmpty, QueryTooLong
from service.domain.requests import well_formed
from service.settings import Settings


def check_text(text: str, settings: Settings) -> str:
    """The text without surrounding space. Raises QueryEmpty, QueryTooLong or QueryMalformed."""
    if len(text) > settings.query_characters:
        raise QueryTooLong(
            f"The query has {len(text):,} characters; the most is {settings.query_characters:,}. Ask for less at once."
        )
    well_formed(text)
    words = text.strip()
    if not any(not character.isspace() and character.isprintable() for character in words):
        raise QueryEmpty("The query is empty; ask something in words, or list nodes without a query.")
    return words
