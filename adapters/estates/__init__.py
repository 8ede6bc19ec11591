"""Documentation formats. A new one is a module here with a reader, and its line in `readers`."""

from pathlib import Path

from adapters.estates.docfx import DocfxReader
from adapters.estates.github_docs import GithubDocsReader
from adapters.estates.judged_corpus import CorpusReader
from adapters.estates.learn_estate import LearnReader
from adapters.estates.plain import PlainReader
from adapters.estates.rules import ReadingRules
from adapters.estates.site.remembered import PageMemory
from service.ports import EstateReader

__all__ = ["ReadingRules", "reader_for", "readers"]


def readers(rules: ReadingRules) -> tuple[EstateReader, ...]:
    """Every format, the most particular first: the first reader that recognises a folder reads it.

    They remember what they read, so that a folder that is read again costs what has changed in it.
    """
    memory = PageMemory(rules.remembered_pages)
    return (
        LearnReader(rules, memory),
        DocfxReader(rules, memory),
        GithubDocsReader(rules, memory),
        CorpusReader(rules),
        PlainReader(rules, memory),
    )


def reader_for(root: Path, rules: ReadingRules) -> EstateReader:
    """The reader of the folder's format; a folder that no other format knows is plain Markdown."""
    known = readers(rules)
    return next((reader for reader in known if reader.recognises(root)), known[-1])
