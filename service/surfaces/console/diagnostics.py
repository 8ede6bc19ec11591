"""What the last publish had to say of the sources, for those who run the service: it names the estate's files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Annotated, Any

from fastapi import APIRouter, Request
from starlette.datastructures import QueryParams
from starlette.responses import Response

from service.domain.diagnostics import Severity
from service.domain.errors import FilterValueUnknown, Refused, Unavailable
from service.domain.principal import Principal, Scope
from service.domain.results import DiagnosticResult, DiagnosticsResult
from service.surfaces.console import failed, rendered
from service.surfaces.console.links import encoded
from service.surfaces.dependencies import Tools, require

PATH = "/diagnostics"
PAGE_SIZE = 100

pages = APIRouter(include_in_schema=False)


@pages.get(PATH)
async def diagnostics_page(
    request: Request, toolbox: Tools, caller: Annotated[Principal, require(Scope.OPERATE)]
) -> Response:
    """The findings: `severity`, `code`, `file` (a part of its path), `page`."""
    address = DiagnosticsLink.read(request.query_params)
    content: dict[str, Any] = {"link": address, "result": None, "problem": None}
    try:
        address.check()
        result = await toolbox.diagnostics(caller)
    except (Refused, Unavailable) as error:
        return failed(request, "diagnostics.html", content, error)
    return rendered("diagnostics.html", content | _content(address, result))


def _content(address: "DiagnosticsLink", result: DiagnosticsResult) -> dict[str, Any]:
    matching = address.matching(result.diagnostics)
    start = (address.page - 1) * PAGE_SIZE
    found = sum(count.count for count in result.counts)
    return {
        "result": result,
        "severities": [severity.value for severity in Severity],
        "codes": sorted({count.code for count in result.counts}),
        "matching": len(matching),
        "shown": matching[start : start + PAGE_SIZE],
        "first": start + 1,
        "before": replace(address, page=address.page - 1) if address.page > 1 else None,
        "after": replace(address, page=address.page + 1) if start + PAGE_SIZE < len(matching) else None,
        "not_kept": found - len(result.diagnostics) - result.withheld,
    }


@dataclass(frozen=True, slots=True)
class DiagnosticsLink:
    """All that the page's address says; empty narrows nothing. `page` counts from 1."""

    severity: str = ""
    code: str = ""
    file: str = ""
    page: int = 1

    @classmethod
    def read(cls, parameters: QueryParams) -> "DiagnosticsLink":
        page = parameters.get("page", "")
        return cls(
            severity=parameters.get("severity", ""),
            code=parameters.get("code", ""),
            file=parameters.get("file", "").strip(),
            page=max(1, int(page)) if page.isascii() and page.isdigit() and len(page) < 7 else 1,
        )

    def check(self) -> None:
        """Raises FilterValueUnknown: a misspelt severity must not look like an estate without findings."""
        known = [severity.value for severity in Severity]
        if self.severity not in ("", *known):
            nearest = get_close_matches(self.severity, known, n=1)
            raise FilterValueUnknown(
                f"There is no severity '{self.severity[:100]}'. Severities: {', '.join(known)}.",
                suggestion=nearest[0] if nearest else None,
            )

    def only(self, severity: str, code: str) -> "DiagnosticsLink":
        """The same file, narrowed to one kind."""
        return replace(self, severity=severity, code=code, page=1)

    def matching(self, diagnostics: Sequence[DiagnosticResult]) -> list[DiagnosticResult]:
        part = self.file.casefold()
        return [
            found
            for found in diagnostics
            if self.severity in ("", found.severity) and self.code in ("", found.code) and part in found.file.casefold()
        ]

    def __str__(self) -> str:
        named = (("severity", self.severity), ("code", self.code), ("file", self.file))
        given = tuple((name, value) for name, value in named if value)
        given += (("page", str(self.page)),) if self.page > 1 else ()
        return PATH + (f"?{encoded(given)}" if given else "")
