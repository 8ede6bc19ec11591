"""Values that are costly to compute: once each, kept while there is room, never waited for past a deadline."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from service.domain.deadline import Deadline
from service.domain.errors import EngineLate
from service.observation import Lookups

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Computations(Generic[Key, Value]):
    """Values by key, each computed once however many wait for it, at most `capacity` of them."""

    def __init__(self, name: str, capacity: int, lookups: Lookups | None = None) -> None:
        """lookups: counts on, where one of these follows another. Found is what was there when it was asked for."""
        self._name = name
        self._capacity = capacity
        self.lookups = lookups or Lookups()
        self._tasks: OrderedDict[Key, asyncio.Task[Value]] = OrderedDict()

    async def get(self, key: Key, compute: Callable[[], Coroutine[Any, Any, Value]], deadline: Deadline) -> Value:
        """The value, or EngineLate while it is still being computed; a failure is raised once and tried again after."""
        task = self.begin(key, compute)
        if _is_kept(task):
            self.lookups.found += 1
            return task.result()
        self.lookups.missed += 1
        try:
            return await asyncio.wait_for(asyncio.shield(task), deadline.seconds_left)
        except TimeoutError:
            raise EngineLate(self._name) from None
        except asyncio.CancelledError:
            waiting = asyncio.current_task()
            if task.cancelled() and not (waiting and waiting.cancelling()):
                raise EngineLate(self._name) from None  # it gave way to another; the caller itself goes on
            raise
        finally:
            if task.done() and self._tasks.get(key) is task and not (_is_kept(task) and self._capacity):
                del self._tasks[key]

    def begin(self, key: Key, compute: Callable[[], Coroutine[Any, Any, Value]]) -> "asyncio.Task[Value]":
        """Have the value computed, unless it is there or under way, for whoever gets it later."""
        task = self._tasks.get(key)
        if task is None or (task.done() and not _is_kept(task)):
            task = self._tasks[key] = asyncio.create_task(compute())
            task.add_done_callback(_is_kept)  # whoever began it need not come back for it, nor hear why it failed
            self._make_room(key)
        self._tasks.move_to_end(key)
        return task

    def _make_room(self, newest: Key) -> None:
        """Values give way before work that somebody may wait for."""
        while len(self._tasks) > max(1, self._capacity):
            others = [key for key in self._tasks if key != newest]
            oldest = next((key for key in others if self._tasks[key].done()), others[0])
            self._tasks.pop(oldest).cancel()

    async def clear(self) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_kept(task: "asyncio.Task[Any]") -> bool:
    """Whether it holds a value."""
    return task.done() and not task.cancelled() and task.exception() is None
