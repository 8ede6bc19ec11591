"""`publish --server`: read the estates here, and have them published by a server that need not see this disk."""

import asyncio
from collections.abc import Sequence

from service.domain.errors import RecordsMissing
from service.domain.progress import Progress
from service.domain.requests import PublishRequest
from service.domain.results import PublishResult
from service.domain.submission import MissingRequest
from service.ports import EstateReader
from service.publishing.estates import Reading, read_estates
from service.publishing.submitting import submission_of
from service.tools.toolbox import Toolbox

_ATTEMPTS = 2
"""Another publisher may make the server forget, in between, what it had a moment ago."""


async def submit(
    request: PublishRequest, readers: Sequence[EstateReader], server: Toolbox, progress: Progress
) -> PublishResult:
    """Publish the folders of the request through `server`. Raises EstateUnreadable, or what the server raises."""
    reading = await asyncio.to_thread(read_estates, request.paths, readers, lambda done: progress("reading", done, 0))
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return await _submit(reading, request, server, progress)
        except RecordsMissing:
            if attempt == _ATTEMPTS:
                raise
    raise AssertionError


async def _submit(reading: Reading, request: PublishRequest, server: Toolbox, progress: Progress) -> PublishResult:
    hashes = [record.content_hash for record in reading.records]
    missing = (await server.missing(MissingRequest(hashes=hashes))).missing
    progress("sending", 0, len(missing))
    submission = submission_of(reading, missing, strict=request.strict, dry_run=request.dry_run)
    return await server.submit(submission, progress)
