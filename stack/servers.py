"""Neo4j with Graph Data Science, and OpenSearch, each as something to start, use and stop."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from stack.distribution import NEO4J, OPENSEARCH, Distribution, Installation, prepare
from stack.engine import START_WITHIN_SECONDS, EngineProcess, Launch
from stack.home import Home
from stack.java import find_java
from stack.settings import NEO4J_JAVA_FLAGS, NEO4J_SETTINGS, OPENSEARCH_JAVA_FLAGS, OPENSEARCH_SETTINGS

HOST = "127.0.0.1"


class Engine:
    """What both servers are made of: an engine in a home of its own that starts, stops, and starts again.

    configure: writes the settings file for (installation, port).
    """

    def __init__(
        self,
        distribution: Distribution,
        flags: tuple[str, ...],
        home: Home,
        configure: Callable[[Installation, int], None],
        *,
        environment: Callable[[], Mapping[str, str]] = dict,
        port: int,
        detached: bool,
    ) -> None:
        self._distribution = distribution
        self._flags = flags
        self._home = home
        self._configure = configure
        self._environment = environment
        self._detached = detached
        self._process: EngineProcess | None = None
        self.port = port

    def start(self, within: float = START_WITHIN_SECONDS) -> None:
        java = find_java()
        installation = prepare(self._distribution, java)
        self._home.create()
        self._configure(installation, self.port)
        launch = Launch(installation, java, self._flags, self._home, self._environment(), self._detached)
        self._process = EngineProcess(launch)
        self.port = self._process.wait_until_ready(within)

    @property
    def process(self) -> EngineProcess:
        if self._process is None:
            raise RuntimeError("start() it first")
        return self._process


class Neo4jServer:
    """A Neo4j of its own: `with Neo4jServer(home) as server: driver(server.uri, auth=server.auth)`.

    home: folder for data, logs and the password; a later start finds what an earlier one left.
    settings: lines of neo4j.conf. port: 0 takes any free one, which later starts keep.
    detached: go on when this process ends, until somebody sends SIGTERM to `pid`.
    """

    def __init__(
        self, home: Path, *, settings: Mapping[str, str] = NEO4J_SETTINGS, port: int = 0, detached: bool = False
    ) -> None:
        self._home = Home(home.absolute())
        self._settings = settings
        self._engine = Engine(
            NEO4J,
            NEO4J_JAVA_FLAGS,
            self._home,
            self._configure,
            environment=lambda: {"NEO4J_PASSWORD": self._home.remember_password()},
            port=port,
            detached=detached,
        )

    @property
    def uri(self) -> str:
        return f"bolt://{HOST}:{self._engine.port}"

    @property
    def auth(self) -> tuple[str, str]:
        return "neo4j", self._home.remember_password()

    @property
    def pid(self) -> int:
        """The leader of its process group."""
        return self._engine.process.pid

    def start(self, within: float = START_WITHIN_SECONDS) -> None:
        """Returns once Bolt answers. Raises StackError: EngineFailed if it dies or isn't ready in time (seconds)."""
        self._engine.start(within)

    def check(self) -> None:
        """Raise EngineFailed, with the end of the log, if it has died."""
        self._engine.process.check()

    def stop(self) -> None:
        self._engine.process.stop()

    def kill(self) -> None:
        """End it as a power cut would."""
        self._engine.process.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    def _configure(self, installation: Installation, port: int) -> None:
        settings = {
            **self._settings,
            "server.bolt.listen_address": f"{HOST}:{port}",
            "server.directories.plugins": str(installation.plugins),
            # A server of one machine has no connections to drain, and would wait 10 s for them.
            "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
        }
        _write_settings(self._home.settings / "neo4j.conf", settings, "=")


class OpenSearchServer:
    """An OpenSearch node of its own: `with OpenSearchServer(home) as server: AsyncOpenSearch(server.url)`.

    home: folder for data and logs; a later start finds what an earlier one left.
    settings: lines of opensearch.yml. port: 0 takes any free one, which later starts keep.
    detached: go on when this process ends, until somebody sends SIGTERM to `pid`.
    """

    def __init__(
        self,
        home: Path,
        *,
        settings: Mapping[str, str] = OPENSEARCH_SETTINGS,
        port: int = 0,
        detached: bool = False,
    ) -> None:
        self._home = Home(home.absolute())
        self._settings = settings
        self._engine = Engine(
            OPENSEARCH, OPENSEARCH_JAVA_FLAGS, self._home, self._configure, port=port, detached=detached
        )

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._engine.port}"

    @property
    def pid(self) -> int:
        """The leader of its process group."""
        return self._engine.process.pid

    def start(self, within: float = START_WITHIN_SECONDS) -> None:
        """Returns once HTTP answers. Raises StackError: EngineFailed if it dies or isn't ready in time (seconds)."""
        self._engine.start(within)

    def check(self) -> None:
        """Raise EngineFailed, with the end of the log, if it has died."""
        self._engine.process.check()

    def stop(self) -> None:
        self._engine.process.stop()

    def kill(self) -> None:
        """End it as a power cut would."""
        self._engine.process.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    def _configure(self, _installation: Installation, port: int) -> None:
        settings = {
            **self._settings,
            "network.host": HOST,
            "http.port": str(port),
            "transport.port": "0",
            "path.data": str(self._home.path / "data"),
            "path.logs": str(self._home.logs),
        }
        _write_settings(self._home.settings / "opensearch.yml", settings, ": ")


def _write_settings(path: Path, settings: Mapping[str, str], separator: str) -> None:
    path.write_text("".join(f"{name}{separator}{value}\n" for name, value in settings.items()))
