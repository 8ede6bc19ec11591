"""What REST and MCP add to a search: one kept connection on loopback, beside the same calls in process, turn by turn.

python -m bench.rest_overhead [ESTATE]        default: the project's own docs/
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from bench.report import Measurement, say, say_stack
from service.bootstrap import open_toolbox
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest, SearchRequest
from service.settings import Settings
from service.surfaces.application import application
from service.surfaces.command_line.serving import address, listen
from service.tools import catalogue
from service.tools.toolbox import Toolbox

_DOCS = Path(__file__).resolve().parents[1] / "docs"
_QUERIES = ("how are two rankings fused", "stale cursor", "publish a folder", "read-only data folder", "rank")
_ROUNDS = 100


async def main(estate: Path) -> None:
    say_stack("fastapi", "uvicorn", "pydantic", "mcp")
    settings = Settings(port=0)
    with tempfile.TemporaryDirectory() as data:
        async with open_toolbox(settings, Path(data)) as toolbox:
            await toolbox.publish(PublishRequest(paths=[str(estate)]))
            async with _serving(toolbox, settings) as url, httpx.AsyncClient(base_url=url) as client:
                await _measure(toolbox, client)


async def _measure(toolbox: Toolbox, client: httpx.AsyncClient) -> None:
    in_process: list[float] = []
    over_http: list[float] = []
    over_mcp: list[float] = []
    bare: list[float] = []
    for turn in range(_ROUNDS + 1):
        for text in _QUERIES:
            began = time.perf_counter()
            await toolbox.call(catalogue.SEARCH, SearchRequest(text=text), ANONYMOUS)
            called = time.perf_counter()
            (await client.post("/v1/search", json={"text": text})).raise_for_status()
            answered = time.perf_counter()
            (await client.post("/mcp", **_mcp(text))).raise_for_status()
            agreed = time.perf_counter()
            (await client.get("/livez")).raise_for_status()
            lived = time.perf_counter()
            if turn:  # the first warms the caches
                in_process.append((called - began) * 1000)
                over_http.append((answered - called) * 1000)
                over_mcp.append((agreed - answered) * 1000)
                bare.append((lived - agreed) * 1000)
    call, rest, mcp, live = (statistics.median(times) for times in (in_process, over_http, over_mcp, bare))
    say(Measurement("POST /v1/search, p50, client included", rest, "ms", call), "against the same call in process")
    say(Measurement("MCP docs_search, p50, client included", mcp, "ms", rest), "against POST /v1/search")
    say(Measurement("GET /livez, p50, client included", live, "ms"))
    say(Measurement("REST overhead of a search, p50", rest - call, "ms", live), "against GET /livez")


def _mcp(text: str) -> dict[str, Any]:
    revision = "2026-07-28"
    about = {"clientInfo": {"name": "bench", "version": "1"}, "protocolVersion": revision, "clientCapabilities": {}}
    params = {
        "name": "docs_search",
        "arguments": {"text": text},
        "_meta": {f"io.modelcontextprotocol/{name}": value for name, value in about.items()},
    }
    return {
        "json": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
        "headers": {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": revision,
            "Mcp-Method": "tools/call",
            "Mcp-Name": "docs_search",
        },
    }


@asynccontextmanager
async def _serving(toolbox: Toolbox, settings: Settings) -> AsyncIterator[str]:
    with listen(settings) as listener:
        server = uvicorn.Server(uvicorn.Config(application(toolbox, settings), log_level="error", lifespan="off"))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield address(listener)
        finally:
            server.should_exit = True
            await serving


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else _DOCS))
