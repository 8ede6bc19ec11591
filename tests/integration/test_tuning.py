"""Pinned results and synonyms over the real embedded application: what they do to a search, and what they don't."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from service import bootstrap
from service.domain.errors import CursorStale, EngineUnavailable, TuningChanged, TuningInvalid, TuningUnknown
from service.domain.principal import ANONYMOUS, OWNER, Principal
from service.domain.requests import ReplayRequest, RunRequest
from service.domain.tuning import (
    Edit,
    PinnedResult,
    ReplaceTuningRequest,
    RollbackTuningRequest,
    Synonym,
    TuningContent,
    TuningDifferenceRequest,
    TuningHistoryRequest,
    TuningRequest,
    TuningResult,
    add_synonym,
    pin,
    remove_synonym,
    unpin,
)
from service.evaluation.sets import find_set
from service.retrieval import pipeline
from service.settings import Settings
from service.surfaces.tuning import amend
from service.tools import catalogue
from tests.application import Application, running, write_estate
from tests.integration.test_signals_on_estates import PATIENT

STAFF = Principal("staff", audiences=frozenset({"staff"}))
QUESTION = "fix a bicycle chain"
TOPICS = {
    **{f"chain-{n}": f"Fix a bicycle chain, way {n}: " + "take the link out. " * n for n in range(1, 9)},
    "tyre": "Mend a tyre: glue, rubber and patience.",
    "velo": "A velocipede wants oil on its parts.",
    "penny": "The penny farthing, one big wheel.",
    "secret": "The price list of the workshop.",
}


def page(uid: str, text: str) -> str:
    products = "[shop]" if uid in ("secret", "tyre") else "[bike]"
    return f"---\nuid: {uid}\ntitle: About {uid}\nproducts: {products}\n---\n# About {uid}\n\n{text}\n"


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("tuning")
    pages = {f"{'staff/' if uid == 'secret' else ''}{uid}.md": page(uid, text) for uid, text in TOPICS.items()}
    rules = {"cogitave-query.yml": "visibility:\n  rules:\n  - files: staff/**\n    visibleTo: [staff]\n"}
    settings = PATIENT.model_copy(update={"run_log_texts": True, "tuning_versions": 20})
    with running(folder / "data", settings) as opened:
        opened.publish(write_estate(folder / "site", pages | rules))
        yield opened


@pytest.fixture(autouse=True)
def untuned(application: Application) -> None:
    tune(application)


def call(application: Application, tool: Any, principal: Principal = OWNER, **fields: Any) -> Any:
    return application.run(application.tools.call(tool, tool.request(**fields), principal))


def current(application: Application, workspace: str = "default") -> TuningResult:
    found: TuningResult = call(application, catalogue.TUNING, workspace=workspace)
    return found


def tune(application: Application, *pins: PinnedResult, synonyms: tuple[Synonym, ...] = (), **more: Any) -> int:
    """Make this the tuning; its version."""
    version = current(application, more.get("workspace", "default")).version
    request = ReplaceTuningRequest(version=version, pins=list(pins), synonyms=list(synonyms), **more)
    made: TuningResult = application.run(application.tools.call(catalogue.REPLACE_TUNING, request, OWNER))
    return made.version


def pinned(uid: str, words: str = "bicycle chain", **more: Any) -> PinnedResult:
    return PinnedResult(words=words, uid=uid, **more)


def by_page(application: Application, size: int, principal: Principal = ANONYMOUS, **fields: Any) -> list[str]:
    """Every page to the end: the uids, and each page's total."""
    uids, cursor = [], None
    while True:
        found = application.search(QUESTION, principal, limit=size, cursor=cursor, **fields)
        uids += [hit.uid for hit in found.hits]
        cursor = found.next_cursor
        if cursor is None:
            assert found.total == len(uids)
            return uids


def test_a_pinned_page_is_first_though_no_word_of_it_was_asked_for(application: Application) -> None:
    before = application.uids(QUESTION, limit=50)
    version = tune(application, pinned("velo", note="since the flood"))
    found = application.search(QUESTION, limit=50, explain=True)
    assert [hit.uid for hit in found.hits] == ["velo", *(uid for uid in before if uid != "velo")]
    assert found.tuning_version == version
    first = found.hits[0]
    assert (first.pinned, first.passage.text) == (True, TOPICS["velo"])
    assert [hit.pinned for hit in found.hits[1:]] == [False] * (len(found.hits) - 1)
    assert first.explain is not None
    assert first.explain.pinned is not None
    told = first.explain.pinned
    unpinned = before.index("velo") + 1 if "velo" in before else None
    assert (told.version, told.place, told.note, told.unpinned) == (version, 1, "since the flood", unpinned)


@pytest.mark.parametrize(
    ("question", "match", "is_pinned"),
    [
        ("Bicycle chains", "exact", True),
        ("the chain of a bicycle?", "exact", True),
        ("fix a bicycle chain", "exact", False),
        ("fix a bicycle chain", "all", True),
        ("fix a chain", "all", False),
    ],
)
def test_questions_match_by_their_analysed_words(
    application: Application, question: str, match: Any, is_pinned: bool
) -> None:
    tune(application, pinned("penny", match=match))
    assert application.search(question).hits[0].pinned is is_pinned


def test_a_pin_shows_nobody_what_they_may_not_see(application: Application) -> None:
    bare = application.search(QUESTION, limit=50)
    tune(application, pinned("secret", note="hush"))
    seen = application.search(QUESTION, limit=50, explain=True)
    assert (seen.total, [hit.uid for hit in seen.hits]) == (bare.total, [hit.uid for hit in bare.hits])
    assert not seen.degraded
    assert "secret" not in seen.model_dump_json()
    assert "hush" not in seen.model_dump_json()
    assert application.search(QUESTION, STAFF).hits[0].uid == "secret"


def test_a_pin_stays_within_the_filters(application: Application) -> None:
    tune(application, pinned("tyre"))
    assert application.search(QUESTION).hits[0].uid == "tyre"
    narrowed = application.search(QUESTION, filter={"product": ["bike"]}, limit=50)
    assert "tyre" not in [hit.uid for hit in narrowed.hits]
    assert application.why_not("tyre", QUESTION, filter={"product": ["bike"]}).reason == "filter"
    assert application.uids(QUESTION, filter={"product": ["shop"]})[0] == "tyre"
    assert application.search(QUESTION, filter={"locale": ["de-de"]}).hits == []
    tune(application, pinned("tyre", locale="de-de"))
    assert not application.search(QUESTION).hits[0].pinned


def test_the_last_day_of_a_pin_is_its_last(application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    tune(application, pinned("velo", until="2026-05-31"))
    for day, expected in (("2026-05-31", True), ("2026-06-01", False)):
        monkeypatch.setattr(pipeline, "today", lambda day=day: f"{day}T00:00:00+00:00")
        assert application.search(QUESTION).hits[0].pinned is expected


def test_a_request_may_leave_tuning_out(application: Application) -> None:
    before = application.uids("velocipede")
    tune(application, pinned("tyre", "velocipede"), synonyms=(Synonym(terms=["velocipede", "penny farthing"]),))
    assert application.uids("velocipede")[:1] == ["tyre"]
    without = application.search("velocipede", without_tuning=True, explain=True)
    assert [hit.uid for hit in without.hits] == before
    assert without.tuning_version is None
    assert without.explain is not None
    assert without.explain.expansions == []


async def down(*_args: object, **_fields: object) -> None:
    raise EngineUnavailable("an engine", "it is gone")


def test_synonyms_find_what_the_words_do_not(application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    tune(application, synonyms=(Synonym(terms=["zyxxy", "velocipede"]), Synonym(of="zyxxy", terms=["penny farthing"])))
    found = application.search("zyxxy", explain=True)
    assert {hit.uid for hit in found.hits} >= {"velo", "penny"}
    assert found.explain is not None
    assert [(one.of, one.alternatives) for one in found.explain.expansions] == [
        ("zyxxy", ["velocipede", "penny farthing"])
    ]
    velo = next(hit for hit in found.hits if hit.uid == "velo")
    assert [velo.passage.text[start:end] for start, end in velo.passage.highlights] == ["velocipede"]
    assert "Nothing in the estate" not in " ".join(found.notices)
    one_way = application.search("penny farthing", explain=True)
    assert one_way.explain is not None
    assert one_way.explain.expansions == []
    monkeypatch.setattr(application.tools.retrieval.vectors, "search", down)
    answer = application.why_not("chain-1", "zyxxy")
    assert (answer.reason, answer.detail.endswith("Looked for besides: velocipede, penny farthing.")) == ("leg", True)


def test_why_not_knows_who_pinned_what(application: Application) -> None:
    version = tune(application, pinned("penny", note="it is lovely"))
    answer = application.why_not("penny", QUESTION)
    assert (answer.reason, answer.rank) == ("hit", 1)
    assert f"pinned there by version {version} of the tuning (it is lovely)" in answer.detail
    assert "pinned" not in application.why_not("chain-1", QUESTION).detail


def test_a_cursor_keeps_to_the_version_of_its_first_page(application: Application) -> None:
    tune(application, pinned("velo"), pinned("tyre", place=3))
    whole = application.uids(QUESTION, limit=50)
    first = application.search(QUESTION, limit=2)
    tune(application, pinned("penny"))
    rest = application.search(QUESTION, limit=50, cursor=first.next_cursor)
    assert [hit.uid for hit in (*first.hits, *rest.hits)] == whole
    assert rest.tuning_version == first.tuning_version
    assert application.uids(QUESTION, limit=1) == ["penny"]


def test_a_cursor_whose_tuning_is_gone_is_stale(application: Application) -> None:
    tune(application, pinned("velo"))
    first = application.search(QUESTION, limit=2)
    for number in range(21):
        tune(application, pinned("velo", note=str(number)))
    application.tools.retrieval.tunings._versions.clear()
    with pytest.raises(CursorStale, match="tuning"):
        application.search(QUESTION, limit=2, cursor=first.next_cursor)


def test_a_run_names_its_version_and_a_replay_says_when_it_differs(application: Application) -> None:
    version = tune(application, pinned("velo", note="why"))
    found = application.search(QUESTION)
    run = call(application, catalogue.RUN, **RunRequest(run_id=found.run_id).model_dump())
    assert run.tuning_version == version
    assert (run.hits[0].pinned.version, run.hits[0].pinned.note) == (version, "why")
    again = call(application, catalogue.REPLAY, **ReplayRequest(run_id=found.run_id).model_dump())
    assert (again.same_tuning, again.same_order) == (True, True)
    tune(application, pinned("penny"))
    again = call(application, catalogue.REPLAY, **ReplayRequest(run_id=found.run_id).model_dump())
    assert (again.same_tuning, again.same_order) == (False, False)
    bare = application.search(QUESTION, without_tuning=True)
    again = call(application, catalogue.REPLAY, **ReplayRequest(run_id=bare.run_id).model_dump())
    assert (again.same_tuning, again.same_order) == (True, True)


def test_workspaces_are_tuned_apart(application: Application) -> None:
    tune(application, pinned("velo"), workspace="other")
    assert not application.search(QUESTION).hits[0].pinned
    assert not application.search(QUESTION, filter={"workspace": ["default"]}).hits[0].pinned
    elsewhere = application.search(QUESTION, filter={"workspace": ["other"]})
    assert (elsewhere.hits, elsewhere.tuning_version) == ([], current(application, "other").version)


def test_a_store_that_is_down_leaves_the_tuning_as_it_was_known(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = tune(application, pinned("velo"))
    tunings = application.tools.retrieval.tunings

    with monkeypatch.context() as patched:
        patched.setattr(tunings.store, "newest", down)
        patched.setattr(tunings, "_clock", lambda: 1e12)
        found = application.search(QUESTION)
        assert (found.hits[0].uid, found.tuning_version) == ("velo", version)
        assert found.degraded == ["tuning: it is gone"]
    tunings._known.clear()
    assert application.search(QUESTION).degraded == []


def test_rolling_back_is_a_new_version_and_the_history_says_so(application: Application) -> None:
    first = tune(application, pinned("velo"), reason="the first")
    second = tune(application, pinned("penny"), synonyms=(Synonym(terms=["a bike", "bicycle"]),), reason="another")
    told = call(
        application, catalogue.TUNING_DIFFERENCE, **TuningDifferenceRequest(before=first).model_dump(exclude_none=True)
    )
    assert ([one.uid for one in told.added_pins], [one.uid for one in told.removed_pins]) == (["penny"], ["velo"])
    assert [one.terms for one in told.added_synonyms] == [["a bike", "bicycle"]]
    request = RollbackTuningRequest(to=first, version=second, reason="oops")
    call(application, catalogue.ROLLBACK_TUNING, **request.model_dump())
    assert application.uids(QUESTION, limit=1) == ["velo"]
    kept = call(application, catalogue.TUNING_HISTORY, **TuningHistoryRequest(limit=3).model_dump()).versions
    assert [(one.version, one.reason, one.by, one.restored) for one in kept] == [
        (second + 1, "oops", "owner", first),
        (second, "another", "owner", None),
        (first, "the first", "owner", None),
    ]
    with pytest.raises(TuningChanged) as refused:
        call(application, catalogue.ROLLBACK_TUNING, to=first, version=second)
    assert refused.value.suggestion == str(second + 1)
    with pytest.raises(TuningUnknown):
        call(application, catalogue.ROLLBACK_TUNING, to=second + 9, version=second + 1)
    with pytest.raises(TuningUnknown):
        call(application, catalogue.TUNING, **TuningRequest(version=second + 9).model_dump())


@pytest.mark.parametrize(
    "content",
    [
        {"pins": [pinned("velo", "the")]},
        {"pins": [pinned("velo", "?!")]},
        {"pins": [pinned("")]},
        {"pins": [pinned("velo", place=11)]},
        {"pins": [pinned("velo", "x" * 201)]},
        {"pins": [pinned("velo", note="x" * 201)]},
        {"pins": [pinned("velo", "bicycle chain"), pinned("velo", "Chains, bicycles", place=2)]},
        {"pins": [pinned("velo", f"w{n}") for n in range(2_001)]},
        {"synonyms": [Synonym(terms=["one"])]},
        {"synonyms": [Synonym(terms=["slot", "Slots"])]},
        {"synonyms": [Synonym(terms=["slot", "the"])]},
        {"synonyms": [Synonym(of="slot", terms=["slots"])]},
        {"synonyms": [Synonym(terms=[f"t{n}" for n in range(17)])]},
        {"synonyms": [Synonym(terms=[f"a{n}", f"b{n}"]) for n in range(2_001)]},
        {"reason": "x" * 201},
    ],
)
def test_what_says_nothing_or_too_much_is_refused(application: Application, content: dict[str, Any]) -> None:
    version = current(application).version
    with pytest.raises(TuningInvalid):
        call(application, catalogue.REPLACE_TUNING, version=version, **content)
    assert current(application).version == version


def test_editors_at_once_lose_nothing(application: Application) -> None:
    async def edit(number: int) -> None:
        await amend(application.tools, OWNER, "default", pin(pinned("velo", f"word{number}")), f"edit {number}")

    async def all_of_them() -> None:
        await asyncio.gather(*(edit(number) for number in range(6)))

    start = current(application).version
    application.run(all_of_them())
    made = current(application)
    assert made.version == start + 6
    assert sorted(one.words for one in made.pins) == [f"word{number}" for number in range(6)]


UIDS = st.sampled_from([*TOPICS, "there is none"])
PINS = st.builds(
    PinnedResult,
    words=st.sampled_from(["bicycle chain", "chain", "fix", "something else"]),
    match=st.sampled_from(["all", "exact"]),
    uid=UIDS,
    place=st.integers(1, 4),
)
PROPERTY = hypothesis_settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def unlike(pins: list[PinnedResult]) -> list[PinnedResult]:
    """Without those that match the same questions with the same node."""
    return list({(one.words, one.match, one.uid): one for one in pins}.values())


@PROPERTY
@given(
    pins=st.lists(PINS, max_size=5).map(unlike),
    size=st.integers(1, 5),
    is_staff=st.booleans(),
    product=st.sampled_from([None, "bike", "shop"]),
)
def test_pins_stand_first_and_move_nothing_else(
    application: Application, pins: list[PinnedResult], size: int, is_staff: bool, product: str | None
) -> None:
    """For whoever asks, with whatever filter, page by page: the visible pins where they belong, the rest as it was."""
    asked: dict[str, Any] = {"filter": {"product": [product]}} if product else {}
    principal = STAFF if is_staff else ANONYMOUS
    tune(application)
    before = by_page(application, 50, principal, **asked)
    tune(application, *pins)
    after = by_page(application, size, principal, **asked)
    assert len(after) == len(set(after))
    terms = application.tools.retrieval.lexical.terms
    words = set(terms(QUESTION))

    def counts(one: PinnedResult) -> bool:
        said = set(terms(one.words))
        matches = said == words if one.match == "exact" else said <= words
        is_visible = one.uid in TOPICS and (is_staff or one.uid != "secret")
        in_filter = product is None or (product == "shop") == (one.uid in ("secret", "tyre"))
        return matches and is_visible and in_filter

    live: dict[str, int] = {}
    for one in sorted(filter(counts, pins), key=lambda one: one.place):
        live.setdefault(one.uid, one.place)
    assert [uid for uid in after if uid not in live] == [uid for uid in before if uid not in live]
    assert set(after) == {*before, *live}
    if 1 in live.values():
        assert live.get(after[0]) == 1
    else:
        assert after[:1] == [uid for uid in before if uid not in live][:1] or len(live) == len(after)
    assert by_page(application, size, principal, **asked) == after


TERMS = ("velocipede", "penny", "tyre", "glue", "oil")


@PROPERTY
@given(pair=st.lists(st.sampled_from(TERMS), min_size=2, max_size=4, unique=True))
def test_synonyms_are_symmetric(application: Application, pair: list[str]) -> None:
    tune(application, synonyms=(Synonym(terms=pair),))
    found = [by_words(application, term) for term in pair]
    assert found[0]
    assert all(one == found[0] for one in found)


def by_words(application: Application, term: str) -> set[str]:
    """What the lexical leg finds."""
    hits = application.search(term, explain=True, limit=50).hits
    return {hit.uid for hit in hits if hit.explain and any(leg.leg == "lexical" for leg in hit.explain.legs)}


EDITS = st.one_of(
    PINS.map(pin),
    UIDS.map(unpin),
    st.lists(st.sampled_from(TERMS), min_size=2, max_size=3, unique=True).map(
        lambda terms: add_synonym(Synonym(terms=terms))
    ),
    st.lists(st.sampled_from(TERMS), min_size=2, max_size=3, unique=True).map(
        lambda terms: remove_synonym(Synonym(terms=terms))
    ),
    st.integers(0, 6),
)


@PROPERTY
@given(steps=st.lists(EDITS, max_size=8))
def test_any_way_to_a_version_ranks_as_that_version(application: Application, steps: list[Edit | int]) -> None:
    """However often pinned, taken away and rolled back: the result is that of the content alone."""
    start = tune(application)
    content, kept = TuningContent(), {start: TuningContent()}
    for step in steps:
        now = current(application).version
        if isinstance(step, int):
            to = start + step % (now - start + 1)
            call(application, catalogue.ROLLBACK_TUNING, to=to, version=now)
            content = kept[to]
        else:
            content = step(content)
            application.run(amend(application.tools, OWNER, "default", step, ""))
        kept[current(application).version] = content
    reached = current(application)
    assert TuningContent(pins=reached.pins, synonyms=reached.synonyms) == content
    ranked = [application.uids(text, limit=50) for text in (QUESTION, "glue", "velocipede oil")]
    tune(application)
    tune(application, *content.pins, synonyms=tuple(content.synonyms))
    assert [application.uids(text, limit=50) for text in (QUESTION, "glue", "velocipede oil")] == ranked


def test_a_tuning_outlives_its_process_and_is_in_a_backup_as_judgments_are(tmp_path: Path) -> None:
    write_estate(tmp_path / "site", {f"{uid}.md": page(uid, text) for uid, text in TOPICS.items()})
    with running(tmp_path / "data", Settings()) as opened:
        opened.publish(tmp_path / "site")
        tune(opened, pinned("velo"))
        made = tune(opened, pinned("velo"), synonyms=(Synonym(terms=["k8s", "kubernetes"]),), reason="why")
    bootstrap.open_judgments(Settings(), tmp_path / "data").add(QUESTION, {"velo": 3, "chain-1": 1})
    asyncio.run(bootstrap.back_up(Settings(), tmp_path / "data", tmp_path / "backup.tar"))
    assert asyncio.run(bootstrap.restore(Settings(), tmp_path / "restored", tmp_path / "backup.tar")).healthy
    for folder in ("data", "restored"):
        with running(tmp_path / folder, Settings()) as opened:
            assert opened.uids(QUESTION, limit=1) == ["velo"]
            assert (current(opened).version, current(opened).reason) == (made, "why")
            kept = call(opened, catalogue.TUNING_HISTORY, **TuningHistoryRequest().model_dump()).versions
            assert [one.version for one in kept] == [made, made - 1]
        assert bootstrap.open_judgments(Settings(), tmp_path / folder).count() == (1, 2)
    assert [judged(tmp_path / folder / "judgments") for folder in ("data", "restored")] == [
        {"velo": 3, "chain-1": 1}
    ] * 2


def judged(folder: Path) -> dict[str, int]:
    (grades,) = find_set(folder).judgments.values()
    return dict(grades)
