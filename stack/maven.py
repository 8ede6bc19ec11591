"""Fetches jars with Maven where it is on the PATH, else with jgo, which needs nothing but Python."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from xml.sax.saxutils import escape

from stack.errors import ResolutionFailed
from stack.lockfile import Jar, parse_coordinates

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
_PARALLEL_DOWNLOADS = 8

Tick = Callable[[], None]


def fetch(jars: Sequence[Jar], folder: Path, tick: Tick) -> None:
    """Put exactly these jars, without what they depend on, into `folder`; `tick` is called as each one comes.

    Raises ResolutionFailed.
    """
    if shutil.which("mvn"):
        _fetch_with_maven(jars, folder, tick)
    else:
        _fetch_with_jgo(jars, folder, tick)


def _fetch_with_maven(jars: Sequence[Jar], folder: Path, tick: Tick) -> None:
    dependencies = [
        _dependency(jar.group, jar.artifact, jar.version, jar.classifier, exclusions=["*:*"]) for jar in jars
    ]
    goal = (f"{PLUGIN}:copy-dependencies", f"-DoutputDirectory={folder}", "-Dmdep.prependGroupId=true")
    for line in _run_maven(dependencies, goal):
        if "Downloaded from" in line and ".jar " in line:
            tick()


def _fetch_with_jgo(jars: Sequence[Jar], folder: Path, tick: Tick) -> None:
    from jgo.maven import MavenContext

    context = MavenContext(timeout=60)

    def fetch_one(jar: Jar) -> None:
        component = context.project(jar.group, jar.artifact).at_version(jar.version)
        shutil.copyfile(component.artifact(jar.classifier).resolve(), folder / jar.filename)

    with ThreadPoolExecutor(_PARALLEL_DOWNLOADS) as pool:
        downloads = {pool.submit(fetch_one, jar): jar for jar in jars}
        for download in as_completed(downloads):
            if failure := download.exception():
                pool.shutdown(cancel_futures=True)
                raise ResolutionFailed(f"jgo couldn't fetch {downloads[download].coordinates}: {failure}")
            tick()


def list_dependencies(roots: Iterable[str], exclusions: Sequence[str]) -> dict[str, Path]:
    """Everything that `roots` (coordinates) need at run time: coordinates → the jar in Maven's own repository.

    `exclusions` are group:artifact pairs left out wherever they occur.
    """
    dependencies = [_dependency(*parse_coordinates(root), exclusions=exclusions) for root in roots]
    with tempfile.NamedTemporaryFile(suffix=".txt") as listing:
        goal = (
            f"{PLUGIN}:list",
            f"-DoutputFile={listing.name}",
            "-DincludeScope=runtime",
            "-DoutputAbsoluteArtifactFilename=true",
        )
        for _ in _run_maven(dependencies, goal):
            pass
        found = {}
        for line in Path(listing.name).read_text().splitlines():
            if ":jar:" in line:
                entry = line.split(" -- ")[0].strip()
                coordinates, _scope, path = entry.rsplit(":", 2)
                found[coordinates] = Path(path)
        return found


def _dependency(group: str, artifact: str, version: str, classifier: str, exclusions: Sequence[str]) -> str:
    excluded = "".join(
        f"<exclusion><groupId>{g}</groupId><artifactId>{a}</artifactId></exclusion>"
        for g, a in (exclusion.split(":") for exclusion in exclusions)
    )
    return (
        f"<dependency><groupId>{escape(group)}</groupId><artifactId>{escape(artifact)}</artifactId>"
        f"<version>{escape(version)}</version><classifier>{escape(classifier)}</classifier>"
        f"<exclusions>{excluded}</exclusions></dependency>"
    )


def _run_maven(dependencies: Iterable[str], goal: Sequence[str]) -> Iterable[str]:
    """Run a goal on a project with these dependencies; yields what Maven says, line by line."""
    with tempfile.TemporaryDirectory(prefix="cogitave-query-maven-") as folder:
        project = Path(folder) / "pom.xml"
        project.write_text(
            '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
            "<groupId>cogitave</groupId><artifactId>stack</artifactId><version>1</version><packaging>pom</packaging>"
            f"<dependencies>{''.join(dependencies)}</dependencies></project>"
        )
        said = []
        with subprocess.Popen(  # noqa: S603
            ["mvn", "--batch-mode", "--file", str(project), *goal],  # noqa: S607
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as maven:
            assert maven.stdout is not None
            for line in maven.stdout:
                said.append(line)
                yield line
    if maven.returncode:
        raise ResolutionFailed("mvn failed:\n" + "".join(said[-30:]))
