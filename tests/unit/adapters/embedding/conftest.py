import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from adapters.embedding.minilm import MiniLM


@pytest.fixture(scope="session")
def minilm() -> Iterator[MiniLM]:
    model = MiniLM.load(threads=2)
    yield model
    asyncio.run(model.close())


@pytest.fixture
def run_python() -> Callable[[str], str]:
    """Run a program in an interpreter of its own; its standard output."""

    def run(program: str) -> str:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
        return done.stdout

    return run
