"""What reading a page needs of its estate: one value that the page formats share."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.estates.estate_settings import EstateSettings
from adapters.estates.files import EstateFiles, FileUnreadable
from adapters.estates.markdown.document import MarkdownDocument, MonikerZone, Snippet
from adapters.estates.markdown.parser import markdown_parser, parse_markdown
from adapters.estates.markdown.reading import IncludedText, ReadingContext, read_document
from adapters.estates.rules import ReadingRules
from adapters.estates.site.configuration import ContentRoot
from adapters.estates.site.dialect import Dialect
from adapters.estates.site.index import EstateIndex, PageEntry
from adapters.estates.site.snippets import SnippetMissing, cut_snippet
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.monikers import MonikerInvalid, MonikerRange

_KEPT_INCLUDES = 256
_INCLUDE_DEPTH = 10
_PARTS_A_PAGE = 1_000


@dataclass(slots=True)
class _Allowance:
    """What one page may still take in of other files: a small page must not become a large one."""

    parts: int
    characters: int
    is_reported: bool = False

    def take(self, characters: int) -> bool:
        """Whether there was room for one more part of this length."""
        if not self.parts or characters > self.characters:
            self.parts = 0
            return False
        self.parts -= 1
        self.characters -= characters
        return True


class SiteContext:
    """The estate as a page reader sees it; `diagnostics` collects what is found on the way."""

    def __init__(
        self,
        files: EstateFiles,
        index: EstateIndex,
        roots: tuple[ContentRoot, ...],
        rules: ReadingRules,
        docset: str,
        dialect: Dialect,
        settings: EstateSettings,
    ) -> None:
        self.files = files
        self.index = index
        self.roots = roots
        self.rules = rules
        self.docset = docset
        self.dialect = dialect
        self.settings = settings
        self.diagnostics: list[Diagnostic] = []
        self._parser = markdown_parser()
        self._includes: OrderedDict[str, IncludedText] = OrderedDict()

    def document(self, text: str, file: str, first_line: int, page: PageEntry) -> MarkdownDocument:
        """Read Markdown that stands in `file` from `first_line` on, as part of `page`, its includes in place."""
        allowance = _Allowance(_PARTS_A_PAGE, self.rules.page_bytes)

        def spent(place: str, line: int) -> None:
            if not allowance.is_reported:
                allowance.is_reported = True
                message = (
                    f"The page takes in more than {_PARTS_A_PAGE:,} parts of other files, or more than a page holds."
                )
                self._report(place, line, "include_too_much", message, "Include and show less.")

        def load_include(href: str, open_files: Sequence[str], line: int) -> IncludedText | None:
            if len(open_files) > _INCLUDE_DEPTH:
                message = f"Includes are nested deeper than {_INCLUDE_DEPTH}."
                self._report(open_files[-1], line, "include_too_deep", message, "Include the file itself.")
                return None
            included = self._include(href, open_files, line, page) if allowance.parts else None
            if not allowance.take(included.characters if included is not None else 0):
                spent(open_files[-1], line)
                return None
            return included

        def load_snippet(snippet: Snippet) -> str | None:
            code = self._snippet(snippet, page) if allowance.parts else None
            if not allowance.take(len(code or "")):
                spent(snippet.file, snippet.line)
                return None
            return code

        context = ReadingContext(
            load_include=load_include,
            load_snippet=load_snippet,
            title_of=lambda reference: self.index.title_of(reference, page.visible_to),
            pivot_title=lambda pivot: self.index.pivots.get(pivot, pivot),
            narrow_zone=lambda zone, around: self._narrowed(zone, around or page.moniker_range or "", page),
        )
        return read_document(parse_markdown(self._parser, text), file, first_line, context)

    def target_path(self, href: str, base: str, page: PageEntry) -> str | None:
        """The estate path that a relative or `~/` reference means; None where it leads out of the estate."""
        href = href.partition("?")[0].partition("#")[0].strip()
        if href.startswith(("~/", "~\\")):
            folder = self.roots[page.root].folder
            return self.files.join(f"{folder}/x" if folder else "x", href[2:])
        if href.startswith("/"):
            return self.files.join("x", href.lstrip("/"))
        return self.files.join(base, href)

    def snippet_path(self, snippet: Snippet, page: PageEntry) -> str | None:
        return self.target_path(snippet.source, snippet.file, page)

    def _snippet(self, snippet: Snippet, page: PageEntry) -> str | None:
        """The snippet's code; None where its source or the part of it is not in the estate, which is reported."""
        path = self.snippet_path(snippet, page)
        if path is None:
            self._report(
                snippet.file,
                snippet.line,
                "path_outside_estate",
                f"The snippet '{snippet.source}' leads out of the estate and was not read.",
                "Keep the sample in the estate.",
            )
            return None
        found = self.files.find(path)
        if found is None:
            self._report(
                snippet.file,
                snippet.line,
                "snippet_missing",
                f"The snippet '{snippet.source}' is not in the estate: there is no {path}.",
                "Add the file, or publish its repository as well.",
                Severity.NOTE,
            )
            return None
        try:
            return cut_snippet(self.files.read(found).text, snippet.part)
        except FileUnreadable as error:
            self.diagnostics.append(error.diagnostic(snippet.file, snippet.line))
        except SnippetMissing as error:
            self._report(snippet.file, snippet.line, "snippet_part_missing", f"{found}: {error}.", "Name a part of it.")
        return None

    def drain(self) -> list[Diagnostic]:
        """The findings since the last call."""
        found, self.diagnostics = self.diagnostics, []
        return found

    def _include(self, href: str, open_files: Sequence[str], line: int, page: PageEntry) -> IncludedText | None:
        including = open_files[-1]
        path = self.target_path(href, including, page)
        if path is None:
            self._report(
                including,
                line,
                "path_outside_estate",
                f"The include '{href}' leads out of the estate and was not read.",
                "Keep the included file in the estate.",
            )
            return None
        found = self.files.find(path) or path
        if found in open_files:
            message = f"The include '{href}' is a part of what it includes."
            self._report(including, line, "include_cycle", message, "Break the circle.")
            return None
        if found != path and self.files.find(path) is not None:
            self._report(
                including,
                line,
                "path_case",
                f"The include '{path}' is spelt {found} in the estate.",
                "Spell the path as the folder does: not every system forgives it.",
                Severity.NOTE,
            )
        kept = self._includes.get(found)
        if kept is not None:
            self.files.digest(found)  # this page too depends on it, and whoever remembers the page must know
            self._includes.move_to_end(found)
            return kept
        try:
            source = self.files.read(found)
        except FileUnreadable as error:
            code = "include_missing" if error.code == "file_missing" else error.code
            self.diagnostics.append(
                Diagnostic(
                    including,
                    line,
                    code,
                    f"The include '{href}' was left out: {error.message}",
                    Severity.WARNING,
                    fix=error.fix,
                )
            )
            return None
        headed = self.dialect.head(source)
        included = IncludedText(found, parse_markdown(self._parser, headed.body), headed.first_line, len(headed.body))
        self._includes[found] = included
        if len(self._includes) > _KEPT_INCLUDES:
            self._includes.popitem(last=False)
        return included

    def _narrowed(self, zone: MonikerZone, around: str, page: PageEntry) -> str | None:
        """What a zone's range shares with the one around it; a range that can't be read is reported elsewhere."""
        try:
            inner, outer = MonikerRange.parse(zone.expression), MonikerRange.parse(around)
        except MonikerInvalid:
            return zone.expression
        shared = inner.within(outer)
        if shared is not None:
            return zone.expression if shared == inner else str(shared)
        if zone.file == page.path:  # an include may have zones for pages of other versions
            self._report(
                zone.file,
                zone.line,
                "moniker_zone_empty",
                f"The zone '{zone.expression}' has no version of the range around it, {around}; it was left out.",
                "Correct one of the two ranges, or take the zone out.",
            )
        return None

    def _report(
        self, file: str, line: int, code: str, message: str, fix: str, severity: Severity = Severity.WARNING
    ) -> None:
        self.diagnostics.append(Diagnostic(file, line, code, message, severity, fix=fix))
