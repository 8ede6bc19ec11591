"""Backup and restore of a data folder, from end to end: what is restored answers as the folder did."""

import asyncio

import pytest

from service import bootstrap
from service.domain.errors import BackupImpossible
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest, SearchRequest
from service.settings import Settings
from service.tools import catalogue
from tests.application import PAGES, running, write_estate
from tests.surfaces.serving import PATIENT

QUESTIONS = (
    "install the command line",
    "a query with a deadline",
    "IHttpClientFactory",
    "warm colours",
    "0x80070005",
)


def order(application, text):
    return [(hit.uid, hit.locale, round(hit.score, 6)) for hit in application.search(text).hits]


def test_a_restored_folder_answers_as_the_folder_did(tmp_path):
    estate = write_estate(tmp_path / "estate")
    with running(tmp_path / "data", PATIENT) as application:
        application.publish(estate)
        write_estate(estate, {"later.md": "---\nuid: later\ntitle: Later\n---\n# Later\n\nA page about deadlines.\n"})
        application.publish(estate)
        # The owner has the folder, and goes on having it.
        written = application.run(bootstrap.back_up(PATIENT, tmp_path / "data", tmp_path / "b.tar"))
        before = {text: order(application, text) for text in QUESTIONS}
        roots = application.run(application.tools.roots())
    assert (written.content_root, written.generation) == (roots.roots[0].content_root, 2)
    told = []
    result = asyncio.run(
        bootstrap.restore(PATIENT, tmp_path / "new", tmp_path / "b.tar", lambda *step: told.append(step))
    )
    assert (result.healthy, result.findings, result.content_root) == (True, [], written.content_root)
    assert {stage for stage, _, _ in told} >= {"indexing", "embedding"}
    with running(tmp_path / "new", PATIENT) as restored:
        assert {text: order(restored, text) for text in QUESTIONS} == before
        assert [root.content_root for root in restored.run(restored.tools.roots()).roots] == [
            root.content_root for root in roots.roots
        ]
        # Also the older snapshot is whole: it can be rolled back to.
        assert restored.run(restored.tools.rollback(roots.roots[1].content_root)).removed == 1
        assert "later" not in [node.uid for node in restored.nodes().nodes]
        # And nothing that the restore left behind stands in a publish's way.
        assert restored.publish(estate).added == 1


def test_a_restore_asks_the_model_for_nothing_that_it_has_read(tmp_path, monkeypatch):
    with running(tmp_path / "data", PATIENT) as application:
        embedded = application.publish(write_estate(tmp_path / "estate")).embedded
        application.run(bootstrap.back_up(PATIENT, tmp_path / "data", tmp_path / "b.tar"))
        read = []
        from adapters.embedding.minilm import MiniLM

        embed = MiniLM.embed

        async def counting(self, texts, purpose):
            read.extend(texts)
            return await embed(self, texts, purpose)

        monkeypatch.setattr(MiniLM, "embed", counting)
        assert application.run(bootstrap.restore(PATIENT, tmp_path / "new", tmp_path / "b.tar")).healthy
    assert embedded > 0
    assert read == []


def test_backups_while_publishes_go_on_are_each_whole(tmp_path):
    """Ten publishes one after another, and backups as fast as they can be made: each is one of the snapshots."""
    estate = write_estate(tmp_path / "estate")
    data = tmp_path / "data"

    async def publish_and_back_up():
        roots, backups = [], []
        async with bootstrap.open_toolbox(PATIENT, data) as toolbox:
            roots.append((await toolbox.publish(PublishRequest(paths=[str(estate)]))).content_root)

            async def publish():
                for number in range(10):
                    await asyncio.to_thread(
                        write_estate, estate, {"query.md": PAGES["query.md"] + f"\nEdit {number}.\n"}
                    )
                    roots.append((await toolbox.publish(PublishRequest(paths=[str(estate)]))).content_root)

            publishing = asyncio.create_task(publish())
            while not publishing.done():
                file = tmp_path / f"{len(backups)}.tar"
                backups.append((file, await bootstrap.back_up(PATIENT, data, file)))
                await asyncio.sleep(0)
            await publishing
        return roots, backups

    roots, backups = asyncio.run(publish_and_back_up())
    taken = [backup.content_root for _, backup in backups]
    assert len(set(taken)) > 1, "no backup met a publish"
    assert set(taken) <= set(roots)
    assert [roots.index(root) for root in taken] == sorted(roots.index(root) for root in taken)
    for number in (0, len(backups) // 2, len(backups) - 1):
        file, backup = backups[number]
        result = asyncio.run(bootstrap.restore(PATIENT, tmp_path / f"new-{number}", file))
        assert (result.healthy, result.content_root) == (True, backup.content_root)


def test_a_restore_that_was_broken_off_is_finished_by_who_opens_the_folder(tmp_path, monkeypatch):
    with running(tmp_path / "data", PATIENT) as application:
        application.publish(write_estate(tmp_path / "estate"))
        application.run(bootstrap.back_up(PATIENT, tmp_path / "data", tmp_path / "b.tar"))
        before = order(application, QUESTIONS[0])

    class Killed(Exception):
        pass

    def break_off(*_arguments):
        raise Killed

    with pytest.raises(Killed):
        asyncio.run(bootstrap.restore(PATIENT, tmp_path / "new", tmp_path / "b.tar", break_off))

    async def finish():
        async with bootstrap.open_toolbox(PATIENT, tmp_path / "new") as toolbox:
            async with asyncio.timeout(60):
                while not (await toolbox.doctor(repair=False)).healthy:  # noqa: ASYNC110 there is no event
                    await asyncio.sleep(0.01)
            result = await toolbox.call(catalogue.SEARCH, SearchRequest(text=QUESTIONS[0]), ANONYMOUS)
            return [(hit.uid, hit.locale, round(hit.score, 6)) for hit in result.hits]

    assert asyncio.run(finish()) == before


def test_records_in_neo4j_are_neo4js_to_back_up(tmp_path):
    settings = Settings(neo4j_url="bolt://127.0.0.1:1")
    with pytest.raises(BackupImpossible, match="Neo4j"):
        asyncio.run(bootstrap.back_up(settings, tmp_path / "data", tmp_path / "b.tar"))
    with pytest.raises(BackupImpossible, match="Neo4j"):
        asyncio.run(bootstrap.restore(settings, tmp_path / "data", tmp_path / "b.tar"))
    assert list(tmp_path.iterdir()) == []
