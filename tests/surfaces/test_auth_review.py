"""The security review names tests, and they are there."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
REVIEW = (TESTS.parent / "docs" / "articles" / "security-review.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(test_\w+\.py)(?:::(\w+))?`", REVIEW)))
ROWS = [line for line in REVIEW.splitlines() if line.startswith("| ") and not line.startswith(("| item", "|---"))]


@pytest.mark.parametrize(("file", "name"), NAMED, ids=["::".join(one) for one in NAMED])
def test_a_test_that_is_named_exists(file, name):
    (path,) = TESTS.rglob(file)
    text = path.read_text(encoding="utf-8")
    assert re.search(rf"^(async )?def {name}\(" if name else r"^(async )?def test_", text, re.MULTILINE)


def test_each_item_has_its_test():
    assert len(ROWS) == 11 + 7
    assert [row for row in ROWS if not re.search(r"`test_\w+\.py", row)] == []
