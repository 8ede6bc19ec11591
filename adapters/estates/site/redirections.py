"""Redirection files → retired nodes, each with its successor: a page, another retired node, or an address elsewhere."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote, urlsplit

from adapters.estates.files import EstateFiles, FileUnreadable, is_text, normalise, without_suffix
from adapters.estates.rules import ReadingRules
from adapters.estates.site.configuration import ContentRoot
from adapters.estates.site.index import EstateIndex, PageEntry, Retirement
from adapters.estates.site.links import without_locale
from adapters.estates.site.references import path_uid, title_of_path
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.graph import EVERYONE, EdgeType, Node, NodeIdentity, NodeKind, Reference
from service.domain.visibility import Classes, narrowed

_LARGE_FILES = 16
"""A redirection file or xref map may be this many times as large as a page."""


def is_redirection_file(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return name.endswith(".json") and "redirection" in name


def read_redirections(
    files: EstateFiles, index: EstateIndex, roots: tuple[ContentRoot, ...], docset: str
) -> Iterator[Diagnostic]:
    """Enter every redirection into the index."""
    for path in files.paths:
        if is_redirection_file(path):
            try:
                text = files.read(path, files.page_bytes * _LARGE_FILES).text
                entries = _entries(json.loads(text))
            except FileUnreadable as error:
                yield error.diagnostic(path)
                continue
            except (ValueError, RecursionError) as error:
                line = getattr(error, "lineno", 1)
                yield Diagnostic(
                    path,
                    line,
                    "redirections_invalid",
                    f"The redirections were left out: {_reason(error)}.",
                    Severity.ERROR,
                    getattr(error, "colno", 1),
                    "Correct the JSON.",
                )
                continue
            yield from _enter(entries, _lines(text), path, files, index, roots, docset)


def _entries(document: Any) -> list[dict[str, Any]]:
    found = document.get("redirections") if isinstance(document, dict) else document
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return "nested too deep" if isinstance(error, RecursionError) else "a number that no one can mean"


def _lines(text: str) -> Iterator[int]:
    """The line of each `source_path` in turn; one pass, for a file may hold a hundred thousand."""
    line, counted = 1, 0
    position = text.find('"source_path')
    while position >= 0:
        line += text.count("\n", counted, position)
        counted = position
        yield line
        position = text.find('"source_path', position + 1)


def _enter(
    entries: list[dict[str, Any]],
    lines: Iterator[int],
    file: str,
    files: EstateFiles,
    index: EstateIndex,
    roots: tuple[ContentRoot, ...],
    docset: str,
) -> Iterator[Diagnostic]:
    folder = file.rpartition("/")[0]
    for entry in entries:
        source = entry.get("source_path") or entry.get("source_path_from_root")
        target = entry.get("redirect_url") or entry.get("redirect_uid")
        if not isinstance(source, str):
            continue
        line = next(lines, 1)
        from_root = source.startswith("/") or "source_path" not in entry
        path = normalise(source.strip("/") if from_root else f"{folder}/{source}".strip("/"))
        if path is None or not isinstance(target, str) or not target.strip() or not is_text(path + target):
            yield Diagnostic(
                file,
                line,
                "redirection_invalid",
                f"The redirection of {source!a} names no path and target.",
                Severity.WARNING,
                fix="Give source_path a path in the repository, redirect_url an address.",
            )
            continue
        if path.lower() in index.retired:
            yield Diagnostic(
                file,
                line,
                "redirection_duplicate",
                f"'{path}' is redirected twice; the first one holds.",
                Severity.WARNING,
                fix="Keep one of them.",
            )
            continue
        found = files.find(path)
        if found is not None and found in index.pages:
            yield Diagnostic(
                file,
                line,
                "redirection_of_page",
                f"'{path}' is redirected, but the page is still there.",
                Severity.WARNING,
                fix="Delete the page or the redirection.",
            )
            continue
        index.retire(Retirement(path, path_uid(docset, path), _address(path, roots), target.strip(), file, line))


def _address(path: str, roots: tuple[ContentRoot, ...]) -> str:
    """Where the site served the file when it was there."""
    for root in roots:
        match = root.section_of(path)
        if match is not None:
            return root.address_of(*match)
    for root in roots:
        inside = root.inside(path)
        if inside is not None and root.folder:
            return f"{root.base or ''}/{inside.rpartition('.')[0] or inside}"
    return "/" + without_suffix(path)


class Successors:
    """Follows redirections to their end; every chain is walked once."""

    def __init__(self, index: EstateIndex, rules: ReadingRules) -> None:
        self._index = index
        self._rules = rules
        self._ends: dict[str, _End | None] = {}

    def records(self, docset: str) -> Iterator[NodeRecord | Diagnostic]:
        locale = self._index.main_locale or self._rules.default_locale.lower()
        for retirement in self._index.retired.values():
            end = self.end(retirement)
            if end is None:
                yield Diagnostic(
                    retirement.file,
                    retirement.line,
                    "redirect_loop",
                    f"'{retirement.path}' is redirected in a circle.",
                    Severity.ERROR,
                    fix="Let one of the redirections end at a page.",
                )
            visible_to = end.visible_to if end is not None else self._index.visibility.of_path(retirement.path)
            if not visible_to:
                continue
            node = Node(
                identity=NodeIdentity(retirement.uid, locale),
                kind=NodeKind.RETIRED,
                title=title_of_path(retirement.path),
                url=retirement.address,
                summary=end.title if end is not None else None,
                path=retirement.path,
                docset=docset,
                aliases=tuple(sorted({retirement.address.casefold(), retirement.path.casefold()})),
                visible_to=visible_to,
            )
            yield NodeRecord(node, references=() if end is None else (self._reference(retirement),))

    def end(self, retirement: Retirement) -> "_End | None":
        """Where following this redirection ends, None where it never does."""
        walked: list[Retirement] = []
        met: set[str] = set()
        current: Retirement | None = retirement
        while current is not None and current.uid not in self._ends and current.uid not in met:
            met.add(current.uid)
            walked.append(current)
            current = self._next(current)
        end = self._last(walked[-1]) if current is None else self._ends.get(current.uid)
        for passed in reversed(walked):
            if end is not None:
                # A page that is gone is no less secret than the page that took its place, nor than its own folder.
                end = replace(end, visible_to=narrowed(end.visible_to, self._index.visibility.of_path(passed.path)))
            self._ends[passed.uid] = end
        return self._ends[retirement.uid]

    def _last(self, retirement: Retirement) -> "_End":
        entry = self._page(retirement)
        if entry is None:
            return _End(retirement.target, (EVERYONE,))
        return _End(entry.title, entry.visible_to)

    def _next(self, retirement: Retirement) -> Retirement | None:
        address = self._site_address(retirement.target)
        if address is None or self._page(retirement) is not None:
            return None
        return self._index.retired_address(address)

    def _page(self, retirement: Retirement) -> PageEntry | None:
        entry = self._index.by_uid(retirement.target)
        address = self._site_address(retirement.target)
        return self._index.by_address(address) if entry is None and address is not None else entry

    def _site_address(self, target: str) -> str | None:
        """The target as an address of this site, None when it is on another."""
        try:
            parts = urlsplit(target)
        except ValueError:
            return None
        if parts.scheme:
            return without_locale(unquote(parts.path)) if (parts.hostname or "") in self._rules.site_hosts else None
        return without_locale(unquote(parts.path)) if parts.path.startswith("/") else None

    def _reference(self, retirement: Retirement) -> Reference:
        uid, kind = self._target(retirement)
        extra: dict[str, str | int | float | bool] = {"url": retirement.target} if kind is NodeKind.API else {}
        return Reference(
            type=EdgeType.SUPERSEDED_BY,
            target_uid=uid,
            via=retirement.via,
            file=retirement.file,
            line=retirement.line,
            target_kind=kind,
            target_extra=extra,
        )

    def _target(self, retirement: Retirement) -> tuple[str, NodeKind]:
        entry = self._page(retirement)
        if entry is not None:
            return entry.uid, entry.kind
        address = self._site_address(retirement.target)
        if address is None:
            return retirement.target, NodeKind.API
        retired = self._index.retired_address(address)
        return (retired.uid, NodeKind.RETIRED) if retired is not None else (address.rstrip("/") or "/", NodeKind.API)


@dataclass(frozen=True, slots=True)
class _End:
    """What is there today: its title, or an address outside the estate, and who may hear of it."""

    title: str
    visible_to: Classes
