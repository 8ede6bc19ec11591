from hypothesis import given
from hypothesis import strategies as st

from service.domain.graph import NodeIdentity
from service.tools.curriculum import Curriculum, Lesson, Way, find_way, minutes_of


def identity(uid: str) -> NodeIdentity:
    return NodeIdentity(uid, "en-us")


def lesson(
    uid: str, *, requires: str = "", teaches: str = "", parts: str = "", minutes: int | None = 10, kind="module"
):
    return Lesson(
        identity=identity(uid),
        kind=kind,
        title=uid.title(),
        minutes=minutes,
        requires=tuple(map(identity, requires.split())),
        teaches=tuple(map(identity, teaches.split())),
        parts=tuple(map(identity, parts.split())),
    )


def curriculum(*lessons: Lesson) -> Curriculum:
    teachers: dict[NodeIdentity, list[NodeIdentity]] = {}
    for made in lessons:
        for skill in made.teaches:
            teachers.setdefault(skill, []).append(made.identity)
    return Curriculum({made.identity: made for made in lessons}, {s: tuple(t) for s, t in teachers.items()})


def way(goal: str, *lessons: Lesson, known: str = "") -> Way:
    return find_way(identity(goal), curriculum(*lessons), frozenset(known.split()))


def steps(found: Way) -> list[str]:
    return [step.uid for step in found.steps]


def test_prerequisites_come_first() -> None:
    found = way("c", lesson("a"), lesson("b", requires="a"), lesson("c", requires="b"))
    assert steps(found) == ["a", "b", "c"]
    assert found.required_by[identity("a")] == [identity("b")]


def test_what_is_known_is_left_out_with_all_that_only_it_required() -> None:
    assert steps(way("c", lesson("a"), lesson("b", requires="a"), lesson("c", requires="b"), known="b")) == ["c"]


def test_whoever_knows_all_that_a_lesson_teaches_need_not_take_it() -> None:
    lessons = (lesson("a", teaches="s t"), lesson("b", requires="a"))
    assert steps(way("b", *lessons, known="s t")) == ["b"]
    assert steps(way("b", *lessons, known="s")) == ["a", "b"]


def test_a_required_skill_is_taught_by_the_cheapest_way_and_the_others_are_named() -> None:
    found = way(
        "goal",
        lesson("quick", teaches="s", requires="long", minutes=5),
        lesson("long", minutes=60),
        lesson("plain", teaches="s", minutes=30),
        lesson("goal", requires="s"),
    )
    assert steps(found) == ["plain", "goal"]
    assert found.alternatives[identity("plain")] == [identity("quick")]


def test_a_skill_as_goal_ends_with_who_teaches_it() -> None:
    assert steps(way("s", lesson("a"), lesson("b", requires="a", teaches="s"))) == ["a", "b"]


def test_a_learning_path_is_its_modules_in_order_with_what_they_require() -> None:
    found = way(
        "path",
        lesson("path", kind="learningPath", parts="two one", minutes=None),
        lesson("one", requires="two"),
        lesson("two", requires="zero"),
        lesson("zero"),
    )
    assert steps(found) == ["zero", "two", "one"]


def test_a_circle_is_cut_where_it_closes_and_said() -> None:
    found = way("a", lesson("a", requires="b"), lesson("b", requires="c"), lesson("c", requires="a"))
    assert steps(found) == ["c", "b", "a"]
    assert [[node.uid for node in cycle] for cycle in found.cycles] == [["a", "b", "c", "a"]]


def test_what_nothing_teaches_is_missing_and_says_who_requires_it() -> None:
    found = way("b", lesson("b", requires="nowhere"))
    assert found.missing == [(identity("nowhere"), identity("b"))]
    assert steps(found) == ["b"]


def test_a_goal_that_nothing_teaches_is_itself_missing() -> None:
    found = way("s", lesson("a"))
    assert found.missing == [(identity("s"), identity("s"))]
    assert steps(found) == []
    assert way("s", lesson("a"), known="s").missing == []


def test_of_ways_that_take_as_long_the_first_by_name_is_taken() -> None:
    found = way("goal", lesson("b", teaches="s"), lesson("a", teaches="s"), lesson("goal", requires="s"))
    assert steps(found) == ["a", "goal"]
    assert found.alternatives[identity("a")] == [identity("b")]


def test_what_is_known_makes_a_longer_lesson_the_cheaper_one() -> None:
    lessons = (
        lesson("quick", teaches="s", requires="long", minutes=5),
        lesson("long", minutes=60),
        lesson("plain", teaches="s", minutes=30),
        lesson("goal", requires="s"),
    )
    assert steps(way("goal", *lessons, known="long")) == ["quick", "goal"]


def test_two_circles_are_each_said_and_the_way_still_ends_at_the_goal() -> None:
    found = way(
        "goal",
        lesson("goal", requires="a c"),
        lesson("a", requires="b"),
        lesson("b", requires="a"),
        lesson("c", requires="d"),
        lesson("d", requires="c"),
    )
    assert steps(found) == ["b", "a", "d", "c", "goal"]
    assert [[node.uid for node in cycle] for cycle in found.cycles] == [["a", "b", "a"], ["c", "d", "c"]]


def test_minutes_are_a_lessons_own_or_its_parts() -> None:
    held = curriculum(lesson("m", minutes=None, parts="u v"), lesson("u", minutes=3), lesson("v", minutes=4))
    assert minutes_of(identity("m"), held) == 7
    assert minutes_of(identity("none"), held) is None


NAMES = "abcdef"
GRAPHS = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=3, unique=True), min_size=1)


@given(GRAPHS, st.sets(st.sampled_from(NAMES)))
def test_every_step_comes_once_and_after_all_it_requires_but_for_named_circles(
    requires: dict[str, list[str]], known: set[str]
) -> None:
    goal = min(requires)
    lessons = [lesson(uid, requires=" ".join(need for need in needs if need != uid)) for uid, needs in requires.items()]
    found = way(goal, *lessons, known=" ".join(known))
    order = steps(found)
    assert len(order) == len(set(order))
    assert not known & set(order)
    cut = {(cycle[-2].uid, cycle[-1].uid) for cycle in found.cycles}
    for place, uid in enumerate(order):
        for need in requires[uid]:
            if need == uid or need in known or need not in requires:
                continue
            assert need in order[:place] or (uid, need) in cut
    if goal not in known:
        assert order[-1] == goal
