"""A circuit breaker: an engine that keeps failing is left alone for a while, so that nobody waits for it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Breaker:
    """Opens after `failures` in a row; after `pause` seconds it lets one attempt through, which decides."""

    failures: int
    pause: float
    clock: Callable[[], float] = time.monotonic
    _in_a_row: int = field(default=0, init=False)
    _opened_at: float | None = field(default=None, init=False)

    @property
    def is_open(self) -> bool:
        """Whether to leave the engine out. Asking after the pause lets the asker be the one attempt."""
        if self._opened_at is None:
            return False
        if self.clock() - self._opened_at < self.pause:
            return True
        self._opened_at = self.clock()
        return False

    @property
    def has_opened(self) -> bool:
        """The same for an onlooker, who attempts nothing."""
        return self._opened_at is not None

    def succeeded(self) -> None:
        self._in_a_row = 0
        self._opened_at = None

    def failed(self) -> None:
        self._in_a_row += 1
        if self._in_a_row >= self.failures and self._opened_at is None:
            self._opened_at = self.clock()
