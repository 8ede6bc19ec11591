"""Moments as every graph engine's answer shows them, however many digits its client writes."""

import re

_IDLE_DIGITS = re.compile(r"(?<=:\d\d)(?:\.0+|(\.\d*[1-9])0+)(?=$|[-+Z\[])")


def shortest_moment(text: str) -> str:
    """An ISO 8601 date, time, date-time or duration without the zeros at the end of its fraction of a second."""
    return _IDLE_DIGITS.sub(lambda found: found[1] or "", text)
