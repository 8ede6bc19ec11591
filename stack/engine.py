"""One engine as a process of this machine: started, watched, stopped."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass

from stack.distribution import Installation
from stack.errors import EngineFailed
from stack.home import Home
from stack.java import Java

START_WITHIN_SECONDS = 120.0
STOP_WITHIN_SECONDS = 30.0
_LOOK_EVERY_SECONDS = 0.05


@dataclass(frozen=True)
class Launch:
    """What a start needs. `detached` engines outlive this process and stop on SIGTERM."""

    installation: Installation
    java: Java
    flags: tuple[str, ...]
    home: Home
    environment: Mapping[str, str]
    detached: bool

    @property
    def name(self) -> str:
        return self.installation.distribution.name

    @property
    def command(self) -> list[str]:
        return [
            str(self.java.executable),
            *self.flags,
            "-classpath",
            self.installation.class_path,
            self.installation.distribution.launcher,
            str(self.home.path),
            "detached" if self.detached else "attached",
        ]


class EngineProcess:
    """A started engine.

    Its process group is its own. While attached it holds the read end of a pipe of ours as its standard input: when
    this process ends, however it ends, the pipe closes and the engine stops by itself.
    """

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        with launch.home.claim() as claim, launch.home.console.open("ab") as console:
            self._process = subprocess.Popen(  # noqa: S603
                launch.command,
                stdin=subprocess.DEVNULL if launch.detached else subprocess.PIPE,
                stdout=console,
                stderr=subprocess.STDOUT,
                env={**os.environ, **launch.environment},
                pass_fds=(claim.fileno(),),
                start_new_session=True,
            )
        launch.home.pid.write_text(str(self._process.pid))

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_until_ready(self, within: float) -> int:
        """The port it answers on. Raises EngineFailed if it dies or isn't ready within so many seconds."""
        deadline = time.monotonic() + within
        while not self._launch.home.port.exists():
            self.check()
            if time.monotonic() > deadline:
                self.kill()
                raise self._failure(f"{self._launch.name} was not ready after {within:.0f} s")
            time.sleep(_LOOK_EVERY_SECONDS)
        return int(self._launch.home.port.read_text())

    def check(self) -> None:
        """Raise EngineFailed, with the end of the log, if the engine has died."""
        if (status := self._process.poll()) is not None:
            raise self._failure(f"{self._launch.name} ended with status {status}")

    def stop(self) -> None:
        """Ask it to stop, and wait; kill it if it doesn't."""
        if self._process.stdin:
            self._process.stdin.close()
        else:
            self._signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_WITHIN_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self._launch.home.pid.unlink(missing_ok=True)

    def kill(self) -> None:
        """End the whole process group at once, as a power cut would."""
        self._signal(signal.SIGKILL)
        self._process.wait(STOP_WITHIN_SECONDS)
        if self._process.stdin:
            self._process.stdin.close()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _failure(self, reason: str) -> EngineFailed:
        return EngineFailed(reason, self._launch.home.console, self._launch.home.tail())
