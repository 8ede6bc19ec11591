"""The jars an engine is made of: coordinates and checksums, one line each."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

LOCKS = Path(__file__).parent / "locks"


@dataclass(frozen=True, order=True)
class Jar:
    """One jar. `folder` says what it is for: `lib` (class path), `plugins` (both), `compiler`."""

    folder: str
    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str

    @property
    def filename(self) -> str:
        """Unique within an engine: two groups may have artifacts of the same name."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        return f"{self.group}.{self.artifact}-{self.version}{suffix}.jar"

    @property
    def coordinates(self) -> str:
        """group:artifact:jar[:classifier]:version, as Maven writes it."""
        middle = f"jar:{self.classifier}" if self.classifier else "jar"
        return f"{self.group}:{self.artifact}:{middle}:{self.version}"


@dataclass(frozen=True)
class Lock:
    """All jars of an engine; `digest` changes with any of them."""

    jars: tuple[Jar, ...]

    @property
    def digest(self) -> str:
        return hashlib.sha256(render_lock(self).encode()).hexdigest()


def parse_coordinates(coordinates: str) -> tuple[str, str, str, str]:
    """group:artifact:jar[:classifier]:version → (group, artifact, version, classifier)."""
    group, artifact, packaging, *classifier, version = coordinates.split(":")
    if packaging != "jar" or len(classifier) > 1:
        raise ValueError(f"not the coordinates of a jar: {coordinates}")
    return group, artifact, version, classifier[0] if classifier else ""


def render_lock(lock: Lock) -> str:
    return "".join(f"{jar.folder} {jar.coordinates} {jar.sha256}\n" for jar in sorted(lock.jars))


def parse_lock(text: str) -> Lock:
    return Lock(tuple(_parse_lines(text.splitlines())))


def read_lock(engine: str) -> Lock:
    return parse_lock((LOCKS / f"{engine}.lock").read_text())


def _parse_lines(lines: Iterable[str]) -> Iterable[Jar]:
    for line in lines:
        folder, coordinates, sha256 = line.split()
        group, artifact, version, classifier = parse_coordinates(coordinates)
        yield Jar(folder, group, artifact, version, classifier, sha256)
