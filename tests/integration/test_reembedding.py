"""Another model: its index is filled while the first one's answers, and is whole when it is opened."""

import asyncio

import pytest

from service import bootstrap
from service.domain.errors import EngineUnavailable
from tests.application import PAGES, running, write_estate
from tests.surfaces.serving import PATIENT
from tests.unit.adapters.embedding.endpoint import Reply, serve_endpoint

pytestmark = pytest.mark.anyio


@pytest.fixture
def endpoint():
    with serve_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def other(endpoint):
    """Settings of another model."""
    return PATIENT.model_copy(
        update={"embedder": "http", "embedder_url": endpoint.url, "embedder_model": "other", "publish_batch": 2}
    )


@pytest.fixture
def first(tmp_path):
    """The application with the packaged model, over four pages."""
    with running(tmp_path / "data", PATIENT) as application:
        application.publish(write_estate(tmp_path / "estate"))
        yield application


def texts_read(endpoint):
    return [text for request in endpoint.requests for text in request["input"] if text != "dimensions"]


def with_reembedding(settings, data, work):
    async def run():
        async with bootstrap.open_reembedding(settings, data) as reembedding:
            return await work(reembedding)

    return asyncio.run(run())


def test_the_estimate_reads_a_sample_and_says_what_is_left(first, endpoint, other, tmp_path):
    estimate = with_reembedding(other, tmp_path / "data", lambda reembedding: reembedding.estimate(3))
    passages = first.run(first.tools.doctor(repair=False)).passages
    assert (estimate.passages, estimate.missing, estimate.texts) == (passages, passages, passages)
    assert 2 <= estimate.sample <= 3
    assert len(texts_read(endpoint)) == estimate.sample
    assert estimate.seconds == pytest.approx((passages - estimate.sample) / estimate.texts_a_second)


def test_the_old_vectors_answer_until_the_flip_and_the_new_ones_are_whole_after_it(first, endpoint, other, tmp_path):
    before = first.search("graph query").hits
    result = with_reembedding(other, tmp_path / "data", lambda reembedding: reembedding.run())
    assert (result.added, result.removed, result.embedded) == (result.passages, 0, result.passages)
    # The first model's server goes on, and so do its publishes.
    assert first.search("graph query").hits == before
    assert first.search("graph query").degraded == []
    runner_result = with_reembedding(other, tmp_path / "data", lambda reembedding: reembedding.run())
    assert (runner_result.added, runner_result.embedded) == (0, 0)


def test_a_server_with_the_new_settings_finds_everything_filled(endpoint, other, tmp_path):
    with running(tmp_path / "data", PATIENT) as application:
        application.publish(write_estate(tmp_path / "estate"))
        passages = with_reembedding(other, tmp_path / "data", lambda reembedding: reembedding.run()).passages
    read = len(texts_read(endpoint))
    assert read == passages
    with running(tmp_path / "data", other) as application:
        assert application.search("graph").degraded == []
        assert application.run(application.tools.doctor(repair=False)).healthy
    assert texts_read(endpoint)[read:] == ["graph"]


def test_what_was_published_meanwhile_is_embedded_too(first, endpoint, other, tmp_path):
    """A publish begins with the first batch, and changes a page and takes one away."""

    async def work():
        loop = asyncio.get_running_loop()
        async with bootstrap.open_reembedding(other, tmp_path / "data") as reembedding:
            published = asyncio.Event()

            def progress(*_step):
                if not published.is_set():
                    published.set()
                    (tmp_path / "estate" / "query.md").write_text(PAGES["query.md"] + "\nEdited meanwhile.\n")
                    (tmp_path / "estate" / "colours.md").unlink()
                    publisher.append(loop.run_in_executor(None, first.publish, tmp_path / "estate"))

            publisher = []
            filling = asyncio.create_task(reembedding.run(progress))
            await published.wait()
            await publisher[0]
            return await filling, await publisher[0]

    result, published = asyncio.run(work())
    if result.content_root != published.content_root:
        # The fill was faster than the publish: the next run brings what it lacks.
        result = with_reembedding(other, tmp_path / "data", lambda reembedding: reembedding.run())
    assert result.content_root == published.content_root
    assert result.passages == published.passages
    assert any("Edited meanwhile" in text for text in texts_read(endpoint))


def test_broken_off_it_goes_on_where_it_stopped(first, endpoint, other, tmp_path):
    endpoint.script = [Reply(), Reply(), Reply(status=400, body=b"{}")]  # its dimensions, a batch, and no more
    with pytest.raises(EngineUnavailable):
        with_reembedding(other, tmp_path / "data", lambda reembedding: reembedding.run())
    read = texts_read(endpoint)[:2]
    endpoint.requests.clear()
    result = with_reembedding(other, tmp_path / "data", lambda reembedding: reembedding.run())
    assert result.embedded == result.passages - 2
    assert not set(read) & set(texts_read(endpoint))


def test_a_start_fills_in_what_other_settings_published(endpoint, other, tmp_path):
    with running(tmp_path / "data", PATIENT) as application:
        application.publish(write_estate(tmp_path / "estate"))

    async def healthy(tools):
        async with asyncio.timeout(60):
            while not (await tools.doctor(repair=False)).healthy:  # noqa: ASYNC110 there is no event
                await asyncio.sleep(0.01)

    with running(tmp_path / "data", other) as application:
        application.run(healthy(application.tools))
        assert application.search("graph").degraded == []


def test_the_model_that_answers_is_filled_by_its_own_server(first, tmp_path):
    with pytest.raises(EngineUnavailable):
        with_reembedding(PATIENT, tmp_path / "data", lambda reembedding: reembedding.run())
