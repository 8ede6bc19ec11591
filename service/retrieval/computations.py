"""Values that are costly to compute: once each, kept while there is room, never waited for past a deadline."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from service.domain.deadline import Deadline
from service.domain.errors import EngineLate

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Computations(Generic[Key, Value]):
    """Values by key, each computed once however many wait for it, at most `capacity` of them."""

    def __init__(self, name: str, capacity: int) -> None:
        self._name = name
        self._capacity = capacity
        self._tasks: OrderedDict[Key, asyncio.Task[Value]] = OrderedDict()

    async def get(self, key: Key, compute: Callable[[], Coroutine[Any, Any, Value]], deadline: Deadline) -> Value:
        """The value, or EngineLate while it is still being computed; a failure is raised once and tried again after."""
        task = self._tasks.get(key)
        if task is not None and task.done() and not task.cancelled() and task.exception() is None:
            self._tasks.move_to_end(key)
            return task.result()
        if task is None:
            task = self._tasks[key] = asyncio.create_task(compute())
            while len(self._tasks) > self._capacity:
                _, oldest = self._tasks.popitem(last=False)
                oldest.cancel()
        self._tasks.move_to_end(key)
        try:
            return await asyncio.wait_for(asyncio.shield(task), deadline.seconds_left)
        except TimeoutError:
            raise EngineLate(self._name) from None
        finally:
            if task.done() and (task.cancelled() or task.exception() is not None):
                self._tasks.pop(key, None)

    async def clear(self) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
