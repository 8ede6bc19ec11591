"""The way to Qdrant, and every error of the client as one of ours."""

import asyncio
import math
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from qdrant_client import AsyncQdrantClient
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from adapters.connections import BoundedTransport
from service.domain.errors import EngineLate, EngineUnavailable

ENGINE = "qdrant"


def open_client(url: str, key: str = "", *, connections: int = 32, seconds: float = 60.0) -> AsyncQdrantClient:
    """A pool of at most `connections`; no request takes longer than `seconds`, whatever its caller's deadline."""
    with warnings.catch_warnings():
        # A key over plain HTTP is the operator's choice, in a network of their own; a command is no place to argue it.
        warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
        return _client(url, key, connections, seconds)


def _client(url: str, key: str, connections: int, seconds: float) -> AsyncQdrantClient:
    return AsyncQdrantClient(
        url=url,
        api_key=key or None,
        timeout=math.ceil(seconds),
        # The client's own limits are none at all for an address of this machine, and it would keep no connection.
        transport=BoundedTransport(connections),
        # A compressed answer comes in pieces, of which the server holds back the last until the first is acknowledged:
        # 40 ms a request.
        headers={"Accept-Encoding": "identity"},
        # It would ask at once, and the service starts before its engines.
        check_compatibility=False,
    )


@asynccontextmanager
async def engine_errors(seconds: float) -> AsyncIterator[None]:
    """Give up after `seconds` (EngineLate); raise EngineUnavailable for every error of the client or the server."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise EngineLate(ENGINE) from None
    except UnexpectedResponse as error:
        raise EngineUnavailable(ENGINE, f"it answered {error.status_code}", error.reason_phrase) from error
    except ResponseHandlingException as error:
        if isinstance(error.source, httpx.TimeoutException):
            raise EngineLate(ENGINE) from None
        raise EngineUnavailable(
            ENGINE, f"it could not be reached ({type(error.source).__name__})", str(error.source)
        ) from error
    except (httpx.HTTPError, OSError) as error:
        raise EngineUnavailable(ENGINE, f"it could not be reached ({type(error).__name__})", str(error)) from error
    except (ApiException, ValueError) as error:
        raise EngineUnavailable(ENGINE, f"it was not understood ({type(error).__name__})", str(error)) from error
