"""What can go wrong with an engine, each with what to do next."""

from pathlib import Path


class StackError(Exception):
    """Base of all errors of this package."""


class JavaMissing(StackError):
    """No Java runtime of version 21 or newer was found."""


class PackageMismatch(StackError):
    """A resolved jar is missing or isn't the one that the lock names."""


class ResolutionFailed(StackError):
    """Maven (or jgo) couldn't fetch the packages."""


class HomeInUse(StackError):
    """Another engine runs in this home."""


class EngineFailed(StackError):
    """An engine didn't start, or died. `log` is the whole log, `tail` its end (also in the message)."""

    def __init__(self, reason: str, log: Path, tail: str) -> None:
        super().__init__(f"{reason}\nThe log is {log}; its end:\n{tail}")
        self.log = log
        self.tail = tail
