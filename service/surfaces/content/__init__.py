"""The estate for publishers: documents, a catalog, a cross-reference map, an index for language models.

GET /content/{uid}      ?locale=… → the document, in the estate's own JSON; the uid percent-encoded
GET /content            ?filter=kind=page → every document, one JSON object a line
GET /catalog            Microsoft Learn's filters → learningPaths, modules, units, pages, and the vocabularies
GET /xrefmap.yml        ?locale=… → docfx's map from uids to addresses
GET /llms.txt           ?locale=… → what there is to read, in Markdown
"""

from service.surfaces.content.routes import STREAMS, publishers

__all__ = ["STREAMS", "publishers"]
