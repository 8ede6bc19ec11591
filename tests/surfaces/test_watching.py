"""Publishing after every change: what is a change, and what becomes of one that could not be published."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from adapters.estates.site import reading
from adapters.estates.site.articles import read_article
from service.domain.errors import EngineUnavailable, EstateUnreadable, PublishFailed
from service.domain.progress import silent
from service.domain.requests import PublishRequest
from service.settings import Settings
from service.surfaces.command_line import upkeep
from service.surfaces.command_line.invocation import Invocation
from service.surfaces.command_line.output import Output
from service.surfaces.command_line.watching import stamp, watch

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

QUICK = Settings(watch_interval=10, watch_settling=10)


@pytest.fixture
def estate(tmp_path):
    folder = tmp_path / "estate"
    folder.mkdir()
    (folder / "a.md").write_text("# A")
    return folder


class Publisher:
    """Puts what the page held into `published`; raises what `failures` holds first."""

    def __init__(self, page):
        self.page = page
        self.failures = []
        self.published = asyncio.Queue()
        self.said = asyncio.Queue()

    async def publish(self):
        if self.failures:
            raise self.failures.pop(0)
        self.published.put_nowait(self.page.read_text())


@asynccontextmanager
async def watched(estate, publisher, data):
    work = asyncio.create_task(watch([estate], data, QUICK, publisher.publish, publisher.said.put_nowait))
    try:
        yield work
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def soon(queue):
    return await asyncio.wait_for(queue.get(), 20)


async def test_each_change_is_published(estate, tmp_path):
    publisher = Publisher(estate / "a.md")
    async with watched(estate, publisher, tmp_path / "data"):
        assert await soon(publisher.published) == "# A"
        (estate / "a.md").write_text("# Another")
        assert await soon(publisher.published) == "# Another"
        (estate / "sub").mkdir()
        (estate / "sub" / "b.md").write_text("# B")
        assert await soon(publisher.published) == "# Another"
        (estate / "sub" / "b.md").unlink()
        assert await soon(publisher.published) == "# Another"


async def test_what_is_wrong_at_first_ends_the_watch(estate, tmp_path):
    publisher = Publisher(estate / "a.md")
    publisher.failures = [EstateUnreadable("There is no folder.")]
    async with watched(estate, publisher, tmp_path / "data") as work:
        with pytest.raises(EstateUnreadable):
            await asyncio.wait_for(work, 20)


async def test_a_change_that_is_refused_waits_for_the_next(estate, tmp_path):
    publisher = Publisher(estate / "a.md")
    async with watched(estate, publisher, tmp_path / "data"):
        await soon(publisher.published)
        publisher.failures = [PublishFailed("There are warnings.")]
        (estate / "a.md").write_text("# Broken")
        assert isinstance(await soon(publisher.said), PublishFailed)
        (estate / "a.md").write_text("# Mended again")
        assert await soon(publisher.published) == "# Mended again"
        assert publisher.said.empty()


async def test_a_change_that_an_engine_keeps_back_is_tried_again(estate, tmp_path):
    publisher = Publisher(estate / "a.md")
    async with watched(estate, publisher, tmp_path / "data"):
        await soon(publisher.published)
        publisher.failures = [EngineUnavailable("neo4j", "restarting")]
        (estate / "a.md").write_text("# Patient")
        assert isinstance(await soon(publisher.said), EngineUnavailable)
        assert await soon(publisher.published) == "# Patient"


def test_hidden_folders_and_the_data_folder_are_no_part_of_an_estate(estate):
    data = estate / "stores"
    before = stamp([estate], data)
    for folder in (data, estate / ".git"):
        folder.mkdir()
        (folder / "x").write_text("x")
    assert stamp([estate], data) == before
    assert len(before) == 1


async def test_what_was_read_is_remembered_from_one_publish_to_the_next(estate, tmp_path, monkeypatch):
    (estate / "b.md").write_text("# B")
    read = []

    def noted(source, *rest):
        read.append(source.path)
        return read_article(source, *rest)

    monkeypatch.setattr(reading, "read_article", noted)
    invocation = Invocation(tmp_path / "data", None, Output(as_json=True))
    publish = upkeep.publish_here(PublishRequest(paths=[str(estate)]), invocation)
    assert (await publish(silent)).added == 2
    (estate / "a.md").write_text("# A\n\nOther words.")
    assert (await publish(silent)).changed == 1
    assert read == ["a.md", "b.md", "a.md"]
