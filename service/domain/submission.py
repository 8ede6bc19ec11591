"""Estates that a client has read where they lie, and publishes without sharing a file system with the server."""

from typing import Annotated

from pydantic import Field

from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic
from service.domain.requests import Request, Text
from service.domain.results import Result

ContentHash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Locale = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,35}$")]
Uid = Annotated[Text, Field(min_length=1)]


class MissingRequest(Request):
    """Which of these records does the server lack?"""

    hashes: list[ContentHash]


class MissingResult(Result):
    """`missing` is in the order of the question."""

    missing: list[str]


class Submission(Request):
    """All that these docsets hold from now on, by identity and content hash; only what the server lacks comes whole.

    `diagnostics` are what the client's reading found: they are answered with the result, and `strict` looks at them.
    """

    docsets: list[Annotated[Text, Field(min_length=1)]] = Field(description="Each is replaced as a whole.")
    manifest: list[tuple[Uid, Locale, ContentHash]] = Field(description="(uid, locale, content hash) of every record.")
    records: list[NodeRecord] = Field(description="Records of the manifest, at least those that the server lacks.")
    diagnostics: list[Diagnostic] = Field(default_factory=list, description="What reading them found.")
    strict: bool = Field(default=False, description="Publish nothing when there is a warning.")
    dry_run: bool = Field(default=False, description="Say what would change, and change nothing.")
