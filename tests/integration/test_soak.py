"""Half an hour of every kind of caller, while what they read is published again and again."""

import asyncio
from pathlib import Path

import pytest

from bench.soak import report, soak

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.long
@pytest.mark.timeout(3_000)
def test_nothing_grows_hangs_or_mixes() -> None:
    """The bounded caches fill for a quarter of an hour; what grows is judged after that."""
    told = asyncio.run(soak(DOCS, seconds=1_800))
    assert report(told, warm=900) == []
