"""One request's access to the tools: the same question is asked once, nodes are fetched together, calls are counted."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from strawberry.dataloader import DataLoader

from service.domain.errors import Refused
from service.domain.principal import Principal
from service.domain.requests import NodeRequest, NodesRequest
from service.domain.results import FetchedNode, NodeResult, Result
from service.settings import Settings
from service.surfaces.graphql.refusals import QueryOverLimit
from service.tools import catalogue
from service.tools.catalogue import Asked, Given, Tool
from service.tools.toolbox import Toolbox

NodeName = tuple[str, str | None]
"""A uid, and a locale where one is wished for."""


@dataclass
class Asking:
    """Made for one request and closed with it. `answered` is told of every result."""

    toolbox: Toolbox
    principal: Principal
    settings: Settings
    answered: Callable[[Result], None]
    _calls: "dict[tuple[str, str], asyncio.Task[Any]]" = field(default_factory=dict, init=False)
    _nodes: DataLoader[NodeName, NodeResult] = field(init=False)

    def __post_init__(self) -> None:
        self._nodes = DataLoader(self._load, max_batch_size=self.settings.fetch_batch)

    async def ask(self, tool: Tool[Asked, Given], request: Asked) -> Given:
        """Raises QueryOverLimit for one call too many, and what the tool raises."""
        key = (tool.name, request.model_dump_json())
        if key not in self._calls:
            most = self.settings.graphql_calls
            if len(self._calls) >= most:
                raise QueryOverLimit("graphql_calls", most)
            self._calls[key] = asyncio.create_task(self._call(tool, request))
        result: Given = await asyncio.shield(self._calls[key])
        return result

    async def node(self, uid: str, locale: str | None) -> NodeResult:
        """Together with all that are asked for in the same moment."""
        return await self._nodes.load((uid, locale))

    async def close(self) -> None:
        """Whatever is still at work stops: nobody waits for it any more."""
        for call in self._calls.values():
            call.cancel()
        await asyncio.gather(*self._calls.values(), return_exceptions=True)

    async def _call(self, tool: Tool[Asked, Given], request: Asked) -> Given:
        result = await self.toolbox.call(tool, request, self.principal)
        self.answered(result)
        return result

    async def _load(self, names: list[NodeName]) -> list[NodeResult | BaseException]:
        """One call for all names of a locale."""
        uids: dict[str | None, list[str]] = {}
        for uid, locale in names:
            uids.setdefault(locale, []).append(uid)
        answers = await asyncio.gather(*(self._fetch(locale, of_locale) for locale, of_locale in uids.items()))
        fetched = dict(zip(uids, answers, strict=True))
        return [fetched[locale][uid] for uid, locale in names]

    async def _fetch(self, locale: str | None, uids: list[str]) -> dict[str, NodeResult | BaseException]:
        try:
            if len(uids) == 1:
                return {uids[0]: await self.ask(catalogue.FETCH, NodeRequest(uid=uids[0], locale=locale))}
            result = await self.ask(catalogue.FETCH_BATCH, NodesRequest(uids=uids, locale=locale))
            return {fetched.asked: fetched.node or _raisable(fetched) for fetched in result.nodes}
        except Exception as error:
            return dict.fromkeys(uids, error)


def _raisable(fetched: FetchedNode) -> Refused:
    """A refusal within an answer as the error that it was."""
    assert fetched.refusal is not None
    error = Refused(fetched.refusal.message, suggestion=fetched.refusal.suggestion)
    error.code = fetched.refusal.code
    return error
