"""The HTTP application over a toolbox whose answers are known, in process and on a real socket."""

from collections.abc import AsyncIterator

import httpx
import pytest

from service.settings import Settings
from service.surfaces.application import application
from tests.surfaces.fake_toolbox import FakeToolbox

OWNER_TOKEN = "the-owners-token"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def toolbox() -> FakeToolbox:
    return FakeToolbox()


@pytest.fixture
def settings() -> Settings:
    return Settings(publish_heartbeat=20)


@pytest.fixture
async def client(toolbox: FakeToolbox, settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    app = application(toolbox, settings, owner_token=OWNER_TOKEN)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
        yield client
