"""The folders of one model's vectors: the shard that answers, and a better indexed copy of it in the making.

Building an HNSW graph holds the interpreter's lock for minutes, so it is done by another process, on a copy; the copy
then takes the shard's place.

    python -m adapters.embedded.vector_shards FOLDER DIMENSIONS      builds the graph of the shard in FOLDER
"""

import asyncio
import contextlib
import errno
import os
import shutil
import sys
from pathlib import Path

import qdrant_edge as qdrant
import structlog

_CURRENT = "current"
"""The file that names the folder of the shard that answers."""

_LAST_WORDS = 500
"""Bytes of what a failing process said that go to the log."""

_log = structlog.get_logger(__name__)

_POLITENESS = 10
"""How much the building process yields to others (`nice`)."""

_SMALLEST_INDEXED = 1
"""KiB of vectors from which a segment gets a graph, in the building process: it is asked only when one is wanted."""


class VectorShards:
    """One shard a model in `folder`. Blocking but for `index`; one thread at a time.

    The engine writes through memory maps of files with holes: where the disk has no room for a page, the process dies.
    So nothing is written unless `reserve` bytes are free.
    """

    def __init__(self, folder: Path, dimensions: int, *, reserve: int) -> None:
        self._folder = folder
        self._dimensions = dimensions
        self._reserve = reserve

    def require_space(self) -> None:
        """Raises OSError (no space left on device)."""
        free = shutil.disk_usage(self._folder).free
        if free < self._reserve:
            raise OSError(
                errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: {free} bytes are free, {self._reserve} are wanted"
            )

    def open(self) -> qdrant.EdgeShard:
        """The shard that answers, made where there is none. Raises the engine's errors and OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        current = self._current()
        if current is None:
            self.require_space()
            current = self._folder / "shard-1"
            shutil.rmtree(current, ignore_errors=True)
            _create(current, self._dimensions)
            self._point_to(current)
        self._sweep(current)
        return qdrant.EdgeShard.load(str(current))

    def copy(self, shard: qdrant.EdgeShard) -> Path:
        """Another folder with what the shard holds now; nothing may be written to it meanwhile."""
        current = self._current()
        assert current is not None, "only an open shard is copied"
        self.require_space()
        copy = self._folder / f"shard-{int(current.name.partition('-')[2]) + 1}"
        shutil.rmtree(copy, ignore_errors=True)
        shard.flush()
        shutil.copytree(current, copy)
        return copy

    async def index(self, copy: Path, *, seconds: float) -> bool:
        """Build the copy's graph in another process; False, and a line in the log, where that fails or takes long."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            __name__,
            str(copy),
            str(self._dimensions),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            _, said = await asyncio.wait_for(process.communicate(), seconds)
            if process.returncode != 0:
                _log.warning("no graph over the vectors", reason=said[-_LAST_WORDS:].decode(errors="replace"))
            return process.returncode == 0
        except TimeoutError:
            _log.warning("no graph over the vectors", reason=f"not done after {seconds} seconds")
            return False
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()

    def adopt(self, copy: Path) -> qdrant.EdgeShard:
        """Open the copy; `settle` makes it the shard that answers."""
        return qdrant.EdgeShard.load(str(copy))

    def settle(self, copy: Path) -> None:
        """From now on, and at the next start, the copy is the shard."""
        self._point_to(copy)
        self._sweep(copy)

    def discard(self, copy: Path) -> None:
        shutil.rmtree(copy, ignore_errors=True)

    def _current(self) -> Path | None:
        try:
            return self._folder / (self._folder / _CURRENT).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def _point_to(self, shard: Path) -> None:
        partial = self._folder / f"{_CURRENT}.partial"
        with partial.open("w", encoding="utf-8") as stream:
            stream.write(shard.name)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(self._folder / _CURRENT)

    def _sweep(self, current: Path) -> None:
        """Take away what was replaced, or what a killed process was making."""
        for stale in self._folder.glob("shard-*"):
            if stale != current:
                shutil.rmtree(stale, ignore_errors=True)


def _create(path: Path, dimensions: int) -> None:
    path.mkdir()
    shard = qdrant.EdgeShard.create(
        str(path),
        qdrant.EdgeConfig(vectors=_vectors(dimensions), wal_enabled=True),
    )
    for field in ("record", "visibleTo", "tags"):
        shard.update(qdrant.UpdateOperation.create_field_index(field, qdrant.PayloadSchemaType.Keyword))
    shard.update(qdrant.UpdateOperation.create_field_index("generation", qdrant.PayloadSchemaType.Integer))
    shard.flush()
    shard.close()


def _vectors(dimensions: int) -> qdrant.EdgeVectorParams:
    return qdrant.EdgeVectorParams(size=dimensions, distance=qdrant.Distance.Cosine)


def build_graph(folder: Path, dimensions: int) -> None:
    """Index and tidy the shard in the folder. Raises the engine's errors."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(_POLITENESS)
    config = qdrant.EdgeConfig(
        vectors=_vectors(dimensions),
        optimizers=qdrant.EdgeOptimizersConfig(indexing_threshold=_SMALLEST_INDEXED),
    )
    shard = qdrant.EdgeShard.load(str(folder), config)
    shard.optimize()
    shard.flush()
    shard.close()


if __name__ == "__main__":
    build_graph(Path(sys.argv[1]), int(sys.argv[2]))
