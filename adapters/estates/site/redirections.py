"""Redirections → retired paths in the index, each with its address as it was and where it leads."""

from collections.abc import Iterator, Sequence

from adapters.estates.files import EstateFiles, FileUnreadable, is_text, normalise, without_suffix
from adapters.estates.site.configuration import PAGE_SUFFIXES, ContentRoot, ContentSection
from adapters.estates.site.index import EstateIndex, Retirement
from adapters.estates.site.links import spellings
from adapters.estates.site.redirection_files import (
    Redirection,
    RedirectionsInvalid,
    is_redirection_file,
    redirections_of,
)
from adapters.estates.site.references import path_uid
from service.domain.diagnostics import Diagnostic, Severity


def read_redirections(
    files: EstateFiles,
    index: EstateIndex,
    roots: tuple[ContentRoot, ...],
    docset: str,
    former: Sequence[Retirement] = (),
) -> Iterator[Diagnostic]:
    """Enter every redirection into the index. `former`: those that pages declare themselves."""
    for retirement in former:
        yield from _retire(retirement, files, index)
    for path in files.paths:
        if not is_redirection_file(path):
            continue
        try:
            redirections = redirections_of(path, files)
        except FileUnreadable as error:
            yield error.diagnostic(path)
            continue
        except RedirectionsInvalid as error:
            yield Diagnostic(
                path,
                error.line,
                "redirections_invalid",
                f"The redirections were left out: {error.message}.",
                Severity.ERROR,
                error.column,
                "Correct the file.",
            )
            continue
        for redirection in redirections:
            yield from _enter(redirection, path, files, index, roots, docset)


def _enter(
    redirection: Redirection,
    file: str,
    files: EstateFiles,
    index: EstateIndex,
    roots: tuple[ContentRoot, ...],
    docset: str,
) -> Iterator[Diagnostic]:
    target = (redirection.target or "").strip()
    path = _path(redirection, file)
    if not path or not target or not is_text(path + target):
        yield _finding(
            file,
            redirection.line,
            "redirection_invalid",
            f"The redirection of {redirection.source or ''!a} to {target!a} does not name both a path and a target.",
            "Give source_path a path in the repository, redirect_url an address.",
        )
        return
    uid = path_uid(docset, path)
    yield from _retire(Retirement(path, uid, _address(path, roots), target, file, redirection.line), files, index)


def _retire(retirement: Retirement, files: EstateFiles, index: EstateIndex) -> Iterator[Diagnostic]:
    """Unless the page is still there, or the path has been redirected already."""
    path = retirement.path
    if path.lower() in index.retired or index.is_retired(retirement.uid, retirement.locale):
        yield _finding(
            retirement.file,
            retirement.line,
            "redirection_duplicate",
            f"'{path}' is redirected twice; the first one holds.",
            "Keep one of them.",
        )
    elif _is_page(retirement, files, index):
        yield _finding(
            retirement.file,
            retirement.line,
            "redirection_of_page",
            f"'{path}' is redirected, but the page is still there.",
            "Delete the page or the redirection.",
        )
    else:
        index.retire(retirement)


def _is_page(retirement: Retirement, files: EstateFiles, index: EstateIndex) -> bool:
    """By its path, or by the uid that both would have."""
    namesake = index.by_uid(retirement.uid)
    if namesake is not None and retirement.locale in (None, namesake.locale):
        return True
    names = (files.find(name) for name in spellings(retirement.path))
    return any(name in index.pages for name in names if name is not None)


def _finding(file: str, line: int, code: str, message: str, fix: str) -> Diagnostic:
    return Diagnostic(file, line, code, message, Severity.WARNING, fix=fix)


def _path(redirection: Redirection, file: str) -> str | None:
    """The redirected file's path in the estate, None where it names none."""
    source = (redirection.source or "").strip().replace("\\", "/")
    if source.startswith(("~/", "/")) or redirection.from_root:
        return normalise(source.removeprefix("~").strip("/"))
    return normalise(f"{file.rpartition('/')[0]}/{source}".strip("/"))


def _address(path: str, roots: tuple[ContentRoot, ...]) -> str:
    """Where the site served the file when it was there: as its section would, else below the nearest root."""
    page = path if path.lower().endswith(PAGE_SUFFIXES) else f"{path}.md"
    for root in roots:
        match = root.section_of(page)
        if match is not None:
            return root.address_of(*match)
    holders = [root for root in roots if root.inside(path) is not None]
    if holders:
        root = max(holders, key=lambda root: len(root.folder))
        return root.address_of(ContentSection(), root.inside(page) or page)
    return "/" + without_suffix(path)
