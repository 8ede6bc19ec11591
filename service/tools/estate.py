"""What publishers' surfaces ask beside the tools of `catalogue`: the estate itself, as documents and as a catalog.

No agent is offered these: what an agent asks about one node, docs_fetch answers, and list_nodes pages.
"""

from service.domain.documents import CatalogResult, Document, DocumentPage, SnapshotResult, SummaryPage
from service.domain.requests import CatalogRequest, EstateRequest, NodeRequest, SnapshotRequest
from service.tools.catalogue import Tool

SNAPSHOT = Tool(
    name="snapshot",
    path="",
    title="What answers now",
    description="The content root that every answer is of until the next publish.",
    not_for="Not for the health of engines: readiness.",
    request=SnapshotRequest,
    result=SnapshotResult,
)
DOCUMENT = Tool(
    name="document",
    path="",
    title="One node as a document",
    description="One node whole in the estate's own JSON: metadata, headings, text, quiz, and what it is part of.",
    not_for="Not for edges of every type: docs_fetch.",
    request=NodeRequest,
    result=Document,
)
CATALOG = Tool(
    name="catalog",
    path="",
    title="The estate as a catalog",
    description="Learning paths, modules, units and pages that match the filters, with their parts.",
    not_for="Not for text: document.",
    request=CatalogRequest,
    result=CatalogResult,
)
SUMMARIES = Tool(
    name="summaries",
    path="",
    title="A page of the estate, in short",
    description="Nodes that match the filters, by identity: uid, title, address, summary.",
    not_for="Not for counting: list_nodes.",
    request=EstateRequest,
    result=SummaryPage,
)
DOCUMENTS = Tool(
    name="documents",
    path="",
    title="A page of the estate, whole",
    description="Nodes that match the filters, by identity, each as a document.",
    not_for="Not for one node: document.",
    request=EstateRequest,
    result=DocumentPage,
)
