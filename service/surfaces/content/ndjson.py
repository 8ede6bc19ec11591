"""The whole estate, one JSON object a line.

{"begin": {"contentRoot": …}}       the snapshot that every document is of
{"document": {…}}                   any number
{"end": {"documents": n}}           the last line, or
{"problem": {…}}                    the last line: the estate was published anew, or an engine failed; ask again
"""

from collections.abc import AsyncIterator

from pydantic import BaseModel

from service.domain.documents import Document, DocumentPage
from service.domain.errors import Unavailable
from service.domain.results import Result
from service.surfaces.content.streams import EstatePages
from service.surfaces.encoding import encode
from service.surfaces.problems import Problem, ProblemResponses, problem_of

MEDIA_TYPE = "application/x-ndjson"


class Beginning(Result):
    content_root: str


class Ending(Result):
    documents: int


class Line(BaseModel):
    """One line: exactly one of the four is there."""

    begin: Beginning | None = None
    document: Document | None = None
    end: Ending | None = None
    problem: Problem | None = None


async def lines(pages: EstatePages[DocumentPage], problems: ProblemResponses) -> AsyncIterator[bytes]:
    """A chunk a page. What fails half way is said in the last line, for the status has left already."""
    yield _line(Line(begin=Beginning(content_root=pages.content_root)))
    sent = 0
    try:
        async for page in pages:
            sent += len(page.documents)
            yield b"".join(_line(Line(document=document)) for document in page.documents)
    except Unavailable as error:
        problem = problem_of(error)
        problems.seen(problem)
        yield _line(Line(problem=problem))
    else:
        yield _line(Line(end=Ending(documents=sent)))


def _line(line: Line) -> bytes:
    return encode(line, leave_out_none=True) + b"\n"
