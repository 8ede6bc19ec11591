"""A publish's findings as SARIF 2.1.0 (OASIS), for a code host that shows them beside the lines of a pull request."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from service.domain.results import DiagnosticResult

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(diagnostics: Sequence[DiagnosticResult], estates: Sequence[Path], *, version: str) -> dict[str, Any]:
    """One run. A finding names its file by the estate: here it is named from the working folder, where one is below it.

    estates: the folders that were published.
    """
    codes = sorted({diagnostic.code for diagnostic in diagnostics})
    driver = {"name": "cogitave-query", "version": version, "rules": [{"id": code} for code in codes]}
    results = [
        {
            "ruleId": diagnostic.code,
            "ruleIndex": codes.index(diagnostic.code),
            "level": diagnostic.severity,
            "message": {"text": f"{diagnostic.message} {diagnostic.fix}".strip()},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": _uri(diagnostic.file, estates)},
                        "region": {"startLine": max(diagnostic.line, 1), "startColumn": max(diagnostic.column, 1)},
                    }
                }
            ],
        }
        for diagnostic in diagnostics
    ]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _uri(file: str, estates: Sequence[Path]) -> str:
    """Of several estates the finding names the one it is of, by its folder's name before the file."""
    docset, _, rest = file.partition("/")
    named = next((estate for estate in estates if estate.name == docset), None) if len(estates) > 1 else None
    path = (named / rest if named is not None else estates[0] / file).absolute()
    here = Path.cwd()
    return quote(path.relative_to(here).as_posix()) if path.is_relative_to(here) else path.as_uri()
