"""The publish protocol on the embedded engines: differences, snapshots, rollback, recovery, the doctor."""

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from service.domain.errors import EstateUnreadable, PublishFailed, PublishInProgress, RootUnknown
from service.domain.graph import NodeIdentity
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest, SearchRequest
from service.domain.snapshots import LinkedGraph, PublishStep, Snapshot
from service.ports import GraphStore
from service.publishing.linking import link
from service.tools import catalogue
from tests.application import PAGES, Application, running, write_estate

INSTALL = SearchRequest(text="install the command line")


def everything(application: Application) -> dict[str, str | None]:
    """Every node and its content hash, as the graph has them."""
    found: dict[str, str | None] = {}
    cursor = None
    while True:
        page = application.nodes(limit=100, cursor=cursor)
        for node in page.nodes:
            found[node.uid] = application.fetch(node.uid, locale=node.locale).content_hash
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_the_same_estate_twice_changes_nothing_and_embeds_nothing(tmp_path: Path) -> None:
    estate = write_estate(tmp_path / "estate")
    with running(tmp_path / "data") as application:
        first = application.publish(estate)
        again = application.publish(estate)
    assert (first.added, first.changed, first.removed) == (4, 0, 0)
    assert first.embedded > 0
    assert (again.added, again.changed, again.removed, again.unchanged) == (0, 0, 0, 4)
    assert again.embedded == 0
    assert again.content_root == first.content_root
    assert again.generation == first.generation


def test_a_publish_the_kept_roots_and_the_doctor_count_alike(tmp_path: Path) -> None:
    page = "---\nuid: p\nproducts: [anvil, hammer]\nroles: [smith]\nmonikerRange: anvil-1.0\n---\n# P\n\n<xref:Else>\n"
    estate = write_estate(tmp_path / "estate", PAGES | {"p.md": page})
    with running(tmp_path / "data") as application:
        published = application.publish(estate)
        doctor = application.run(application.tools.doctor(repair=False))
        [kept] = application.run(application.tools.roots()).roots
    assert doctor.nodes == kept.nodes == sum(published.nodes.values())
    assert doctor.passages == kept.passages == published.passages
    assert doctor.records == published.added == 5
    assert doctor.nodes >= doctor.records + 5  # two products, a role, a version, and what is documented elsewhere


def test_a_changed_page_is_embedded_and_the_others_are_not(tmp_path: Path) -> None:
    estate = write_estate(tmp_path / "estate")
    with running(tmp_path / "data") as application:
        application.publish(estate)
        (estate / "colours.md").write_text("---\nuid: colours\ntitle: Colours\n---\n# Colours\n\nPaint it teal.\n")
        result = application.publish(estate)
        assert (result.added, result.changed, result.removed, result.unchanged) == (0, 1, 0, 3)
        assert result.embedded == 1
        assert application.uids("paint it teal")[0] == "colours"
        assert "hues" not in application.search("warm hues", filter={"kind": ["page"]}).hits[0].passage.text


def test_a_removed_page_is_gone_from_every_store(tmp_path: Path) -> None:
    estate = write_estate(tmp_path / "estate")
    with running(tmp_path / "data") as application:
        application.publish(estate)
        (estate / "colours.md").unlink()
        assert application.publish(estate).removed == 1
        assert "colours" not in application.uids("choosing colours warm hues")
        assert application.run(application.tools.doctor(repair=False)).healthy


def test_publishing_step_by_step_ends_where_publishing_the_end_begins(tmp_path: Path) -> None:
    estate = write_estate(tmp_path / "estate")
    with running(tmp_path / "steps") as application:
        application.publish(estate)
        (estate / "new.md").write_text("# New\n\nSee [clients](clients.md).\n")
        application.publish(estate)
        (estate / "clients.md").rename(estate / "customers.md")
        application.publish(estate)
        (estate / "query.md").unlink()
        steps = application.publish(estate)
        stepwise = everything(application)
    with running(tmp_path / "once") as application:
        once = application.publish(estate)
        assert everything(application) == stepwise
    assert (once.content_root, once.nodes, once.edges, once.passages) == (
        steps.content_root,
        steps.nodes,
        steps.edges,
        steps.passages,
    )


def test_a_docset_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    one = write_estate(tmp_path / "one", {"a.md": "# Alpha\n\nThe first letter.\n", "b.md": "# Beta\n\nThe second.\n"})
    two = write_estate(tmp_path / "two", {"g.md": "# Gamma\n\nThe third letter.\n"})
    with running(tmp_path / "data") as application:
        application.publish(one)
        application.publish(two)
        (one / "b.md").unlink()
        result = application.publish(one)
        assert result.removed == 1
        assert {hit.title for hit in application.search("letter").hits} == {"Alpha", "Gamma"}


def test_a_dry_run_says_what_would_change_and_changes_nothing(tmp_path: Path) -> None:
    estate = write_estate(tmp_path / "estate")
    with running(tmp_path / "data") as application:
        result = application.publish(estate, dry_run=True)
        assert result.dry_run
        assert result.added == 4
        assert application.nodes().total == 0


def test_strict_refuses_before_anything_is_written_and_lists_what_is_wrong(tmp_path: Path) -> None:
    pages = {
        "a.md": "# A\n\nSee [nothing](nowhere.md).\n\n[!code-sql[](gone.sql)]\n",
        "b.md": "---\nuid: [\n---\n# B\n",
    }
    estate = write_estate(tmp_path / "estate", pages)
    with running(tmp_path / "data") as application:
        with pytest.raises(PublishFailed, match="strict") as failure:
            application.publish(estate, strict=True)
        assert "(error front_matter_invalid 1, warning link_broken 1)" in failure.value.message
        assert "(error front_matter_invalid 1, warning link_broken 1)" in failure.value.message
        # A note, such as of a snippet whose source lies elsewhere, fails nothing.
        assert [(found.code, found.file, found.line, found.column) for found in failure.value.diagnostics] == [
            ("front_matter_invalid", "b.md", 2, 6),
            ("link_broken", "a.md", 3, 15),
        ]
        assert all(found.fix for found in failure.value.diagnostics)
        assert application.nodes().total == 0
        assert application.publish(estate).added == 2


def test_what_is_no_estate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("# A\n")
    with running(tmp_path / "data") as application:
        for path in (tmp_path / "missing", tmp_path / "file.md"):
            with pytest.raises(EstateUnreadable):
                application.publish(path)
        twin = tmp_path / "other" / "estate"
        with pytest.raises(EstateUnreadable, match="both named"):
            application.publish(write_estate(tmp_path / "estate"), write_estate(twin))


def test_a_second_publish_at_once_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    estate = write_estate(tmp_path / "estate")
    with running(tmp_path / "data") as application:

        async def both() -> list[object]:
            request = PublishRequest(paths=[str(estate)])
            return await asyncio.gather(
                application.tools.publish(request), application.tools.publish(request), return_exceptions=True
            )

        first, second = application.run(both())
        assert isinstance(second, PublishInProgress)
        assert not isinstance(first, BaseException)
        assert application.uids("install")[0] == "install"


def test_rollback_publishes_a_kept_snapshot_again(tmp_path: Path) -> None:
    estate = write_estate(tmp_path / "estate")
    with running(tmp_path / "data") as application:
        first = application.publish(estate)
        before = everything(application)
        shutil.rmtree(estate)
        second = application.publish(write_estate(estate, {"other.md": "# Other\n\nSomething else.\n"}))
        back = application.run(application.tools.rollback(first.content_root))
        assert back.content_root == first.content_root
        assert back.generation == second.generation + 1
        assert back.embedded == 0
        assert everything(application) == before
        assert application.uids("how to install")[0] == "install"
        assert application.run(application.tools.doctor(repair=False)).healthy
        with pytest.raises(RootUnknown, match="Kept"):
            application.run(application.tools.rollback("0" * 64))


def test_only_the_newest_snapshots_are_kept(tmp_path: Path) -> None:
    estate = write_estate(tmp_path / "estate", {"a.md": "# A\n"})
    with running(tmp_path / "data") as application:
        made = []
        for number in range(7):
            (estate / "a.md").write_text(f"# A\n\nVersion {number}.\n")
            made.append(application.publish(estate).content_root)
        kept = [root.content_root for root in application.run(application.tools.roots()).roots]
        assert kept == made[:1:-1]


class Killed(BaseException):
    """Stands for the end of the process: nothing may catch it and clean up."""


@pytest.mark.parametrize("step", list(PublishStep)[1:])
@pytest.mark.parametrize("after", [False, True])
def test_a_publish_that_dies_at_any_journal_step_is_ended_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: PublishStep, after: bool
) -> None:
    estate = write_estate(tmp_path / "estate")
    changed = PAGES | {"colours.md": "---\nuid: colours\n---\n# Colours\n\nPaint it teal.\n"}
    with running(tmp_path / "data") as application:
        application.publish(estate)
        store = application.tools.publisher.store
        write_estate(estate, changed)

        advance, commit = store.advance, store.commit

        async def dying_advance(publish_id: str, reached: PublishStep) -> None:
            if reached is step and not after:
                raise Killed
            await advance(publish_id, reached)
            if reached is step:
                raise Killed

        async def dying_commit(change: object) -> None:
            if not after:
                raise Killed
            await commit(change)
            raise Killed

        monkeypatch.setattr(store, "advance", dying_advance)
        if step is PublishStep.COMMITTED:
            monkeypatch.setattr(store, "commit", dying_commit)
        with pytest.raises(Killed):
            application.publish(estate)
        monkeypatch.undo()
        flipped = any(hit.passage.text == "Paint it teal." for hit in application.search("choosing colours").hits)
        committed = list(PublishStep).index(PublishStep.COMMITTED)
        reached = list(PublishStep).index(step)
        assert flipped == (reached > committed or (reached == committed and after))
        assert "colours" in application.uids("choosing colours")
    with running(tmp_path / "data") as application:
        application.publish(estate)
        assert application.uids("paint it teal")[0] == "colours"
        assert application.run(application.tools.doctor(repair=False)).findings == []
        assert application.run(application.tools.publisher.store.unfinished()) is None


def test_the_doctor_finds_what_each_store_lost_and_mends_it(tmp_path: Path) -> None:
    with running(tmp_path / "data") as application:
        application.publish(write_estate(tmp_path / "estate"))
        tools = application.tools
        identity = NodeIdentity("colours", "en-us")
        manifest = application.run(tools.publisher.store.manifest())
        other = NodeIdentity("install", "en-us")
        application.run(tools.retrieval.lexical.remove({(identity, manifest[identity])}))
        application.run(tools.retrieval.vectors.remove({(other, manifest[other])}))
        sick = application.run(tools.doctor(repair=False))
        assert not sick.healthy
        assert {(finding.store, finding.code) for finding in sick.findings} == {
            ("tantivy", "passage_missing"),
            ("qdrant-edge", "passage_missing"),
        }
        mended = application.run(tools.doctor(repair=True))
        assert mended.findings == []
        assert application.uids("choosing colours")[0] == "colours"


def test_readers_see_the_old_snapshot_or_the_new_one_and_no_page_is_ever_missing(tmp_path: Path) -> None:
    estate = write_estate(tmp_path / "estate")
    with running(tmp_path / "data") as application:
        application.publish(estate)
        roots = {application.search("install").content_root}

        async def read_while_publishing() -> list[tuple[str, bool]]:
            seen: list[tuple[str, bool]] = []
            publishing = asyncio.create_task(application.tools.publish(PublishRequest(paths=[str(estate)])))
            while not publishing.done():
                result = await application.tools.call(catalogue.SEARCH, INSTALL, ANONYMOUS)
                seen.append((result.content_root, any(hit.uid == "install" for hit in result.hits)))
            roots.add((await publishing).content_root)
            return seen

        for number in range(5):
            text = PAGES["install.md"].replace("Download", f"Download version {number} of")
            (estate / "install.md").write_text(text)
            seen = application.run(read_while_publishing())
            assert seen
            assert all(found for _, found in seen)
            assert {root for root, _ in seen} <= roots


async def current_graph(store: GraphStore) -> LinkedGraph:
    hashes = set((await store.manifest()).values())
    return link([record async for record in store.records(hashes)], default_locale="en-us")


def test_a_mended_graph_is_read_anew(tmp_path: Path) -> None:
    with running(tmp_path / "data") as application:
        application.publish(write_estate(tmp_path / "estate"))
        store = application.tools.publisher.store
        whole = application.run(current_graph(store))
        title = application.search("choosing colours").hits[0].title
        identity = NodeIdentity("colours", "en-us")
        wrong = {**whole.nodes, identity: replace(whole.nodes[identity], title="Wrong")}
        application.run(store.restore(replace(whole, nodes=wrong)))
        application.tools.retrieval.forget()
        assert application.search("choosing colours").hits[0].title == "Wrong"
        application.run(store.restore(replace(whole, edges=())))
        assert not application.run(application.tools.doctor(repair=False)).healthy
        assert application.run(application.tools.doctor(repair=True)).healthy
        assert application.search("choosing colours").hits[0].title == title


def test_an_answer_says_that_the_graph_is_between_two_snapshots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(tmp_path / "data") as application:
        application.publish(write_estate(tmp_path / "estate"))
        assert application.search("install").degraded == []
        assert not application.run(application.tools.readiness()).publishing
        current = application.run(application.tools.publisher.store.snapshot())

        async def halfway() -> Snapshot:
            return replace(current, publishing=True)

        monkeypatch.setattr(application.tools.retrieval.store, "snapshot", halfway)
        note = "publishing: the graph is between two snapshots"
        assert application.search("install").degraded == [note]
        assert application.nodes().degraded == [note]
        related = catalogue.RELATED.request(uid="query")
        assert application.run(application.tools.call(catalogue.RELATED, related, ANONYMOUS)).degraded == [note]
        assert application.run(application.tools.readiness()).publishing
