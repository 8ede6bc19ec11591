"""One run of the program: what stands before the command, and the ways to work with its data folder."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from service.settings import LoadedSettings, load_settings
from service.surfaces.command_line.output import Output
from service.tools.toolbox import Toolbox

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Invocation:
    """What stands before the command, and holds for all of it. Only the commands that ask load the engines."""

    data: Path
    settings_file: Path | None
    output: Output

    def settings(self) -> LoadedSettings:
        return load_settings(self.settings_file)

    def ask(self, work: Callable[[Toolbox], Awaitable[int]]) -> int:
        """Run `work` with the data folder's toolbox, whoever owns it; its answer is the exit code."""
        return asyncio.run(self.reach(work))

    async def reach(self, work: Callable[[Toolbox], Awaitable[Answer]]) -> Answer:
        """The same for a command that waits for more than one answer; the folder is free between them."""
        from service.surfaces.command_line.access import open_toolbox

        async with open_toolbox(self.settings().settings, self.data) as toolbox:
            return await work(toolbox)
