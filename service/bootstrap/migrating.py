"""Migrators that tell which setting led to the engine: at a wrong address another service may answer, or none."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from service.domain.errors import EngineUnavailable
from service.ports import MigrationStep, Migrator


@dataclass(frozen=True)
class ConfiguredMigrator:
    """Fulfils Migrator. setting: names the engine's URL; url: what it says."""

    migrator: Migrator
    setting: str
    url: str

    @property
    def engine(self) -> str:
        return self.migrator.engine

    async def plan(self) -> Sequence[MigrationStep]:
        try:
            return await self.migrator.plan()
        except EngineUnavailable as error:
            raise self._told(error) from error

    async def apply(self) -> Sequence[MigrationStep]:
        try:
            return await self.migrator.apply()
        except EngineUnavailable as error:
            raise self._told(error) from error

    def _told(self, error: EngineUnavailable) -> EngineUnavailable:
        """The same error with the address that the setting names, without what it says of a user."""
        parts = urlsplit(self.url)
        address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        return type(error)(
            error.engine,
            f"{error.reason}. The setting {self.setting} says that it is at {address}: is it, and up?",
            error.detail,
        )
