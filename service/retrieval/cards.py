"""Node cards: what the ranking and the display need to know of a node, read from the graph once a snapshot."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from service.domain.deadline import Deadline
from service.domain.graph import NodeIdentity
from service.observation import Lookups
from service.ports import GraphReader
from service.statements import cards, requirements, sources, successors


@dataclass(frozen=True, slots=True)
class Requirement:
    """Something a node's prerequisites name. Whoever knows it, or all the skills that it teaches, meets it."""

    uid: str
    taught: frozenset[str]

    def is_met_by(self, skills: frozenset[str]) -> bool:
        return self.uid in skills or (bool(self.taught) and self.taught <= skills)


@dataclass(frozen=True, slots=True)
class Card:
    """A node as its snapshot has it. `successor` is set where the node is superseded, `source_locale` where it is a
    translation."""

    identity: NodeIdentity
    kind: str
    title: str
    type: str | None
    url: str | None
    summary: str | None
    docset: str
    content_hash: str | None
    level: str | None
    roles: tuple[str, ...]
    audience: tuple[str, ...]
    region: tuple[str, ...]
    moniker_range: str | None
    last_modified: str | None
    successor: NodeIdentity | None
    requirements: tuple[Requirement, ...]
    source_locale: str | None = None


@dataclass
class CardCache:
    """Cards by snapshot, visibility class and node, the longest unused given up first.

    A generation never comes again, so what a query reads while a publish flips the graph under it, and is thrown away
    for that, is never read by another.
    """

    graph: GraphReader
    capacity: int
    lookups: Lookups = field(default_factory=Lookups, init=False)
    _held: OrderedDict[tuple[int, frozenset[str], NodeIdentity], Card] = field(default_factory=OrderedDict, init=False)

    def forget(self) -> None:
        """For when the graph of a generation was mended."""
        self._held.clear()

    async def of(
        self,
        identities: Sequence[NodeIdentity],
        generation: int,
        audiences: frozenset[str],
        *,
        deadline: Deadline,
    ) -> dict[NodeIdentity, Card]:
        """The cards of those that exist and show. Raises EngineUnavailable or EngineLate when some must be read and
        can't be."""
        found: dict[NodeIdentity, Card] = {}
        missing: list[NodeIdentity] = []
        for identity in identities:
            key = (generation, audiences, identity)
            card = self._held.get(key)
            if card is None:
                missing.append(identity)
            else:
                self._held.move_to_end(key)
                found[identity] = card
        self.lookups.found += len(found)
        self.lookups.missed += len(missing)
        if missing:
            fresh = await _read(missing, audiences, self.graph, deadline)
            for identity, card in fresh.items():
                self._held[generation, audiences, identity] = card
            found |= fresh
            while len(self._held) > self.capacity:
                self._held.popitem(last=False)
        return found


async def _read(
    identities: Sequence[NodeIdentity], audiences: frozenset[str], graph: GraphReader, deadline: Deadline
) -> dict[NodeIdentity, Card]:
    nodes, followed, required, translated = await asyncio.gather(
        graph.run(cards(identities, audiences), deadline=deadline),
        graph.run(successors(identities, audiences), deadline=deadline),
        graph.run(requirements(identities, audiences), deadline=deadline),
        graph.run(sources(identities, audiences), deadline=deadline),
    )
    source = {row["key"]: str(row["locale"]) for row in translated.by_column()}
    successor = {row["key"]: NodeIdentity(row["uid"], row["locale"]) for row in followed.by_column()}
    needs: dict[str, dict[str, set[str]]] = {}
    for row in required.by_column():
        taught = needs.setdefault(row["key"], {}).setdefault(row["uid"], set())
        if row["skill"] is not None:
            taught.add(row["skill"])
    return {
        identity: _card(identity, row, successor.get(row["key"]), needs.get(row["key"], {}), source.get(row["key"]))
        for row in nodes.by_column()
        for identity in (NodeIdentity(row["uid"], row["locale"]),)
    }


def _card(
    identity: NodeIdentity,
    row: Mapping[str, object],
    successor: NodeIdentity | None,
    needs: Mapping[str, set[str]],
    source_locale: str | None,
) -> Card:
    def text(name: str) -> str | None:
        value = row[name]
        return None if value is None else str(value)

    def words(name: str) -> tuple[str, ...]:
        value = row[name]
        return tuple(str(item) for item in value) if isinstance(value, Iterable) else ()

    return Card(
        identity=identity,
        kind=str(row["kind"]),
        title=str(row["title"]),
        type=text("type"),
        url=text("url"),
        summary=text("summary"),
        docset=str(row["docset"] or ""),
        content_hash=text("contentHash"),
        level=text("level"),
        roles=words("roles"),
        audience=words("audience"),
        region=words("region"),
        moniker_range=text("monikerRange"),
        last_modified=text("lastModified"),
        successor=successor,
        requirements=tuple(Requirement(uid, frozenset(taught)) for uid, taught in sorted(needs.items())),
        source_locale=source_locale,
    )
