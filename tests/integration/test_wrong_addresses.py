"""A setting that leads to another service, or to none: the message names the setting and what it says, no password."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from service import bootstrap
from service.domain.errors import EngineUnavailable
from service.settings import Settings
from tests.http_server import answering

pytestmark = pytest.mark.anyio

SCHEMES = {"neo4j_url": "bolt", "opensearch_url": "http", "qdrant_url": "http"}


class _Another(BaseHTTPRequestHandler):
    """A service that knows nothing of what it is asked."""

    def _answer(self) -> None:
        body = json.dumps({"service": "another", "error": "no such path"}).encode()
        self.send_response(400)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_HEAD = _answer

    def log_message(self, *_args: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def another() -> Iterator[str]:
    with answering(_Another) as url:
        yield url.removeprefix("http://")


@pytest.mark.parametrize("setting", SCHEMES)
@pytest.mark.parametrize("answers", [True, False], ids=["another service", "nothing"])
async def test_the_message_names_the_setting_and_the_address(another: str, setting: str, answers: bool) -> None:
    address = another if answers else "127.0.0.1:9"
    settings = Settings.model_validate({setting: f"{SCHEMES[setting]}://{address}"})
    async with bootstrap.open_migrators(settings) as migrators:
        [migrator] = migrators
        for act in (migrator.plan, migrator.apply):
            with pytest.raises(EngineUnavailable) as failed:
                await act()
            assert f"The setting {setting} says that it is at {SCHEMES[setting]}://{address}" in failed.value.message


async def test_who_the_address_names_is_not_told(another: str) -> None:
    settings = Settings(opensearch_url=f"http://somebody:secret@{another}")
    async with bootstrap.open_migrators(settings) as [migrator]:
        with pytest.raises(EngineUnavailable) as failed:
            await migrator.plan()
    assert f"http://{another}" in failed.value.message
    assert "secret" not in failed.value.message


@pytest.mark.parametrize("setting", SCHEMES)
@pytest.mark.parametrize("answers", [True, False], ids=["another service", "nothing"])
async def test_callers_are_not_told_where_an_engine_is(another: str, setting: str, answers: bool) -> None:
    address = another if answers else "127.0.0.1:9"
    settings = Settings.model_validate({setting: f"{SCHEMES[setting]}://{address}"})
    async with bootstrap.open_migrators(settings) as [migrator]:
        with pytest.raises(EngineUnavailable) as failed:
            await migrator.plan()
    cause = failed.value.__cause__
    assert isinstance(cause, EngineUnavailable)
    assert cause.engine in cause.message
    assert address not in cause.message
    assert "\n" not in cause.message
