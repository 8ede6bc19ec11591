"""What a bench says: one JSON line for machines, one line for people, and the stack that was measured."""

import json
import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version


@dataclass(frozen=True, slots=True)
class Measurement:
    """`against` is the value of the comparison in the same unit, and `ratio` is value / against; None where there is
    none."""

    claim: str
    value: float
    unit: str
    against: float | None = None

    @property
    def ratio(self) -> float | None:
        return self.value / self.against if self.against else None


def say(measurement: Measurement, remark: str = "") -> None:
    """Print both lines."""
    row = asdict(measurement) | {"ratio": measurement.ratio}
    print(json.dumps({key: _rounded(value) for key, value in row.items()}, ensure_ascii=False))
    beside = f", against {_readable(measurement.against)} (× {measurement.ratio:.2f})" if measurement.ratio else ""
    tail = f"; {remark}" if remark else ""
    print(f"  {measurement.claim}: {_readable(measurement.value)} {measurement.unit}{beside}{tail}", flush=True)


def say_stack(*packages: str) -> None:
    """Name what is measured, and on what: a machine that does other work as well measures that too."""
    versions = " · ".join(f"{package} {version(package)}" for package in packages)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    busy = f"{os.getloadavg()[0]:.1f} processes running" if hasattr(os, "getloadavg") else ""
    print(f"# {versions} · {machine} · {busy}", flush=True)


def _rounded(value: object) -> object:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _readable(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
