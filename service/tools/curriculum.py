"""A curriculum: what the estate teaches, what that requires, and the cheapest order to learn a goal in.

Pure: the graph around a goal is loaded elsewhere. Prerequisites come first; of several nodes that teach a skill the one
whose whole way takes the fewest minutes is taken and the others are named; a circle of prerequisites is cut where it
closes, and said.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from service.domain.graph import NodeIdentity


@dataclass(frozen=True, slots=True)
class Lesson:
    """A node as a learner meets it. `requires` and `teaches` name lessons or skills; `parts` are in their order."""

    identity: NodeIdentity
    kind: str
    title: str
    url: str | None = None
    level: str | None = None
    minutes: int | None = None
    requires: tuple[NodeIdentity, ...] = ()
    teaches: tuple[NodeIdentity, ...] = ()
    parts: tuple[NodeIdentity, ...] = ()


@dataclass(frozen=True)
class Curriculum:
    """Lessons by identity, and for each skill the lessons that teach it."""

    lessons: Mapping[NodeIdentity, Lesson]
    teachers: Mapping[NodeIdentity, tuple[NodeIdentity, ...]]


@dataclass
class Way:
    """A way to a goal: lessons in order, each with who requires it, and what stands in the way.

    missing: what nothing teaches, and who requires it; a goal that nothing teaches, the goal itself.
    """

    steps: list[NodeIdentity] = field(default_factory=list)
    required_by: dict[NodeIdentity, list[NodeIdentity]] = field(default_factory=dict)
    alternatives: dict[NodeIdentity, list[NodeIdentity]] = field(default_factory=dict)
    missing: list[tuple[NodeIdentity, NodeIdentity]] = field(default_factory=list)
    cycles: list[tuple[NodeIdentity, ...]] = field(default_factory=list)


def find_way(goal: NodeIdentity, curriculum: Curriculum, known: frozenset[str]) -> Way:
    """The cheapest order of lessons that ends at the goal; what the learner knows (`known`, uids) is left out."""
    search = _Search(curriculum, known)
    search.include(goal, None)
    return search.way


def minutes_of(identity: NodeIdentity, curriculum: Curriculum) -> int | None:
    """A lesson's own time, else the sum of its parts'; None where neither is known."""
    lesson = curriculum.lessons.get(identity)
    if lesson is None:
        return None
    if lesson.minutes is not None:
        return lesson.minutes
    known = [minutes for part in lesson.parts if (minutes := minutes_of(part, curriculum)) is not None]
    return sum(known) if known else None


class _Search:
    """Depth first, prerequisites before what requires them; `trail` is the branch that is being walked."""

    def __init__(self, curriculum: Curriculum, known: frozenset[str]) -> None:
        self._curriculum = curriculum
        self._known = known
        self._trail: list[NodeIdentity] = []
        self._costs: dict[NodeIdentity, int] = {}
        self.way = Way()

    def include(self, target: NodeIdentity, wanted_by: NodeIdentity | None) -> None:
        if target.uid in self._known or self._is_met(target):
            return
        lesson = self._curriculum.lessons.get(target)
        teachers = self._curriculum.teachers.get(target, ())
        if teachers:
            self._include_teacher(teachers, wanted_by)
        elif lesson is None:
            lost = (target, wanted_by or target)
            if lost not in self.way.missing:
                self.way.missing.append(lost)
        else:
            self._include_lesson(lesson, wanted_by)

    def _include_teacher(self, teachers: tuple[NodeIdentity, ...], wanted_by: NodeIdentity | None) -> None:
        if any(teacher in self.way.steps for teacher in teachers):
            return
        chosen = min(teachers, key=lambda teacher: (teacher in self._trail, self._cost(teacher, ()), teacher))
        if chosen == wanted_by:
            return
        others = [teacher for teacher in teachers if teacher != chosen]
        if others:
            self.way.alternatives.setdefault(chosen, []).extend(
                other for other in others if other not in self.way.alternatives.get(chosen, [])
            )
        self.include(chosen, wanted_by)

    def _include_lesson(self, lesson: Lesson, wanted_by: NodeIdentity | None) -> None:
        identity = lesson.identity
        if wanted_by is not None:
            reasons = self.way.required_by.setdefault(identity, [])
            if wanted_by not in reasons:
                reasons.append(wanted_by)
        if identity in self.way.steps:
            return
        if identity in self._trail:
            self.way.cycles.append((*self._trail[self._trail.index(identity) :], identity))
            return
        self._trail.append(identity)
        for required in lesson.requires:
            self.include(required, identity)
        if lesson.kind == "learningPath":
            for part in lesson.parts:
                self.include(part, identity)
        self._trail.pop()
        if lesson.kind != "learningPath" or not lesson.parts:
            self.way.steps.append(identity)

    def _is_met(self, target: NodeIdentity) -> bool:
        """Whoever knows all that a lesson teaches needs not take it."""
        lesson = self._curriculum.lessons.get(target)
        if lesson is None or not lesson.teaches:
            return False
        return all(skill.uid in self._known for skill in lesson.teaches)

    def _cost(self, target: NodeIdentity, seen: tuple[NodeIdentity, ...]) -> int:
        """Minutes of a lesson with all that it requires; a lesson of unknown length counts as none, a circle once."""
        if target in seen or target.uid in self._known or target in self.way.steps:
            return 0
        if target in self._costs:
            return self._costs[target]
        lesson = self._curriculum.lessons.get(target)
        teachers = self._curriculum.teachers.get(target, ())
        trail = (*seen, target)
        if teachers:
            cost = min(self._cost(teacher, trail) for teacher in teachers)
        elif lesson is None:
            cost = 0
        else:
            cost = (minutes_of(target, self._curriculum) or 0) + sum(self._cost(r, trail) for r in lesson.requires)
        if not seen:
            self._costs[target] = cost
        return cost
