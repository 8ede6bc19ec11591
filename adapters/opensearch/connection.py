"""The way to OpenSearch: one bounded pool, and every error of the client as one of ours."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import ConnectionError as NotReached
from opensearchpy.exceptions import ConnectionTimeout, OpenSearchException, TransportError

from service.domain.errors import EngineLate, EngineUnavailable

ENGINE = "opensearch"


def open_client(url: str, user: str = "", password: str = "", *, connections: int = 32) -> AsyncOpenSearch:
    """A pool of at most `connections`. No retries here: whether to try again is decided above, by the deadline."""
    return AsyncOpenSearch(
        url,
        http_auth=(user, password) if user else None,
        maxsize=connections,
        max_retries=0,
        retry_on_timeout=False,
        http_compress=True,
    )


@asynccontextmanager
async def engine_errors(seconds: float) -> AsyncIterator[None]:
    """Give up after `seconds` (EngineLate); raise EngineUnavailable for every error of the client or the server.

    A request that is given up drops its connection, on which the server stops the search.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except (TimeoutError, ConnectionTimeout):
        raise EngineLate(ENGINE) from None
    except (NotReached, OSError) as error:
        raise EngineUnavailable(ENGINE, f"it could not be reached ({type(error).__name__})", str(error)) from error
    except TransportError as error:
        raise EngineUnavailable(ENGINE, f"it answered {error.status_code}", str(error)) from error
    except (OpenSearchException, ValueError) as error:
        raise EngineUnavailable(ENGINE, f"it was not understood ({type(error).__name__})", str(error)) from error
