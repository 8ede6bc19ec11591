"""get_learning_path: from what a learner knows to a goal, prerequisites first."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from service.domain.deadline import Deadline
from service.domain.graph import EdgeType, NodeIdentity, NodeKind
from service.domain.locales import distance
from service.domain.principal import Principal
from service.domain.requests import LEVELS, LearningPathRequest
from service.domain.results import LearningPathResult, LearningStep, MissingPrerequisite
from service.domain.snapshots import Snapshot
from service.retrieval.consistent import of_one_snapshot
from service.retrieval.engines import Retrieval
from service.retrieval.sizes import fitting
from service.retrieval.strangers import unknown_uids
from service.retrieval.traversal import Step, step_from
from service.statements import node_properties, nodes_by_alias
from service.tools.curriculum import Curriculum, Lesson, Way, find_way, minutes_of
from service.tools.names import locate_any, node_unknown

_LEARNED = (EdgeType.PART_OF, EdgeType.DEPENDS_ON, EdgeType.TEACHES_SKILL)
_LESSON_KINDS = frozenset(
    kind.value for kind in (NodeKind.PAGE, NodeKind.MODULE, NodeKind.UNIT, NodeKind.LEARNING_PATH)
)


async def get_learning_path(
    request: LearningPathRequest, principal: Principal, retrieval: Retrieval
) -> LearningPathResult:
    """An ordered way to the goal. Raises NodeUnknown for a goal that is no node that shows.

    A goal that nothing leads to is an answer with `reachable: false` that names what is missing. A way with a hole is a
    way, and the hole is named.
    """
    started = time.perf_counter()
    settings = retrieval.settings
    deadline = retrieval.deadline()

    async def read(snapshot: Snapshot) -> LearningPathResult:
        goal = await _goal(request, principal, retrieval, deadline)
        curriculum, titles, truncated = await _load(goal, principal.audiences, retrieval, deadline)
        way = find_way(goal, curriculum, frozenset(request.known_skills))
        strangers = await unknown_uids(request.known_skills, principal.audiences, retrieval.graph, deadline)
        steps = [_step(identity, way, curriculum, titles) for identity in way.steps]
        minutes = sum(step.minutes or 0 for step in steps)
        is_known = not {goal.uid, *_uids(curriculum.teachers.get(goal, ()))}.isdisjoint(request.known_skills)
        fit = fitting(steps, settings.result_bytes)
        return LearningPathResult(
            goal=goal.uid,
            reachable=bool(steps) or is_known or (not way.missing and bool(curriculum.lessons.get(goal))),
            steps=steps[:fit],
            truncated=fit < len(steps),
            minutes=minutes,
            within_budget=None if request.minutes is None else minutes <= request.minutes,
            missing=[
                MissingPrerequisite(uid=lost.uid, title=titles.get(lost, lost.uid), required_by=by.uid)
                for lost, by in way.missing
            ],
            cycles=[[identity.uid for identity in cycle] for cycle in way.cycles],
            notices=_notices(request, steps, is_known, truncated, strangers),
            content_root=snapshot.content_root,
            took_ms=(time.perf_counter() - started) * 1000,
        )

    return await of_one_snapshot(retrieval.store, read)


async def _goal(
    request: LearningPathRequest, principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> NodeIdentity:
    """The goal by its uid, a skill by `skill:` and its uid or by its title."""
    uids = [request.goal, f"skill:{request.goal}"]
    if found := await locate_any(uids, request.locale, principal, retrieval, deadline):
        return found
    named = await retrieval.graph.run(nodes_by_alias([request.goal.casefold()], principal.audiences), deadline=deadline)
    rows = named.by_column()
    if rows:
        nearest = min(rows, key=lambda row: (distance(row["locale"], request.locale), row["key"]))
        return NodeIdentity(nearest["uid"], nearest["locale"])
    raise await node_unknown(request.goal, (), principal, retrieval, deadline)


async def _load(
    goal: NodeIdentity, audiences: frozenset[str], retrieval: Retrieval, deadline: Deadline
) -> tuple[Curriculum, dict[NodeIdentity, str], bool]:
    """Everything that a way to the goal may lead through, walked outwards until nothing new is required.

    From a lesson: what it requires and teaches, its parts, and what it is part of, whose prerequisites are its own.
    From a skill: its teachers. Stops at `learning_nodes`, and says so.
    """
    gathered = _Gathered()
    whole = await retrieval.graph.run(node_properties(goal, audiences), deadline=deadline)
    gathered.properties[goal] = {"url": None, "level": None, **whole.rows[0][0]}
    frontier = {goal}
    truncated = False
    while frontier:
        walked = await step_from(frontier, _LEARNED, audiences, retrieval.graph, deadline)
        truncated = truncated or walked.truncated
        reached = {step.node for step in walked.steps if gathered.add(step)}
        frontier = reached - gathered.seen
        gathered.seen |= frontier
        if len(gathered.seen) > retrieval.settings.learning_nodes:
            return gathered.curriculum(), gathered.titles(), True
    return gathered.curriculum(), gathered.titles(), truncated


class _Gathered:
    """Edges and properties met so far."""

    def __init__(self) -> None:
        self.seen: set[NodeIdentity] = set()
        self.properties: dict[NodeIdentity, Mapping[str, Any]] = {}
        self._requires: dict[NodeIdentity, set[NodeIdentity]] = {}
        self._teaches: dict[NodeIdentity, set[NodeIdentity]] = {}
        self._parts: dict[NodeIdentity, dict[NodeIdentity, int]] = {}

    def add(self, step: Step) -> bool:
        """Take in one edge; whether its other end is to be walked on from.

        A lesson that requires this one, or another lesson's skill of no use here, leads away from the goal.
        """
        self.properties.setdefault(step.node, step.properties)
        tail, head = (step.source, step.node) if step.outgoing else (step.node, step.source)
        if step.type is EdgeType.DEPENDS_ON:
            self._requires.setdefault(tail, set()).add(head)
            return step.outgoing
        if step.type is EdgeType.TEACHES_SKILL:
            self._teaches.setdefault(tail, set()).add(head)
            return not step.outgoing
        self._parts.setdefault(head, {})[tail] = step.ordinal or 0
        return not step.outgoing or step.properties["kind"] == NodeKind.MODULE

    def titles(self) -> dict[NodeIdentity, str]:
        return {identity: row["title"] for identity, row in self.properties.items()}

    def curriculum(self) -> Curriculum:
        """A unit's prerequisites are its module's; a module takes in its units' own."""
        lessons = {
            identity: Lesson(
                identity=identity,
                kind=row["kind"],
                title=row["title"],
                url=row["url"],
                level=row["level"],
                minutes=row.get("durationMinutes"),
                requires=tuple(sorted(self._requirements(identity))),
                teaches=tuple(sorted(self._teaches.get(identity, ()))),
                parts=tuple(sorted(self._parts.get(identity, {}), key=lambda p: (self._parts[identity][p], p))),
            )
            for identity, row in self.properties.items()
            if row["kind"] in _LESSON_KINDS
        }
        teachers: dict[NodeIdentity, list[NodeIdentity]] = {}
        for identity in sorted(lessons):
            for skill in lessons[identity].teaches:
                teachers.setdefault(skill, []).append(identity)
        return Curriculum(lessons, {skill: tuple(found) for skill, found in teachers.items()})

    def _requirements(self, identity: NodeIdentity) -> set[NodeIdentity]:
        own = set(self._requires.get(identity, ()))
        parts = self._parts.get(identity, {})
        if self.properties[identity]["kind"] == NodeKind.MODULE:
            for unit in parts:
                own |= self._requires.get(unit, set())
        for whole, inside in self._parts.items():
            if identity in inside and self.properties[whole]["kind"] == NodeKind.MODULE:
                own |= self._requires.get(whole, set())
        return own - {identity} - set(parts)


def _step(identity: NodeIdentity, way: Way, curriculum: Curriculum, titles: Mapping[NodeIdentity, str]) -> LearningStep:
    lesson = curriculum.lessons[identity]
    return LearningStep(
        uid=identity.uid,
        locale=identity.locale,
        kind=lesson.kind,
        title=lesson.title,
        url=lesson.url,
        level=lesson.level,
        minutes=minutes_of(identity, curriculum),
        teaches=[titles.get(skill, skill.uid) for skill in lesson.teaches],
        required_by=_uids(way.required_by.get(identity, ())),
        alternatives=_uids(way.alternatives.get(identity, ())),
    )


def _uids(identities: Iterable[NodeIdentity]) -> list[str]:
    return [identity.uid for identity in identities]


def _notices(
    request: LearningPathRequest,
    steps: list[LearningStep],
    is_known: bool,
    truncated: bool,
    strangers: list[str],
) -> list[str]:
    notices = []
    if strangers:
        notices.append(f"Nothing here has the uid of what is known: {', '.join(strangers)}. It counts for nothing.")
    if is_known:
        notices.append("The goal is among what is already known.")
    if truncated:
        notices.append("The estate around the goal is larger than is looked through: there may be a shorter way.")
    if request.level is not None:
        own = LEVELS.index(request.level)
        above = [step.title for step in steps if step.level in LEVELS and LEVELS.index(step.level) > own]
        if above:
            notices.append(f"Above the learner's level: {', '.join(above)}.")
    if request.minutes is not None:
        unknown = sum(step.minutes is None for step in steps)
        if unknown:
            notices.append(f"{unknown} steps say nothing of how long they take.")
    return notices
