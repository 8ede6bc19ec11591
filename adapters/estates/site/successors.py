"""Retired paths → retired nodes, each with its successor: a page, another retired node, or an address elsewhere."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote, urljoin, urlsplit

from adapters.estates.files import EstateFiles
from adapters.estates.rules import ReadingRules
from adapters.estates.site.configuration import ContentRoot
from adapters.estates.site.index import EstateIndex, PageEntry, Retirement
from adapters.estates.site.links import spellings, without_locale
from adapters.estates.site.references import title_of_path
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.graph import EVERYONE, EdgeType, Node, NodeIdentity, NodeKind, Reference
from service.domain.visibility import Classes, narrowed


@dataclass(frozen=True, slots=True)
class _End:
    """What is there today: its title, or an address outside the estate; its address; and who may hear of it."""

    title: str
    address: str
    visible_to: Classes


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """A target that the estate doesn't hold. `path`: that of the file which it names, where it names one."""

    address: str
    url: str
    path: str | None = None


_Target = PageEntry | Retirement | _Elsewhere


class Successors:
    """Follows redirections to their end; every chain is walked once."""

    def __init__(
        self, files: EstateFiles, index: EstateIndex, roots: tuple[ContentRoot, ...], rules: ReadingRules
    ) -> None:
        self._files = files
        self._index = index
        self._roots = roots
        self._rules = rules
        self._ends: dict[str, _End | None] = {}
        self._targets = {retired.uid: self._target(retired) for retired in index.retired.values()}

    def enter(self) -> None:
        """Tell the index where each chain ends."""
        for retirement in self._index.retired.values():
            end = self.end(retirement)
            if end is not None:
                self._index.ends[retirement.uid] = end.address

    def records(self, docset: str) -> Iterator[NodeRecord | Diagnostic]:
        locale = self._index.main_locale or self._rules.default_locale.lower()
        for retirement in self._index.retired.values():
            end = self.end(retirement)
            if end is None:
                yield _finding(
                    retirement,
                    "redirect_loop",
                    f"'{retirement.path}' is redirected in a circle.",
                    Severity.ERROR,
                    "Let one of the redirections end at a page.",
                )
            target = self._targets[retirement.uid]
            if isinstance(target, _Elsewhere) and target.path is not None:
                yield _finding(
                    retirement,
                    "redirection_target_missing",
                    f"'{retirement.path}' is redirected to '{retirement.target}', which is not in the estate.",
                    Severity.WARNING,
                    self._nearest(target.path),
                )
            visible_to = end.visible_to if end is not None else self._index.visibility.of_path(retirement.path)
            if not visible_to:
                continue
            node = Node(
                identity=NodeIdentity(retirement.uid, retirement.locale or locale),
                kind=NodeKind.RETIRED,
                title=title_of_path(retirement.path),
                url=retirement.address,
                summary=end.title if end is not None else None,
                path=retirement.path,
                docset=docset,
                aliases=tuple(sorted({retirement.address.casefold(), retirement.path.casefold()})),
                visible_to=visible_to,
            )
            yield NodeRecord(node, references=() if end is None else (_reference(retirement, target),))

    def end(self, retirement: Retirement) -> _End | None:
        """Where following this redirection ends, None where it never does."""
        walked: list[Retirement] = []
        met: set[str] = set()
        current: Retirement | None = retirement
        while current is not None and current.uid not in self._ends and current.uid not in met:
            met.add(current.uid)
            walked.append(current)
            following = self._targets[current.uid]
            current = following if isinstance(following, Retirement) else None
        end = self._last(walked[-1]) if current is None else self._ends.get(current.uid)
        for passed in reversed(walked):
            if end is not None:
                # A page that is gone is no less secret than the page that took its place, nor than its own folder.
                end = replace(end, visible_to=narrowed(end.visible_to, self._index.visibility.of_path(passed.path)))
            self._ends[passed.uid] = end
        return self._ends[retirement.uid]

    def _last(self, retirement: Retirement) -> _End:
        target = self._targets[retirement.uid]
        if isinstance(target, PageEntry):
            return _End(target.title, target.address, target.visible_to)
        return _End(retirement.target, retirement.target, (EVERYONE,))

    # What a target means

    def _target(self, retirement: Retirement) -> _Target:
        """A uid, an address on this site or another, or a path from the redirected file's folder."""
        written = retirement.target
        entry = self._index.by_uid(written.removeprefix("xref:"))
        if entry is not None:
            return entry
        try:
            parts = urlsplit(written)
            host = parts.hostname or ""
        except ValueError:
            return _Elsewhere(written, written)
        path = unquote(parts.path)
        if parts.scheme or parts.netloc:
            is_here = parts.scheme in ("", "http", "https") and host in self._rules.site_hosts
            return self._at_address(path or "/", written) if is_here else _Elsewhere(written, written)
        if path.startswith("/"):
            return self._at_address(path, written)
        return self._at_path(path, retirement)

    def _at_address(self, path: str, written: str) -> _Target:
        address = without_locale(path)
        found = self._index.by_address(address) or self._index.retired_address(address)
        # Some name the file in the repository, which can't be mistaken for an address of the site.
        found = found or (self._by_path(path.lstrip("/")) if path.lower().endswith(".md") else None)
        return found or _Elsewhere(address.rstrip("/") or "/", written)

    def _at_path(self, path: str, retirement: Retirement) -> _Target:
        if path.startswith("~/"):
            holders = [root.folder for root in self._roots if root.inside(retirement.path) is not None]
            target = self._files.join(f"{max(holders, key=len, default='')}/x".lstrip("/"), path[2:])
        else:
            target = self._files.join(retirement.path, path)
        address = urljoin(retirement.address, path.removeprefix("~"))
        found = self._by_path(target) if target is not None else None
        found = found or self._index.by_address(address) or self._index.retired_address(address)
        return found or _Elsewhere(address.rstrip("/") or "/", address, target or path)

    def _by_path(self, path: str) -> PageEntry | Retirement | None:
        for name in spellings(path):
            found = self._files.find(name)
            if found is not None and found in self._index.pages:
                return self._index.pages[found]
            if name.lower() in self._index.retired:
                return self._index.retired[name.lower()]
        return None

    def _nearest(self, path: str) -> str:
        nearest = self._files.nearest(path if path.endswith(".md") else f"{path}.md")
        return f"Did you mean {nearest}?" if nearest else "Correct the target, or take the redirection out."


def _reference(retirement: Retirement, target: _Target) -> Reference:
    if isinstance(target, _Elsewhere):
        uid, kind = target.address, NodeKind.API
    else:
        uid, kind = target.uid, target.kind if isinstance(target, PageEntry) else NodeKind.RETIRED
    extra: dict[str, str | int | float | bool] = {"url": target.url} if isinstance(target, _Elsewhere) else {}
    return Reference(
        type=EdgeType.SUPERSEDED_BY,
        target_uid=uid,
        via=retirement.via,
        file=retirement.file,
        line=retirement.line,
        target_kind=kind,
        target_extra=extra,
    )


def _finding(retirement: Retirement, code: str, message: str, severity: Severity, fix: str) -> Diagnostic:
    return Diagnostic(retirement.file, retirement.line, code, message, severity, fix=fix)
