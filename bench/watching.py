"""How soon a saved page is found: a server, a `publish --watch` that goes through it, and searches for the page.

python -m bench.watching                   learn-en-us, the model included
python -m bench.watching --estate maui     another estate
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from bench.corpora import estate
from bench.publish import a_page
from bench.report import Measurement, say, say_stack

SAVES = 10
MOST_SECONDS = 2.0
_COMMAND = [sys.executable, "-c", "import sys; from service.surfaces.command_line import main; sys.exit(main())"]
_FOUND_SECONDS = 60
_POLL_SECONDS = 0.02
_REST_SECONDS = 3


@contextmanager
def command(data: Path, words: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The command until the block ends; entered with the first document that it prints."""
    process = subprocess.Popen(
        [*_COMMAND, "--data", str(data), "--json", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        yield json.loads(_document(process))
    finally:
        process.terminate()
        process.wait(60)


def _document(process: "subprocess.Popen[bytes]") -> bytes:
    """What the process prints up to the end of a document; the rest is read and forgotten."""
    assert process.stdout is not None
    lines: list[bytes] = []
    for line in process.stdout:
        lines.append(line)
        if line == b"}\n":
            break
    threading.Thread(target=process.stdout.read, daemon=True).start()
    return b"".join(lines)


def saved_until_found(page: Path, client: httpx.Client, word: str) -> float:
    """Seconds from the page's being saved with the word until a search for the word shows it."""
    page.write_text(f"{page.read_text()}\n\nOne sentence more, which says {word}.\n")
    saved = time.perf_counter()
    while time.perf_counter() - saved < _FOUND_SECONDS:
        answer = client.post("/v1/search", json={"text": word, "limit": 3})
        answer.raise_for_status()
        if any(word in hit["passage"]["text"] for hit in answer.json()["hits"]):
            return time.perf_counter() - saved
        time.sleep(_POLL_SECONDS)
    raise TimeoutError(f"{word} was not found in {_FOUND_SECONDS} s")


def main(name: str) -> None:
    say_stack("cogitave-query", "tantivy", "qdrant-edge-py", "kglite", "onnxruntime")
    with tempfile.TemporaryDirectory(prefix="cogitave-query-watching-") as folder:
        copy, data = Path(folder) / name, Path(folder) / "data"
        shutil.copytree(estate(name), copy)
        with (
            command(data, ["serve", "--port", "0"]) as server,
            command(data, ["publish", "--watch", str(copy)]),
            httpx.Client(base_url=server["url"], timeout=60) as client,
        ):
            page = a_page(copy)
            seconds: list[float] = []
            for number in range(SAVES):
                time.sleep(_REST_SECONDS)
                seconds.append(saved_until_found(page, client, f"quixotry{number}"))
    remark = f"{name}; of {SAVES} saves the quickest {min(seconds):.2f} s, the slowest {max(seconds):.2f} s"
    say(Measurement("a saved page is found", median(seconds), "s", MOST_SECONDS), remark)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--estate", default="learn-en-us")
    main(parser.parse_args().estate)
