"""A bounded memory of what was looked up lately."""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Memo(Generic[Key, Value]):
    """Holds at most `size` values and forgets the one that was used longest ago. Safe between threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._changing = threading.Lock()

    def get(self, key: Key) -> Value | None:
        with self._changing:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: Key, value: Value) -> None:
        with self._changing:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)

    def forget(self, key: Key) -> None:
        with self._changing:
            self._values.pop(key, None)

    def clear(self) -> None:
        with self._changing:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)
