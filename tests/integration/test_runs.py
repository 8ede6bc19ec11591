"""The log of runs over the real embedded application: what is kept, what is not, and asking a run again."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from service.domain.errors import QueryEmpty, RunUnknown
from service.domain.principal import ANONYMOUS, OWNER
from service.domain.results import ReplayResult, RunResult, RunSummary
from service.settings import Settings
from service.tools import catalogue
from tests.application import Application, running, write_estate
from tests.integration.test_signals_on_estates import PATIENT, SITE

TEXTS = ("swipe through a carousel", "hold the bow of a violin", "cross a glacier", "trim the wick of a lantern")
KEEPING = PATIENT.model_copy(update={"run_log_texts": True})


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("runs")
    with running(folder / "data", KEEPING) as opened:
        opened.publish(write_estate(folder / "site", SITE))
        yield opened


def run_of(application: Application, run_id: str) -> RunResult:
    request = catalogue.RUN.request(run_id=run_id)
    found: RunResult = application.run(application.tools.call(catalogue.RUN, request, OWNER))
    return found


def newest(application: Application, limit: int = 1) -> list[RunSummary]:
    request = catalogue.RUNS.request(limit=limit)
    found: list[RunSummary] = application.run(application.tools.call(catalogue.RUNS, request, OWNER)).runs
    return found


def replay(application: Application, run_id: str, text: str | None = None) -> ReplayResult:
    request = catalogue.REPLAY.request(run_id=run_id, text=text)
    found: ReplayResult = application.run(application.tools.call(catalogue.REPLAY, request, OWNER))
    return found


PROFILES = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["guide", "developer", "administrator"]),
        "level": st.sampled_from(["beginner", "intermediate", "advanced"]),
        "audience": st.sampled_from(["alpinist", "pilot"]),
        "region": st.sampled_from(["alps", "us"]),
        "monikers": st.lists(st.sampled_from(["net-maui-8.0", "net-maui-10.0", "rope-1.0"]), max_size=2),
    },
)
SEARCHES = st.fixed_dictionaries(
    {"text": st.sampled_from(TEXTS), "limit": st.integers(1, 100)},
    optional={
        "profile": PROFILES,
        "current_document": st.sampled_from(["oil", "wicks", "violin.a", "nowhere"]),
        "without_signals": st.lists(st.sampled_from(["age", "authority", "prior", "level"]), unique=True),
        "filter": st.sampled_from([{"kind": ["page"]}, {"role": ["guide"]}]),
    },
)


@given(fields=SEARCHES)
@hypothesis_settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_run_asked_again_has_the_same_order_and_its_numbers_make_its_scores(
    application: Application, fields: dict[str, Any]
) -> None:
    found = application.search(**fields)
    run = run_of(application, found.run_id)
    assert [(hit.uid, hit.locale, hit.final) for hit in run.hits] == [(h.uid, h.locale, h.score) for h in found.hits]
    for hit in run.hits:
        boost = demotion = 1.0
        for factor in hit.factors:
            boost *= max(1.0, factor.factor)
            demotion *= min(1.0, factor.factor)
        fused = sum(1 / (run.k + leg.rank) for leg in hit.legs) / (len(run.legs) / (run.k + 1))
        assert hit.rrf_normalised == pytest.approx(fused)
        assert hit.final == pytest.approx(fused * (1 + run.gain * hit.prior) * min(run.clamp, boost) * demotion)
    again = replay(application, found.run_id)
    assert (again.same_snapshot, again.same_order, again.moved) == (True, True, [])


def test_a_later_page_is_a_run_of_its_own_and_is_asked_again_as_that_page(application: Application) -> None:
    first = application.search(TEXTS[0], limit=2)
    second = application.search(TEXTS[0], limit=2, cursor=first.next_cursor)
    run = run_of(application, second.run_id)
    assert (run.start, [hit.uid for hit in run.hits]) == (2, [hit.uid for hit in second.hits])
    assert replay(application, second.run_id).same_order


def test_what_is_kept_names_the_request_and_not_the_caller(application: Application) -> None:
    found = application.search(
        TEXTS[2], profile={"level": "beginner"}, filter={"kind": ["page"]}, facets=["kind"], explain=True
    )
    run = run_of(application, found.run_id)
    assert (run.text, run.visible_to, run.content_root) == (TEXTS[2], ["*"], found.content_root)
    assert run.request == {"profile": {"level": "beginner"}, "filter": {"kind": ["page"]}}
    assert sorted(run.legs) == ["lexical", "vector"]
    assert {factor.signal for hit in run.hits for factor in hit.factors} >= {"authority", "level"}
    assert ANONYMOUS.name not in run.model_dump_json()
    assert found.explain is not None
    assert run.as_of == found.explain.as_of
    told = {hit.uid: [f.model_dump(include={"signal", "input", "factor"}) for f in hit.explain.factors]
            for hit in found.hits if hit.explain}  # fmt: skip
    assert {hit.uid: [f.model_dump() for f in hit.factors] for hit in run.hits} == told


def test_what_is_still_being_typed_is_answered_and_not_kept(application: Application) -> None:
    kept = application.search(TEXTS[0])
    typed = application.search("swipe thro", logged=False)
    assert typed.hits
    assert newest(application)[0].run_id == kept.run_id
    with pytest.raises(RunUnknown):
        run_of(application, typed.run_id)


def test_asking_a_run_again_is_no_run(application: Application) -> None:
    found = application.search(TEXTS[0])
    replay(application, found.run_id)
    assert newest(application)[0].run_id == found.run_id


def test_the_words_of_a_question_are_left_out_unless_a_setting_keeps_them(tmp_path: Path) -> None:
    """No file of the log holds them, and whoever knows them can ask the run again."""
    secret = "xylophonist mooring"
    with running(tmp_path / "data", PATIENT) as application:
        application.publish(write_estate(tmp_path / "site", SITE))
        found = application.search(f"harbour {secret}")
        run = run_of(application, found.run_id)
        assert run.text is None
        with pytest.raises(QueryEmpty):
            replay(application, found.run_id)
        assert replay(application, found.run_id, f"harbour {secret}").same_order
    for file in (tmp_path / "data").glob("runs*"):
        assert file.stat().st_mode & 0o077 == 0
        assert b"xylophonist" not in file.read_bytes()


def test_a_run_of_an_older_snapshot_says_what_moved(tmp_path: Path) -> None:
    with running(tmp_path / "data", KEEPING) as application:
        application.publish(write_estate(tmp_path / "site", SITE))
        found = application.search("descale a kettle", limit=3)
        without = {name: text for name, text in SITE.items() if name != "docs/kettle/a.md"}
        (tmp_path / "site" / "docs" / "kettle" / "a.md").unlink()
        application.publish(write_estate(tmp_path / "site", without))
        again = replay(application, found.run_id)
        assert (again.same_snapshot, again.same_order) == (False, False)
        gone = next(hit for hit in again.moved if hit.uid == "kettle.a")
        assert (gone.then, gone.now) == ([hit.uid for hit in found.hits].index("kettle.a") + 1, None)


def test_runs_outlive_the_process_up_to_their_bounds(tmp_path: Path) -> None:
    few = KEEPING.model_copy(update={"run_log_records": 3})
    with running(tmp_path / "data", few) as application:
        application.publish(write_estate(tmp_path / "site", SITE))
        ids = [application.search(text).run_id for text in TEXTS]
    with running(tmp_path / "data", few) as application:
        assert [run.run_id for run in newest(application, 10)] == ids[:0:-1]
        with pytest.raises(RunUnknown):
            run_of(application, ids[0])
    with sqlite3.connect(tmp_path / "data" / "runs.sqlite") as file:
        assert file.execute("SELECT count(*) FROM runs").fetchone() == (3,)


def test_the_log_is_bounded_by_default() -> None:
    settings = Settings()
    assert (settings.run_log_texts, settings.run_log_records, settings.run_log_days) == (False, 10_000, 30.0)
