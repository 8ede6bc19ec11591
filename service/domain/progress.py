"""How long work tells whoever watches."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is (0: not known)."""


def silent(_stage: str, _done: int, _total: int) -> None:
    """The progress of somebody who does not look."""
