"""The answers of upkeep as a person reads them on a terminal."""

from rich.console import RenderableType
from rich.text import Text

from service.domain.upkeep import BackupResult, ReembedEstimate, ReembedResult
from service.surfaces.command_line.output import printable


def backup_page(result: BackupResult) -> RenderableType:
    return Text(
        f"{printable(result.file)} holds {result.nodes:,} nodes of {result.content_root[:12]} "
        f"(generation {result.generation}), {result.size:,} bytes, {result.seconds:.1f} s"
    )


def estimate_page(result: ReembedEstimate) -> RenderableType:
    model = printable(result.model)
    if not result.missing:
        return Text(f"The index of {model} holds all {result.passages:,} passages.")
    return Text(
        f"The index of {model} lacks {result.missing:,} of {result.passages:,} passages. {result.texts:,} texts are to "
        f"be read, {result.sample:,} of them just now at {result.texts_a_second:.1f} a second; the rest takes about "
        f"{_duration(result.seconds)}."
    )


def reembed_page(result: ReembedResult) -> RenderableType:
    return Text(
        f"The index of {printable(result.model)} holds all {result.passages:,} passages of {result.content_root[:12]}: "
        f"{result.added:,} added, {result.removed:,} removed, {result.embedded:,} texts read, "
        f"{_duration(result.seconds)}. Start the server with these settings to answer with it."
    )


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:.1f} h"
