"""get_learning_path from end to end where no way is plain: several teachers, circles, no teacher, level and time."""

from collections.abc import Iterator
from typing import Any

import pytest

from service.domain.principal import ANONYMOUS
from service.domain.results import LearningPathResult
from service.tools import catalogue
from tests.application import Application, running, write_estate

MODULE = """### YamlMime:Module
uid: {uid}
title: {title}
summary: About {title}.
abstract: |
  By the end of this module, you're able to:
  - {skill}
prerequisites: |
  {prerequisites}
levels: [{level}]
products: [atlas]
units:
- {uid}.all
"""

UNIT = """### YamlMime:ModuleUnit
uid: {uid}.all
title: All of {title}
durationInMinutes: {minutes}
content: |
  {title} is explained here.
"""


def module(uid: str, skill: str, minutes: int, *requires: str, level: str = "beginner") -> dict[str, str]:
    prerequisites = ", ".join(f"[{other}](xref:{other})" for other in requires) or "None"
    fields = {"uid": uid, "title": uid.title(), "skill": skill, "minutes": minutes, "level": level}
    return {
        f"{uid}/index.yml": MODULE.format(**fields, prerequisites=prerequisites),
        f"{uid}/all.yml": UNIT.format(**fields),
    }


ANNOUNCED = {
    "globe/index.yml": """### YamlMime:Module
uid: globe
title: Globe
summary: About globes.
units:
- globe.intro
- globe.main
""",
    "globe/intro.yml": """### YamlMime:ModuleUnit
uid: globe.intro
title: Introduction
durationInMinutes: 2
content: |
  In this module, you'll:

  > [!div class="checklist"]
  > - Turn a globe
""",
    "globe/main.yml": """### YamlMime:ModuleUnit
uid: globe.main
title: Turning
durationInMinutes: 33
content: |
  Globes are turned by hand. Afterwards, you can:

  > [!div class="checklist"]
  > - Stop a globe
""",
}

ESTATE = {
    **ANNOUNCED,
    **module("quick", "Draw a map", 20),
    **module("slow", "Draw a map", 45),
    **module("short", "Draw a map", 5, "base"),
    **module("base", "Hold a pen", 30),
    **module("advance", "Print a map", 10, "quick", level="advanced"),
    **module("egg", "Lay an egg", 3, "hen"),
    **module("hen", "Raise a hen", 4, "egg"),
    **module("farm", "Run a farm", 8, "hen", "quick"),
}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("paths")
    with running(folder / "data") as opened:
        opened.publish(write_estate(folder / "estate", ESTATE))
        yield opened


def way(application: Application, goal: str, **fields: Any) -> LearningPathResult:
    request = catalogue.LEARNING_PATH.request(goal=goal, **fields)
    found: LearningPathResult = application.run(application.tools.call(catalogue.LEARNING_PATH, request, ANONYMOUS))
    return found


def uids(found: LearningPathResult) -> list[str]:
    return [step.uid for step in found.steps]


def test_of_several_teachers_the_quickest_whole_way_is_taken_and_the_others_are_named(application: Application) -> None:
    """20 minutes, against 45, and 5 after another 30."""
    found = way(application, "Draw a map")
    assert (uids(found), found.minutes, found.reachable) == (["quick"], 20, True)
    assert sorted(found.steps[0].alternatives) == ["short", "slow"]


def test_what_is_known_makes_another_way_the_quickest(application: Application) -> None:
    found = way(application, "Draw a map", known_skills=["base"])
    assert (uids(found), found.minutes) == (["short"], 5)
    assert sorted(found.steps[0].alternatives) == ["quick", "slow"]


@pytest.mark.parametrize("known", ["quick", "slow", "skill:draw a map"])
def test_a_goal_that_something_known_teaches_is_reached_already(application: Application, known: str) -> None:
    found = way(application, "Draw a map", known_skills=[known])
    assert (uids(found), found.reachable, found.missing) == ([], True, [])
    assert found.notices == ["The goal is among what is already known."]


@pytest.mark.parametrize(("goal", "minutes"), [("quick.all", 20), ("quick", 20), ("Draw a map", 20)])
def test_a_goal_takes_its_own_minutes_whatever_its_kind(application: Application, goal: str, minutes: int) -> None:
    found = way(application, goal, minutes=minutes - 1)
    assert (found.minutes, found.within_budget) == (minutes, False)
    assert not any("say nothing of how long" in notice for notice in found.notices)


def test_a_skill_that_an_introduction_announces_takes_the_whole_module(application: Application) -> None:
    found = way(application, "Turn a globe")
    assert [(step.uid, step.kind, step.minutes) for step in found.steps] == [("globe", "module", 35)]
    assert found.minutes == 35


def test_a_skill_that_a_unit_further_inside_lists_takes_that_unit_alone(application: Application) -> None:
    found = way(application, "Stop a globe")
    assert (uids(found), found.minutes) == (["globe.main"], 33)


def test_a_circle_is_broken_and_reported_and_the_rest_of_the_way_stands(application: Application) -> None:
    found = way(application, "farm")
    assert uids(found)[-1] == "farm"
    assert set(uids(found)) == {"egg", "hen", "quick", "farm"}
    assert len(found.steps) == 4
    assert [set(cycle) for cycle in found.cycles] == [{"egg", "hen"}]
    assert found.minutes == 3 + 4 + 20 + 8


def test_a_goal_that_nothing_teaches_is_out_of_reach_and_is_itself_what_is_missing(application: Application) -> None:
    found = way(application, "product:atlas")
    assert (found.reachable, found.steps, found.minutes) == (False, [], 0)
    assert [(lost.uid, lost.title, lost.required_by) for lost in found.missing] == [
        ("product:atlas", "atlas", "product:atlas")
    ]


@pytest.mark.parametrize(("minutes", "is_within"), [(30, True), (29, False), (None, None)])
def test_the_time_there_is_is_held_against_the_whole_way(
    application: Application, minutes: int | None, is_within: bool | None
) -> None:
    found = way(application, "advance", minutes=minutes)
    assert (uids(found), found.minutes, found.within_budget) == (["quick", "advance"], 30, is_within)


@pytest.mark.parametrize(("level", "is_told"), [("beginner", True), ("intermediate", True), ("advanced", False)])
def test_steps_above_the_learners_level_are_named(application: Application, level: str, is_told: bool) -> None:
    found = way(application, "advance", level=level)
    assert [notice for notice in found.notices if "level" in notice] == (
        ["Above the learner's level: Advance."] if is_told else []
    )
