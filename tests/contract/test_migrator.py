"""What the service relies on in anything that brings an engine to its schema."""

import asyncio
import importlib
from dataclasses import replace

import pytest

from migrations import Migration, MigrationConflict, load_migrations
from service.domain.errors import EngineUnavailable
from tests.contract.conftest import MigrationsOf

pytestmark = pytest.mark.anyio


def expected(engine: str) -> list[int]:
    return [migration.number for migration in load_migrations(engine) if not migration.edition]


def ship(monkeypatch: pytest.MonkeyPatch, engine: str, *files: Migration) -> None:
    """Make these the files of this version."""
    module = importlib.import_module(f"adapters.{engine}.migrator")
    monkeypatch.setattr(module, "load_migrations", lambda _: files)


async def test_a_plan_is_what_is_done_and_then_there_is_none(migrations_of: MigrationsOf) -> None:
    migrator = migrations_of.migrator()
    planned = await migrator.plan()
    assert [migration.number for migration in planned] == expected(migrator.engine)
    assert await migrator.plan() == planned
    assert await migrator.apply() == planned
    assert await migrator.plan() == ()
    assert await migrations_of.migrator().apply() == ()


async def test_two_that_start_at_once_leave_one_schema(migrations_of: MigrationsOf) -> None:
    done = await asyncio.gather(*(migrations_of.migrator().apply() for _ in range(2)))
    numbers = {migration.number for each in done for migration in each}
    assert sorted(numbers) == expected(migrations_of.engine)
    assert await migrations_of.migrator().plan() == ()


async def test_a_file_that_was_changed_afterwards_is_noticed(
    migrations_of: MigrationsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrations_of.migrator().apply()
    first, *others = load_migrations(migrations_of.engine)
    ship(monkeypatch, migrations_of.engine, replace(first, text=first.text + "\n"), *others)
    with pytest.raises(MigrationConflict, match=r"migration 1 .* was changed"):
        await migrations_of.migrator().plan()
    with pytest.raises(MigrationConflict, match=r"migration 1 .* was changed"):
        await migrations_of.migrator().apply()


async def test_what_a_newer_version_applied_is_noticed(
    migrations_of: MigrationsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrations_of.migrator().apply()
    ship(monkeypatch, migrations_of.engine)
    with pytest.raises(MigrationConflict, match="applied by a newer version"):
        await migrations_of.migrator().apply()


async def test_one_that_broke_off_half_way_is_done_by_the_next(
    migrations_of: MigrationsOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = load_migrations(migrations_of.engine)
    with monkeypatch.context() as patched:
        ship(patched, migrations_of.engine, replace(files[0], text=migrations_of.broken(files[0].text)), *files[1:])
        with pytest.raises(EngineUnavailable):
            await migrations_of.migrator().apply()
    migrator = migrations_of.migrator()
    assert [migration.number for migration in await migrator.apply()] == expected(migrator.engine)
    assert await migrator.plan() == ()
