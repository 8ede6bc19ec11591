"""How a command ends: one table from the type of an error to the exit code, and its words as JSON."""

from typing import Any

from typer import TyperException

from cypher_guard.violation import Violation
from service.domain.errors import EngineUnavailable, PublishFailed, Refused, Unavailable
from service.domain.results import DiagnosticResult

DONE = 0
FAILED = 1
USAGE = 2
REFUSED = 3
PARTLY_DONE = 4
INTERRUPTED = 130
"""128 + SIGINT, as a shell reports a program that Ctrl-C stopped."""
PIPE_CLOSED = 141
"""128 + SIGPIPE: whoever read our output has seen enough."""

EXIT_CODES: tuple[tuple[type[Exception], int], ...] = (
    (Refused, REFUSED),
    (Violation, REFUSED),
    (Unavailable, FAILED),
    (PublishFailed, FAILED),
    (TyperException, USAGE),
)


def exit_code(error: Exception) -> int:
    """The first row that the error is an instance of; anything else is a failure of ours."""
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), FAILED)


def is_foreseen(error: Exception) -> bool:
    """Whether the error has a row, and so says itself what to do."""
    return any(isinstance(error, kind) for kind, _ in EXIT_CODES)


def error_document(error: Exception) -> dict[str, Any]:
    """The one JSON document of a command that did not succeed; a field that the error does not have is null.

    `diagnostics` are there where a strict publish failed for them.
    """
    code = getattr(error, "code", None)
    if code is None:
        code = "usage" if exit_code(error) == USAGE else "internal"
    document = {
        "code": str(code),
        "message": error_message(error),
        "suggestion": getattr(error, "suggestion", None),
        "line": getattr(error, "line", None) or None,
        "column": getattr(error, "column", None) or None,
    }
    if isinstance(error, PublishFailed) and error.diagnostics:
        document["diagnostics"] = [DiagnosticResult.of(found).model_dump(by_alias=True) for found in error.diagnostics]
    return {"error": document}


def error_message(error: Exception) -> str:
    """What is wrong, in words for the person who typed the command."""
    if isinstance(error, TyperException):
        return error.format_message()
    if isinstance(error, EngineUnavailable) and error.detail:
        return f"{error.message} ({error.detail})"
    if is_foreseen(error):
        return str(getattr(error, "message", error))
    return f"{type(error).__name__}: {error}"
