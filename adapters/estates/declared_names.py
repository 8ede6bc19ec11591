"""Products and roles that an estate declares: one name each, with its title and the other spellings it goes by."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Name:
    """`name` is what pages should write and filters compare; `title` is how people read it."""

    name: str
    title: str | None = None
    aliases: tuple[str, ...] = ()

    @property
    def spellings(self) -> set[str]:
        return {spelling.casefold() for spelling in (self.name, *self.aliases)}


@dataclass(frozen=True)
class DeclaredNames:
    """None where the estate declares none: then every name is as good as another."""

    products: Sequence[Name] | None = None
    roles: Sequence[Name] | None = None

    def product(self, spelling: str) -> Name | None:
        return self._products.get(spelling.casefold())

    def role(self, spelling: str) -> Name | None:
        return self._roles.get(spelling.casefold())

    @cached_property
    def _products(self) -> dict[str, Name]:
        return _by_spelling(self.products or ())

    @cached_property
    def _roles(self) -> dict[str, Name]:
        return _by_spelling(self.roles or ())


def _by_spelling(names: Sequence[Name]) -> dict[str, Name]:
    return {spelling: name for name in names for spelling in name.spellings}
