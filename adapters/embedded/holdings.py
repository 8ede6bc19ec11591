"""What an index holds as a whole: where it proves a condition true of every passage, a search need not ask it."""

from collections.abc import Iterable
from dataclasses import dataclass

from service.domain.content import Passage
from service.domain.filters import SearchScope
from service.domain.graph import EVERYONE


@dataclass(frozen=True, slots=True)
class Holdings:
    """`latest` is no lower than any passage's generation; `all_public` is true only if everyone may see them all.

    Removals don't narrow them back: then a search asks a condition that it could have spared.
    """

    latest: int = 0
    all_public: bool = True

    def with_added(self, passages: Iterable[Passage], generation: int) -> "Holdings":
        public = self.all_public and all(EVERYONE in passage.node.visible_to for passage in passages)
        return (
            self
            if (generation <= self.latest and public == self.all_public)
            else Holdings(max(self.latest, generation), public)
        )

    def all_current(self, scope: SearchScope) -> bool:
        return self.latest <= scope.generation

    def all_visible(self, scope: SearchScope) -> bool:
        return self.all_public and EVERYONE in scope.audiences
