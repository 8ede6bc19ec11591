"""A small estate and the real embedded application over it, for tests of behaviour from end to end."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from service import bootstrap
from service.domain.principal import ANONYMOUS, Principal
from service.domain.requests import ListRequest, NodeRequest, PublishRequest, SearchRequest, WhyNotRequest
from service.domain.results import ListResult, NodeResult, PublishResult, SearchResult, WhyNotResult
from service.settings import Settings
from service.tools import catalogue
from service.tools.local import LocalToolbox

T = TypeVar("T")


@dataclass(frozen=True)
class Application:
    """The tools of one data folder, called from tests that are not asynchronous themselves."""

    runner: asyncio.Runner
    tools: LocalToolbox

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(asyncio.wait_for(work, 60))

    def publish(self, *paths: Path, strict: bool = False, dry_run: bool = False) -> PublishResult:
        request = PublishRequest(paths=[str(path) for path in paths], strict=strict, dry_run=dry_run)
        return self.run(self.tools.publish(request))

    def search(self, text: str, principal: Principal = ANONYMOUS, **fields: Any) -> SearchResult:
        return self.run(self.tools.call(catalogue.SEARCH, SearchRequest(text=text, **fields), principal))

    def why_not(self, uid: str, text: str, principal: Principal = ANONYMOUS, **fields: Any) -> WhyNotResult:
        request = WhyNotRequest(search=SearchRequest(text=text, **fields), uid=uid)
        return self.run(self.tools.call(catalogue.WHY_NOT, request, principal))

    def nodes(self, principal: Principal = ANONYMOUS, **fields: Any) -> ListResult:
        return self.run(self.tools.call(catalogue.LIST, ListRequest(**fields), principal))

    def fetch(self, uid: str, principal: Principal = ANONYMOUS, **fields: Any) -> NodeResult:
        return self.run(self.tools.call(catalogue.FETCH, NodeRequest(uid=uid, **fields), principal))

    def uids(self, text: str, **fields: Any) -> list[str]:
        return [hit.uid for hit in self.search(text, **fields).hits]


@contextmanager
def running(data: Path, settings: Settings | None = None) -> Iterator[Application]:
    """Own `data` until the context is left."""
    with asyncio.Runner() as runner:
        opened: AbstractAsyncContextManager[LocalToolbox] = bootstrap.open_toolbox(settings or Settings(), data)
        tools = runner.run(opened.__aenter__())
        try:
            yield Application(runner, tools)
        finally:
            runner.run(opened.__aexit__(None, None, None))


PAGES = {
    "install.md": """---
title: Install the command line
uid: install
products: [tool]
---
# Install the command line

Download the archive and put the binary on your path.

## On Linux

Run `tool --no-restore install` and look for error 0x80070005.
""",
    "query.md": """---
title: Query the graph
uid: query
products: [tool, graph]
---
# Query the graph

Follow the [installation](install.md) first. Every relationship has a type.

## Time limits

A query that takes longer than its deadline is stopped.
""",
    "clients.md": """---
title: Clients in C#
uid: clients
products: [library]
---
# Clients in C#

`IHttpClientFactory` makes clients for net-maui-8.0. See [the graph](query.md).
""",
    "colours.md": """---
title: Choosing colours
uid: colours
products: [design]
---
# Choosing colours

Warm hues draw the eye; cool ones recede.
""",
}


def write_estate(root: Path, pages: dict[str, str] | None = None) -> Path:
    """A plain Markdown estate in `root`, from file name to text."""
    root.mkdir(parents=True, exist_ok=True)
    for name, text in (PAGES if pages is None else pages).items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root
