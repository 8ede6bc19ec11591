"""The two engines: what they are made of, and how their launcher is built."""

import hashlib
import os
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from stack import maven
from stack.errors import StackError
from stack.java import Java
from stack.lockfile import LOCKS, Jar, Lock, parse_coordinates, read_lock, render_lock
from stack.packages import cache_folder, install

_LAUNCHERS = Path(__file__).parent / "launchers"
_COMPILER = "org.eclipse.jdt:ecj:jar:3.43.0"
_COMPILED_WITHIN_SECONDS = 120


@dataclass(frozen=True)
class Distribution:
    """An engine as packages.

    roots, plugin_roots: coordinates from which the lock is made; what only a plugin needs goes to `plugins/`.
    launcher: class with the main method; sources: files in `stack/launchers`.
    services: files of META-INF/services → the class named in it.
    """

    name: str
    roots: tuple[str, ...]
    plugin_roots: tuple[str, ...]
    exclusions: tuple[str, ...]
    launcher: str
    sources: tuple[str, ...]
    services: tuple[tuple[str, str], ...] = ()


NEO4J = Distribution(
    name="neo4j",
    roots=("org.neo4j:neo4j:jar:2026.08.1",),
    plugin_roots=("org.neo4j.gds:proc:jar:2.26.0",),
    exclusions=(),
    launcher="Neo4jLauncher",
    sources=("Neo4jLauncher.java", "GraphDataScienceExtensionFactory.java"),
    services=(("org.neo4j.kernel.extension.ExtensionFactory", "GraphDataScienceExtensionFactory"),),
)

OPENSEARCH = Distribution(
    name="opensearch",
    roots=(
        "org.opensearch:opensearch:jar:3.9.0",
        "org.opensearch.plugin:transport-netty4-client:jar:3.9.0",
        "org.opensearch.plugin:analysis-common:jar:3.9.0",
        "org.opensearch.plugin:lang-painless:jar:3.9.0",
        "org.opensearch.plugin:reindex-client:jar:3.9.0",
        "org.apache.logging.log4j:log4j-core:jar:2.25.5",
    ),
    plugin_roots=(),
    # Asks for a native library that isn't published for every platform; HTTP/3 isn't used.
    exclusions=("io.netty:netty-codec-native-quic",),
    launcher="OpenSearchLauncher",
    sources=("OpenSearchLauncher.java", "TextAnalysisPlugin.java"),
)


@dataclass(frozen=True)
class Installation:
    """A distribution ready to run. `home` holds its jars, `launcher` is the jar compiled here."""

    distribution: Distribution
    home: Path
    launcher: Path

    @property
    def plugins(self) -> Path:
        return self.home / "plugins"

    @property
    def class_path(self) -> str:
        """Jars only, in a fixed order: a shared class archive is bound to both."""
        jars = sorted((self.home / "lib").glob("*.jar")) + sorted(self.plugins.glob("*.jar"))
        return os.pathsep.join(str(jar) for jar in [self.launcher, *jars])


def prepare(distribution: Distribution, java: Java) -> Installation:
    """Fetch the jars and compile the launcher, unless both are cached. Raises StackError."""
    home = install(distribution.name, read_lock(distribution.name), cache_folder())
    digest = hashlib.sha256(repr(distribution).encode())
    for source in distribution.sources:
        digest.update((_LAUNCHERS / source).read_bytes())
    installation = Installation(distribution, home, home / f"launcher-{digest.hexdigest()[:12]}.jar")
    with FileLock(home / "launcher.lock", timeout=_COMPILED_WITHIN_SECONDS):
        if not installation.launcher.exists():
            _compile(installation, java)
    return installation


def _compile(installation: Installation, java: Java) -> None:
    """With the Eclipse compiler, which runs on a runtime without a compiler: one way on every machine."""
    distribution = installation.distribution
    (compiler,) = (installation.home / "compiler").glob("*.jar")
    with tempfile.TemporaryDirectory(dir=installation.home, prefix="classes-") as folder:
        sources = [str(_LAUNCHERS / source) for source in distribution.sources]
        options = ["-source", "21", "-target", "21", "-warn:none", "-classpath", installation.class_path]
        compilation = subprocess.run(  # noqa: S603
            [str(java.executable), "-jar", str(compiler), *options, "-d", folder, *sources],
            capture_output=True,
            text=True,
            timeout=_COMPILED_WITHIN_SECONDS,
        )
        if compilation.returncode:
            raise StackError(f"the launcher doesn't compile:\n{compilation.stdout}{compilation.stderr}")
        draft = Path(folder) / "launcher.jar"
        with zipfile.ZipFile(draft, "w") as jar:
            for compiled in sorted(Path(folder).rglob("*.class")):
                jar.write(compiled, compiled.relative_to(folder))
            for service, provider in distribution.services:
                jar.writestr(f"META-INF/services/{service}", provider + "\n")
        draft.rename(installation.launcher)


def write_lock(distribution: Distribution) -> Lock:
    """Resolve the roots anew with Maven and write the lock. For whoever raises a version."""
    own = maven.list_dependencies(distribution.roots, distribution.exclusions)
    with_plugins = maven.list_dependencies((*distribution.roots, *distribution.plugin_roots), distribution.exclusions)
    compiler = maven.list_dependencies((_COMPILER,), ())
    jars = [
        *(
            _lock_jar("lib" if coordinates in own else "plugins", coordinates, path)
            for coordinates, path in with_plugins.items()
        ),
        *(_lock_jar("compiler", coordinates, path) for coordinates, path in compiler.items()),
    ]
    lock = Lock(tuple(sorted(jars)))
    LOCKS.mkdir(exist_ok=True)
    (LOCKS / f"{distribution.name}.lock").write_text(render_lock(lock))
    return lock


def _lock_jar(folder: str, coordinates: str, path: Path) -> Jar:
    group, artifact, version, classifier = parse_coordinates(coordinates)
    return Jar(folder, group, artifact, version, classifier, hashlib.sha256(path.read_bytes()).hexdigest())
