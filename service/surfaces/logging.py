"""Logs: one JSON object a line on stderr, with the run that each belongs to."""

import logging
import sys
from typing import TextIO

import structlog

QUIET_LIBRARIES = ("httpx", "httpcore", "asyncio", "opensearch", "neo4j", "qdrant_client")
"""Libraries that log each request they make, addresses and texts included: only their warnings are let through."""


def configure_logging(level: str = "warning", stream: TextIO | None = None) -> None:
    """Send every log record, ours and the libraries', to `stream` (stderr) from `level` on.

    What is bound with `structlog.contextvars.bind_contextvars` (the run id) stands on every line of its task.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.dict_tracebacks,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for name in QUIET_LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
