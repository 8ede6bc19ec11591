"""The settings table: as the `settings` command shows it, and as the manual's reference page."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from service.settings import ENVIRONMENT_PREFIX, LoadedSettings, SettingRow, Settings
from service.surfaces.command_line.output import printable

_HEAD = """\
---
uid: cogitave.query.settings
title: Settings reference
description: Every limit, weight and default of the service, with its unit and its environment variable.
ms.topic: reference
---
# Settings reference

A value comes from the first of: the environment, the TOML file that `--settings` names, the default below. The
environment's name is the setting's in capitals with `{prefix}` before it; an empty one sets nothing. Secrets are read
from the environment alone. `cogitave-query settings` prints each value in force and its source. This page is made by
`cogitave-query settings --markdown`.

"""


def document(rows: Iterable[SettingRow]) -> dict[str, Any]:
    """The rows for `--json`."""
    return {"settings": [asdict(row) for row in rows]}


def table(rows: Iterable[SettingRow]) -> RenderableType:
    """The rows for a terminal."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("setting", "value", "unit", "source", "help"):
        shown.add_column(column, overflow="fold")
    for row in rows:
        cells = (row.name, row.value or "–", row.unit, row.source, row.help)
        style = "" if row.source == "default" else "bold"
        shown.add_row(*(Text(printable(cell)) for cell in cells), style=style)
    return shown


def reference() -> str:
    """The manual's page: front matter, how a value is found, one section a setting."""
    rows = LoadedSettings(Settings(), {}).rows()
    return _HEAD.format(prefix=ENVIRONMENT_PREFIX) + "\n".join(_section(row) for row in rows)


def _section(row: SettingRow) -> str:
    default = f"`{row.default}`" if row.default else "empty"
    unit = f" {row.unit}" if row.unit else ""
    variable = ENVIRONMENT_PREFIX + row.name.upper()
    return f"## {row.name}\n\n{row.help}\n\nDefault: {default}{unit}. Environment: `{variable}`.\n"
