"""Renderings by text, profile and visibility shape: bounded, least recently used out first, safe for threads."""

from collections import OrderedDict
from threading import Lock

from cypher_guard.binder import VisibilityShape
from cypher_guard.plan import Plan
from cypher_guard.profile import Profile

Key = tuple[str, Profile, VisibilityShape | None]


class PlanCache:
    """Keeps the last `size` plans. Values never enter a key: they are bound to the plan afterwards."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._plans: OrderedDict[Key, Plan] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Plan | None:
        with self._lock:
            plan = self._plans.get(key)
            if plan is not None:
                self._plans.move_to_end(key)
            return plan

    def put(self, key: Key, plan: Plan) -> None:
        with self._lock:
            self._plans[key] = plan
            self._plans.move_to_end(key)
            if len(self._plans) > self._size:
                self._plans.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._plans.clear()

    def __len__(self) -> int:
        return len(self._plans)
