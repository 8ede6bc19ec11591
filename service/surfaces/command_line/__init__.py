"""The command line: `cogitave-query [--data DIR] [--settings FILE] [--json] COMMAND`."""

from service.surfaces.command_line.program import main

__all__ = ["main"]
