import json

import pytest

from migrations import Migration, MigrationConflict, load_migrations, pending
from service.domain.filters import MANY_VALUED, SINGLE_VALUED

FILTERS = {*SINGLE_VALUED, *MANY_VALUED}

FIRST = Migration(1, "first", "", "a")
SECOND = Migration(2, "second", "", "b")
PAID = Migration(3, "paid", "enterprise", "c")


@pytest.mark.parametrize("engine", ["neo4j", "opensearch", "qdrant"])
def test_an_engines_files_are_numbered_from_one_without_a_gap(engine: str) -> None:
    numbers = [migration.number for migration in load_migrations(engine)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers


def test_what_is_applied_is_not_pending() -> None:
    assert pending([FIRST, SECOND], {}) == (FIRST, SECOND)
    assert pending([FIRST, SECOND], {1: FIRST.checksum}) == (SECOND,)
    assert pending([FIRST, SECOND], {1: FIRST.checksum, 2: SECOND.checksum}) == ()


def test_a_step_for_another_edition_is_left_out() -> None:
    assert pending([FIRST, PAID], {}, edition="community") == (FIRST,)
    assert pending([FIRST, PAID], {}, edition="enterprise") == (FIRST, PAID)


def test_a_changed_or_unknown_step_is_a_conflict_that_says_what_to_do() -> None:
    with pytest.raises(MigrationConflict, match=r"1 \(first\) was changed after .* put the change into a new one"):
        pending([FIRST], {1: SECOND.checksum})
    with pytest.raises(MigrationConflict, match="applied by a newer version"):
        pending([FIRST], {1: FIRST.checksum, 2: SECOND.checksum})


def test_every_filter_has_a_field_in_opensearch() -> None:
    (template, _index) = json.loads(load_migrations("opensearch")[0].text)
    fields = template["body"]["template"]["mappings"]["properties"]
    assert fields.keys() >= FILTERS
    assert all(fields[name] == {"type": "keyword"} for name in FILTERS)


def test_every_filter_has_an_index_in_qdrant() -> None:
    steps = json.loads(load_migrations("qdrant")[0].text)
    indexed = {step["index"]: step["schema"] for step in steps if "index" in step}
    assert indexed.keys() >= FILTERS
    assert all(indexed[name] == {"type": "keyword"} for name in FILTERS)
