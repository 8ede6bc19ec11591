"""How long work tells whoever watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is (0: not known)."""


def silent(_stage: str, _done: int, _total: int) -> None:
    """The progress of somebody who does not look."""


@dataclass
class Activity:
    """What is being done just now, for others than the one who asked for it. Nothing is, where `stage` is empty."""

    stage: str = ""
    done: int = 0
    total: int = 0

    @contextmanager
    def under_way(self, progress: Progress) -> Iterator[Progress]:
        """While it lasts, what is told to the progress that it gives is told to `progress`, and remembered here."""
        self.stage, self.done, self.total = "beginning", 0, 0

        def tell(stage: str, done: int, total: int) -> None:
            self.stage, self.done, self.total = stage, done, total
            progress(stage, done, total)

        try:
            yield tell
        finally:
            self.stage, self.done, self.total = "", 0, 0
