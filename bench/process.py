"""What a process and its data folder take, read from outside."""

import contextlib
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Reading:
    """At `seconds` since the first: memory in MiB, of the process and those it has begun; sizes in MiB."""

    seconds: float
    resident: float
    anonymous: float
    descriptors: int
    threads: int
    folder: float
    write_ahead: float


def read(pid: int, data: Path, seconds: float) -> Reading:
    """Raises FileNotFoundError where the process is gone."""
    resident = anonymous = descriptors = threads = 0
    for one in family(pid):
        status = _status(one)
        resident += status["VmRSS"]
        anonymous += status["RssAnon"]
        threads += status["Threads"]
        descriptors += len(os.listdir(f"/proc/{one}/fd"))
    sizes = [(path.name, _size(path)) for path in data.rglob("*") if path.is_file()]
    write_ahead = sum(size for name, size in sizes if name.endswith("-wal"))
    folder = sum(size for _, size in sizes)
    return Reading(seconds, resident / 1024, anonymous / 1024, descriptors, threads, folder / _MIB, write_ahead / _MIB)


def family(pid: int) -> list[int]:
    """The process and all that it has begun, as far as they live."""
    begun: list[int] = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended since
            begun += [int(child) for child in (thread / "children").read_text().split()]
    return [pid, *(member for child in begun for member in family(child))]


@dataclass(frozen=True, slots=True)
class Drift:
    """Of a series: the medians of its first and last window, what the latter is more, as a share, and what a straight
    line through all of it rises from end to end, as a share of its middle."""

    first: float
    last: float
    growth: float
    slope: float


def drift(times: Sequence[float], values: Sequence[float], window: float) -> Drift:
    """window: seconds at either end."""
    first = statistics.median(v for t, v in zip(times, values, strict=True) if t <= times[0] + window)
    last = statistics.median(v for t, v in zip(times, values, strict=True) if t >= times[-1] - window)
    line = statistics.linear_regression(times, values)
    middle = statistics.mean(values)
    rise = line.slope * (times[-1] - times[0])
    return Drift(first, last, last / first - 1 if first else 0.0, rise / middle if middle else 0.0)


def _status(pid: int) -> dict[str, int]:
    lines = (line.partition(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {name: int(value.split()[0]) for name, _, value in lines if name in ("VmRSS", "RssAnon", "Threads")}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # gone since it was listed
        return 0
