"""An engine's folder: its settings, data and logs, which stay there when it stops."""

import contextlib
import fcntl
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from stack.errors import HomeInUse

_TAIL_LINES = 40

# Whoever looks whether an engine lives here holds the claim for an instant.
_CLAIMED_WITHIN_SECONDS = 0.25
_LOOK_EVERY_SECONDS = 0.01


@dataclass(frozen=True)
class Home:
    """Where everything of one engine lies. The engine holds `claim` while it lives, so its death can't go unnoticed."""

    path: Path

    @property
    def settings(self) -> Path:
        return self.path / "conf"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def console(self) -> Path:
        """What the process wrote to its standard output and error, all starts one after the other."""
        return self.logs / "console.log"

    @property
    def port(self) -> Path:
        """Written by the launcher, and only once the engine answers on it."""
        return self.path / "run" / "port"

    @property
    def pid(self) -> Path:
        """There from a start to the stop: what is left of a crash."""
        return self.path / "run" / "pid"

    @property
    def password(self) -> Path:
        return self.path / "password"

    def create(self) -> None:
        for folder in (self.path, self.settings, self.logs, self.port.parent):
            folder.mkdir(parents=True, exist_ok=True)

    def claim(self) -> IO[bytes]:
        """An open file whose lock its holder's children inherit; it is free again when the last of them has ended.

        Raises HomeInUse.
        """
        claim = self._claim_file.open("wb")
        deadline = time.monotonic() + _CLAIMED_WITHIN_SECONDS
        while True:
            try:
                fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    claim.close()
                    raise HomeInUse(f"another engine runs in {self.path}; stop it first") from None
                time.sleep(_LOOK_EVERY_SECONDS)
            else:
                self.port.unlink(missing_ok=True)
                return claim

    @property
    def is_claimed(self) -> bool:
        """Whether an engine lives here, by the system's word and not by a process id that may be another's by now."""
        try:
            with self._claim_file.open("rb") as claim:
                fcntl.flock(claim, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def remember_password(self) -> str:
        """The password of this home, made up at its first start; only its owner can read the file."""
        if not self.password.exists():
            self.password.touch(mode=0o600)
            self.password.write_text(secrets.token_urlsafe(24))
        return self.password.read_text()

    def tail(self) -> str:
        """The end of the console's log."""
        with contextlib.suppress(FileNotFoundError):
            return "\n".join(self.console.read_text(errors="replace").splitlines()[-_TAIL_LINES:])
        return "(nothing)"

    @property
    def _claim_file(self) -> Path:
        return self.path / "run" / "claim"
