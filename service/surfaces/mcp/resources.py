"""Nodes as MCP's resources: `cogitave://{kind}/{uid}`, the uid percent-encoded, `?locale=` for a translation."""

from dataclasses import dataclass
from urllib.parse import parse_qs, quote, unquote

from service.domain.errors import NodeUnknown
from service.domain.results import NodeResult

SCHEME = "cogitave://"
TEMPLATE = SCHEME + "{kind}/{uid}{?locale}"
MEDIA_TYPE = "text/markdown"

_DEEPEST_HEADING = 6


@dataclass(frozen=True, slots=True)
class ResourceName:
    """What a resource's URI says. Without a locale, the estate's default is meant, then the first there is."""

    kind: str
    uid: str
    locale: str | None = None

    @classmethod
    def of(cls, kind: str, uid: str, locale: str, default_locale: str) -> "ResourceName":
        return cls(kind, uid, None if locale == default_locale else locale)

    @staticmethod
    def is_one(text: str) -> bool:
        return text.startswith(SCHEME)

    @classmethod
    def read(cls, uri: str) -> "ResourceName":
        """Raises NodeUnknown for what is no such URI."""
        path, _, query = uri.removeprefix(SCHEME).partition("?")
        kind, _, uid = path.partition("/")
        if not (cls.is_one(uri) and kind and uid):
            raise NodeUnknown(f"No resource has this URI. They are of the form {TEMPLATE}.")
        return cls(kind, unquote(uid), next(iter(parse_qs(query).get("locale", [])), None))

    def __str__(self) -> str:
        """Text that UTF-8 can't hold becomes `?`, encoded."""
        uri = f"{SCHEME}{self.kind}/{quote(self.uid, safe='', errors='replace')}"
        return uri if self.locale is None else f"{uri}?locale={quote(self.locale, safe='', errors='replace')}"


def markdown(node: NodeResult) -> str:
    """The node's text as one document, the title first."""
    parts = []
    if not (node.sections and node.sections[0].heading == node.title):
        parts.append(f"# {node.title}")
    for section in node.sections:
        if section.heading:
            parts.append(f"{'#' * min(max(section.level, 1), _DEEPEST_HEADING)} {section.heading}")
        if section.text:
            parts.append(section.text)
    if node.cut is not None:
        parts.append(f"({node.cut.sections_left} sections are left out, whole or in part; docs_fetch reads on.)")
    return "\n\n".join(parts) + "\n"
