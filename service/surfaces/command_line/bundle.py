"""The support bundle: one zip file of what a process tells of itself, and of what the doctor finds."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

from typer import BadParameter

from service.domain.progress import Progress
from service.surfaces.command_line.endings import DONE, error_document
from service.surfaces.command_line.invocation import Invocation
from service.surfaces.encoding import encode
from service.surfaces.remote import RemoteToolbox
from service.surfaces.support import presentable_settings, support, versions
from service.tools.toolbox import Toolbox


async def write_bundle(file: Path, invocation: Invocation, progress: Progress) -> list[str]:
    """Write the bundle and return the names of what it holds. What can't be told is named with its error's code."""
    settings = invocation.settings().settings
    held: dict[str, Any] = {
        "versions.json": versions(),
        "settings.json": presentable_settings(settings),
        "data-folder.json": _sizes(invocation.data),
    }

    async def gather(toolbox: Toolbox) -> int:
        served = isinstance(toolbox, RemoteToolbox)
        told = await (toolbox.support() if isinstance(toolbox, RemoteToolbox) else support(toolbox, settings))
        if served:
            held["versions.json"], held["settings.json"] = told.versions, told.settings
            held["metrics.txt"], held["log.json"] = told.metrics, told.log
        held["readiness.json"] = _document(told.readiness)
        held["roots.json"] = _document(told.roots)
        held["tuning.json"] = told.tuning
        held["doctor.json"] = _document(await toolbox.doctor(repair=False, progress=progress))
        return DONE

    try:
        await invocation.reach(gather)
    except Exception as error:
        held["error.json"] = {"code": error_document(error)["error"]["code"]}
    _write(file, held)
    return list(held)


def _document(result: Any) -> Any:
    return None if result is None else json.loads(encode(result))


def _sizes(data: Path) -> dict[str, int]:
    """Bytes by name of what lies in the data folder itself."""
    if not data.is_dir():
        return {}
    return {
        entry.name: sum(part.stat().st_size for part in ([entry] if entry.is_file() else entry.rglob("*")))
        for entry in sorted(data.iterdir())
    }


def _write(file: Path, held: dict[str, Any]) -> None:
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise BadParameter(f"{file} can't be written: {error.strerror}.", param_hint="FILE") from error
    with open(descriptor, "wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in held.items():
            bundle.writestr(name, content if isinstance(content, str) else json.dumps(content, indent=2))
