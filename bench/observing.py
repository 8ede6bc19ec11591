"""What being watched costs a search: four toolboxes over the same manual, turn by turn.

python -m bench.observing [ESTATE]        default: the project's own docs/
"""

import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

from bench.report import Measurement, say, say_stack
from service import bootstrap
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest, SearchRequest
from service.observation import SILENT, Observer
from service.settings import Settings
from service.surfaces.metrics import Metrics
from service.tools import catalogue
from service.tools.toolbox import Toolbox

_DOCS = Path(__file__).resolve().parents[1] / "docs"
_QUERIES = ("how are two rankings fused", "stale cursor", "publish a folder", "read-only data folder", "rank")
_ROUNDS = 200

_RECEIVER = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Discard(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *arguments): pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Discard)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


@contextmanager
def receiving() -> Iterator[str]:
    """The URL of a receiver in a process of its own, which throws away what it gets."""
    with subprocess.Popen([sys.executable, "-c", _RECEIVER], stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdout is not None
        try:
            yield f"http://127.0.0.1:{receiver.stdout.readline().strip()}"
        finally:
            receiver.kill()


async def main(estate: Path, receiver: str) -> None:
    say_stack("opentelemetry-sdk", "prometheus-client", "tantivy", "qdrant-edge-py", "kglite")
    watched: dict[str, tuple[Settings, Observer]] = {
        "nobody": (Settings(), SILENT),
        "metrics": (Settings(), Metrics()),
        "metrics and traces": (Settings(trace_endpoint=receiver), Metrics()),
        "metrics and a tenth of the traces": (Settings(trace_endpoint=receiver, trace_share=0.1), Metrics()),
    }
    async with AsyncExitStack() as opened:
        toolboxes: dict[str, Toolbox] = {}
        for name, (settings, observer) in watched.items():
            data = Path(opened.enter_context(tempfile.TemporaryDirectory()))
            owned = await opened.enter_async_context(bootstrap.open_owned(settings, data, observer))
            await owned.toolbox.publish(PublishRequest(paths=[str(estate)]))
            toolboxes[name] = owned.toolbox
        await _measure(toolboxes)


async def _measure(toolboxes: dict[str, Toolbox]) -> None:
    times: dict[str, list[float]] = {name: [] for name in toolboxes}
    order = list(toolboxes)
    for turn in range(_ROUNDS + 1):
        for text in _QUERIES:
            random.shuffle(order)
            for name in order:
                began = time.perf_counter()
                await toolboxes[name].call(catalogue.SEARCH, SearchRequest(text=text), ANONYMOUS)
                if turn:  # the first warms the caches
                    times[name].append((time.perf_counter() - began) * 1000)
    nobody = statistics.median(times["nobody"])
    say(Measurement("a search that nobody watches, p50", nobody, "ms"))
    for name, taken in times.items():
        if name != "nobody":
            say(Measurement(f"the same with {name}, p50", statistics.median(taken), "ms", nobody))


if __name__ == "__main__":
    with receiving() as url:
        asyncio.run(main(Path(sys.argv[1]) if len(sys.argv) > 1 else _DOCS, url))
