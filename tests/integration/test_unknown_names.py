"""Names that do not exist: refused by type with the nearest, or said in a notice where an answer is still right."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.domain.errors import FilterValueUnknown, LevelUnknown, Refused, SettingInvalid, SignalUnknown
from service.domain.principal import ANONYMOUS, Principal
from service.domain.requests import WhyNotRequest
from service.settings import Settings, load_settings
from service.tools import catalogue
from service.tools.catalogue import Tool
from tests.application import PAGES, Application, running, write_estate

CODE = "---\nuid: code\n---\n# Code\n\n```csharp\nusing Maps;\n\nvar pen = new Pen();\npen.Draw();\n```\n"


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("names")
    with running(folder / "data") as opened:
        opened.publish(write_estate(folder / "estate", {**PAGES, "code.md": CODE}))
        yield opened


def call(application: Application, tool: Tool[Any, Any], **fields: Any) -> Any:
    return application.run(application.tools.call(tool, tool.request(**fields), ANONYMOUS))


REFUSED: tuple[tuple[Tool[Any, Any], dict[str, Any], type[Refused], str | None], ...] = (
    (catalogue.SEARCH, {"text": "a", "without_signals": ["pryor"]}, SignalUnknown, "prior"),
    (catalogue.SEARCH, {"text": "a", "without_signals": ["age", "x"]}, SignalUnknown, None),
    (catalogue.SEARCH, {"text": "a", "profile": {"level": "begginer"}}, LevelUnknown, "beginner"),
    (catalogue.LEARNING_PATH, {"goal": "query", "level": "advancd"}, LevelUnknown, "advanced"),
    (catalogue.SEARCH, {"text": "a", "filter": {"product": []}}, FilterValueUnknown, None),
    (catalogue.SEARCH, {"text": "a", "filter": {"product": ["tool", ""]}}, FilterValueUnknown, None),
    (catalogue.SAMPLES, {"text": "a", "filter": {"product": [" "]}}, FilterValueUnknown, None),
    (catalogue.LIST, {"filter": {"kind": []}}, FilterValueUnknown, None),
)


@pytest.mark.parametrize(("tool", "fields", "error", "nearest"), REFUSED)
def test_a_name_of_no_thing_of_ours_is_refused_with_the_nearest(
    application: Application, tool: Tool[Any, Any], fields: dict[str, Any], error: type[Refused], nearest: str | None
) -> None:
    with pytest.raises(error) as refused:
        call(application, tool, **fields)
    assert refused.value.suggestion == nearest


def test_why_not_refuses_what_its_search_would(application: Application) -> None:
    search = {"text": "a", "without_signals": ["nothing"]}
    with pytest.raises(SignalUnknown, match="Signals: moniker, age"):
        call(application, catalogue.WHY_NOT, **WhyNotRequest(search=search, uid="query").model_dump(exclude_unset=True))


def test_a_setting_that_switches_off_no_signal_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(SettingInvalid, match="signals_off: There is no signal 'ages'"),
        running(tmp_path / "data", Settings(signals_off=("ages",))),
    ):
        pass


def test_a_level_is_one_in_any_case(application: Application) -> None:
    assert catalogue.SEARCH.request(text="a", profile={"level": "Beginner"}).profile.level == "beginner"


def test_code_in_a_language_that_the_estate_lacks_is_said_to_be(application: Application) -> None:
    found = call(application, catalogue.SAMPLES, text="Pen", language="cshrap")
    assert found.samples == []
    assert found.notices == ["Nothing here has the language 'cshrap'. Did you mean csharp?"]
    found = call(application, catalogue.SAMPLES, text="Pen", language="haskell")
    assert found.notices == ["Nothing here has the language 'haskell'; there is csharp."]
    assert call(application, catalogue.SAMPLES, text="Pen", language="C#").notices == []


STAFF = Principal("staff", frozenset({"staff"}))

NAMED: tuple[tuple[dict[str, Any], list[str]], ...] = (
    ({"filter": {"role": ["developr"]}}, ["Nothing here has the role 'developr'. Did you mean developer?"]),
    ({"filter": {"product": ["Tool"]}}, ["Nothing here has the product 'Tool'. Did you mean tool?"]),
    ({"filter": {"locale": ["xx"]}}, ["Nothing here has the locale 'xx'; there is und, en-us."]),
    ({"filter": {"type": ["tutorial"]}}, ["Nothing here has the type 'tutorial'; there is concept."]),
    ({"filter": {"role": ["developer", "clown"]}}, ["Nothing here has the role 'clown'; there is developer."]),
    ({"profile": {"role": "Developer"}}, ["Nothing here has the role 'Developer'. Did you mean developer?"]),
    ({"profile": {"audience": "martians"}}, ["Nothing here has the audience 'martians'; there is it-pro."]),
    ({"profile": {"region": "atlantis"}}, ["Nothing here has the region 'atlantis', nor any other."]),
    ({"profile": {"monikers": ["NET-8.0"]}}, ["Nothing here has the moniker 'NET-8.0'. Did you mean net-8.0?"]),
    ({"profile": {"skills": ["skill:x"]}},
     ["Nothing here has the uid of what is known: skill:x. It counts for nothing."]),
    ({"current_document": "x"}, ["Nothing here has the uid of the current document: x. It counts for nothing."]),
    ({"products": ["x"]}, ["Nothing here has the uid of what the question is about: x. It counts for nothing."]),
    ({"products": ["tool"], "skills": ["y"], "current_document": "query"},
     ["Nothing here has the uid of what the question is about: y. It counts for nothing."]),
    # What is right, or right of a version that no page names, is not mentioned; nor is what only staff may see.
    ({"profile": {"role": "developer", "audience": "it-pro", "locale": "de-at"}}, []),
    ({"profile": {"monikers": ["net-8.0", "net-99.0"]}}, []),
    ({"profile": {"skills": ["install"]}, "products": ["tool"], "current_document": "query"}, []),
    ({"filter": {"role": ["developer"], "kind": ["learningPath"]}}, []),
    ({"profile": {"role": "auditr"}}, ["Nothing here has the role 'auditr'; there is developer."]),
)  # fmt: skip


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """Pages with a role, an audience and versions; one that staff alone may see, of a role of its own."""
    folder = tmp_path_factory.mktemp("described")
    about = "roles: [developer]\naudience: it-pro\nms.topic: concept\nmonikerRange: '>=net-8.0'\n"
    pages = {name: text.replace("products:", f"{about}products:") for name, text in PAGES.items()}
    pages["secret.md"] = "---\nuid: secret\nroles: [auditor]\n---\n# Secret\n\nTime limits of the graph.\n"
    pages["cogitave-query.yml"] = "visibility:\n  rules:\n  - files: [secret.md]\n    visibleTo: [staff]\n"
    with running(folder / "data") as opened:
        opened.publish(write_estate(folder / "estate", pages))
        yield opened


@pytest.mark.parametrize(("fields", "notices"), NAMED)
def test_a_name_that_nothing_here_has_is_said_to_be_none(
    described: Application, fields: dict[str, Any], notices: list[str]
) -> None:
    assert described.search("time limits of the graph", **fields).notices == notices
    if fields.keys() == {"filter"}:
        assert described.nodes(**fields).notices == notices


def test_what_some_may_not_see_is_no_name_for_them(described: Application) -> None:
    asked: dict[str, Any] = {"filter": {"role": ["auditor"]}}
    assert described.search("graph", **asked).notices == ["Nothing here has the role 'auditor'; there is developer."]
    assert described.search("graph", STAFF, **asked).notices == []
    assert [node.uid for node in described.nodes(STAFF, **asked).nodes] == ["secret"]


def test_names_that_are_not_counted_in_time_are_not_said_and_nothing_is_late_for_them(
    described: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing was found the notice is the answer, and is waited for."""
    facets = described.tools.retrieval.facets
    counting = facets._combinations

    async def slow(audiences: frozenset[str]) -> Any:
        await asyncio.sleep(0.5)
        return await counting(audiences)

    monkeypatch.setattr(facets, "_combinations", slow)
    facets.forget()
    late = described.search("graph", profile={"role": "clown"})
    assert (late.notices, late.degraded, bool(late.hits)) == ([], [], True)
    facets.forget()
    assert described.search("graph", filter={"role": ["clown"]}).notices == [
        "Nothing here has the role 'clown'; there is developer."
    ]


def test_many_strange_names_are_told_in_few_words(described: Application) -> None:
    wished = [f"{number}{'x' * 500}" for number in range(60)]
    told = described.search("graph", filter={"role": wished}, profile={"monikers": wished}).notices
    assert len(told) == 8
    assert all(len(notice) < 200 for notice in told)


def test_what_is_said_to_be_known_and_is_nothing_here_is_named(application: Application) -> None:
    found = call(application, catalogue.LEARNING_PATH, goal="query", known_skills=["install", "skill:magic"])
    assert found.notices[0] == "Nothing here has the uid of what is known: skill:magic. It counts for nothing."
    assert not any("skill:magic" in note for note in call(application, catalogue.LEARNING_PATH, goal="query").notices)


@pytest.mark.parametrize("name", list(Settings.model_fields))
def test_an_empty_variable_sets_nothing(name: str) -> None:
    loaded = load_settings(None, {f"COGITAVE_QUERY_{name.upper()}": ""})
    assert loaded.settings == Settings()
    assert name not in loaded.sources
