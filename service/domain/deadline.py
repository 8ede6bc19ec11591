"""A point in time by which an answer is due: made at the surface, handed down to every engine."""

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deadline:
    """`at` is on the monotonic clock, in seconds."""

    at: float

    @classmethod
    def after(cls, milliseconds: float) -> "Deadline":
        return cls(time.monotonic() + milliseconds / 1000)

    @property
    def seconds_left(self) -> float:
        """Zero once it has passed, never negative."""
        return max(0.0, self.at - time.monotonic())

    @property
    def has_passed(self) -> bool:
        return self.seconds_left == 0.0

    def at_most(self, milliseconds: float) -> "Deadline":
        """The earlier of this deadline and one `milliseconds` from now."""
        return Deadline(min(self.at, time.monotonic() + milliseconds / 1000))
