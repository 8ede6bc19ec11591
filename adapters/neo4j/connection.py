"""The way to Neo4j: one bounded pool, and every error of the driver as one of ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import neo4j
from neo4j import AsyncDriver, AsyncGraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from service.domain.errors import EngineLate, EngineUnavailable

ENGINE = "neo4j"

_TIMED_OUT = (
    "Neo.ClientError.Transaction.TransactionTimedOut",
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
    "Neo.TransientError.Transaction.Terminated",
    "Neo.ClientError.Transaction.TransactionTerminated",
    "Neo.TransientError.Transaction.LockClientStopped",
)


def open_driver(
    url: str, user: str, password: str, *, connections: int = 32, acquire_seconds: float = 5.0
) -> AsyncDriver:
    """A pool of at most `connections`; whoever can't get one within `acquire_seconds` is told so. Connects lazily."""
    return AsyncGraphDatabase.driver(
        url,
        auth=(user, password),
        max_connection_pool_size=connections,
        connection_acquisition_timeout=acquire_seconds,
        connection_timeout=acquire_seconds,
        # A connection that idled this long may have been cut by a firewall without a word: ask before use.
        liveness_check_timeout=30.0,
        # Whether and how often to try again is decided above, by the deadline.
        max_transaction_retry_time=0.0,
        notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
        user_agent="cogitave-query",
    )


@contextmanager
def engine_errors() -> Iterator[None]:
    """Raise EngineLate for what ran out of time, EngineUnavailable for every other error of the driver or server."""
    try:
        yield
    except TimeoutError:
        raise EngineLate(ENGINE) from None
    except Neo4jError as error:
        if error.code in _TIMED_OUT:
            raise EngineLate(ENGINE) from error
        raise EngineUnavailable(ENGINE, f"it answered {error.code}", str(error.message)) from error
    except (DriverError, OSError) as error:
        raise EngineUnavailable(ENGINE, f"it could not be reached ({type(error).__name__})", str(error)) from error
    except (ValueError, TypeError) as error:
        raise EngineUnavailable(ENGINE, f"it was not understood ({type(error).__name__})", str(error)) from error
