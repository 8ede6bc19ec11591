"""A bounded memory of what was looked up."""

import threading
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Memo(Generic[Key, Value]):
    """Holds at most `size` values; the one that came first gives way. Safe between threads.

    Reading takes no lock and leaves no trace: it happens hundreds of times a search.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: dict[Key, Value] = {}
        self._changing = threading.Lock()
        self.get = self._values.get

    def put(self, key: Key, value: Value) -> None:
        with self._changing:
            self._values[key] = value
            while len(self._values) > self._size:
                del self._values[next(iter(self._values))]

    def forget(self, key: Key) -> None:
        with self._changing:
            self._values.pop(key, None)

    def clear(self) -> None:
        with self._changing:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)
