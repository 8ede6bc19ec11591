"""Where a command's words go: one JSON document or a page for people on stdout, progress on stderr."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from service.domain.progress import Progress as ReportProgress
from service.surfaces.command_line.endings import error_document, error_message
from service.surfaces.encoding import encode

Shown = TypeVar("Shown", bound=BaseModel)

PIPED_COLUMNS = 200
"""Where no terminal says how wide it is: wide enough that lines stay whole for grep."""


@dataclass(frozen=True, slots=True)
class Output:
    """`as_json` is the person's choice for the whole command, its errors included."""

    as_json: bool

    def result(self, result: Shown, page: Callable[[Shown], RenderableType]) -> None:
        """One result: as the other surfaces send it, or as `page` draws it."""
        if self.as_json:
            _write(json.loads(encode(result)))
        else:
            _print_page(page(result))

    def document(self, value: dict[str, Any], page: RenderableType) -> None:
        """The same for what is no result of a tool."""
        if self.as_json:
            _write(value)
        else:
            _print_page(page)

    def remark(self, page: RenderableType) -> None:
        """What is said before the result, to people alone."""
        _progress_console().print(page, soft_wrap=True)

    def error(self, error: Exception) -> None:
        """The error as the command's one document, or in a line or two on stderr."""
        if self.as_json:
            _write(error_document(error))
            return
        fields = error_document(error)["error"]
        words = Text.assemble((f"{fields['code']}: ", "bold red"), printable(error_message(error)))
        if fields["line"]:
            words.append(f" (line {fields['line']}, column {fields['column']})")
        if fields["suggestion"]:
            words.append(f"\nTry: {printable(fields['suggestion'])}", style="green")
        _progress_console().print(words, soft_wrap=True)

    @contextmanager
    def progress(self) -> Iterator[ReportProgress]:
        """A bar where stderr is a terminal, a line a stage where it is not."""
        console = _progress_console()
        if not console.is_terminal:
            yield _StageLines(console)
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as bars:
            yield _StageBars(bars)


def printable(text: str) -> str:
    """Text of a document or a request, without the means to steer a terminal or to break its encoding.

    Line breaks and tabs stay; any other control character, and half a surrogate pair, shows as U+FFFD.
    """
    return "".join(character if _is_harmless(character) else "\N{REPLACEMENT CHARACTER}" for character in text)


def discard_stdout() -> None:
    """Nobody reads any more: let the interpreter's last flush go nowhere instead of failing."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _is_harmless(character: str) -> bool:
    code = ord(character)
    if character in "\n\t":
        return True
    is_control = code < 0x20 or 0x7F <= code < 0xA0
    is_half_pair = 0xD800 <= code < 0xE000
    turns_direction = 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069
    return not (is_control or is_half_pair or turns_direction)


class _StageBars:
    """One bar a stage, on a terminal."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, Any] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(printable(stage), total=None)
        self._bars.update(self._tasks[stage], completed=done, total=total or None)


class _StageLines:
    """One line when a stage begins, where a bar would only fill a log."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._stage = ""

    def __call__(self, stage: str, _done: int, total: int) -> None:
        if stage != self._stage:
            self._stage = stage
            self._console.print(Text(f"{printable(stage)}: {total}" if total else printable(stage)))


def _print_page(page: RenderableType) -> None:
    """A line that asks not to be wrapped, such as a cursor to be copied, runs over the edge instead of being cut."""
    width = None if sys.stdout.isatty() else PIPED_COLUMNS
    Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False).print(page, crop=False)


def _progress_console() -> Console:
    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False)


def _write(document: Any) -> None:
    """What the stream's encoding lacks leaves as its escape: the document is the same to whoever parses it."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2)
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
