"""What pages are built of: tables, counts, and the way to the next page."""

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from service.surfaces.command_line.output import printable


def table_of(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(Text(printable(column)), overflow="fold")
    return table


def add_row(table: Table, *cells: str) -> None:
    table.add_row(*(Text(printable(cell)) for cell in cells))


def counted(counts: Mapping[str, int]) -> str:
    """`3 page, 1 unit`."""
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"


def next_page(cursor: str) -> Text:
    """One line, however long, to be copied."""
    return Text(f"More: --cursor {cursor}", style="dim", no_wrap=True, overflow="ignore")
