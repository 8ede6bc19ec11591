"""What each engine must hold before the service can use it: numbered files, applied in order, never changed again."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath


class MigrationConflict(Exception):
    """The engine was migrated by other files than these: another version's, or files that were changed afterwards."""


@dataclass(frozen=True, slots=True, order=True)
class Migration:
    """One numbered step. `edition` names the engine's edition that it is for, empty for all."""

    number: int
    name: str
    edition: str
    text: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the file's text, 64 hex digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def load_migrations(engine: str) -> tuple[Migration, ...]:
    """The files of `migrations/<engine>`: `0001_name[.edition].suffix`, in order of their numbers."""
    folder = files(__name__) / engine
    found = []
    for file in folder.iterdir():
        number, _, rest = file.name.partition("_")
        name, *edition = PurePath(rest).stem.split(".")
        found.append(Migration(int(number), name, "".join(edition), file.read_text(encoding="utf-8")))
    return tuple(sorted(found))


def pending(migrations: Sequence[Migration], applied: Mapping[int, str], *, edition: str = "") -> tuple[Migration, ...]:
    """Those still to apply. `applied` is what the engine records: number → checksum.

    Raises MigrationConflict when the engine holds a step that these files lack, or another text under its number.
    """
    known = {migration.number: migration for migration in migrations}
    for number, checksum in sorted(applied.items()):
        if number not in known:
            raise MigrationConflict(f"migration {number} was applied by a newer version; use that version")
        if known[number].checksum != checksum:
            raise MigrationConflict(
                f"migration {number} ({known[number].name}) was changed after it had been applied; "
                "restore its file and put the change into a new one"
            )
    wanted = [migration for migration in migrations if migration.edition in ("", edition)]
    return tuple(migration for migration in wanted if migration.number not in applied)
