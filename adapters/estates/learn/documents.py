"""Learning paths, modules and units → records."""

from collections.abc import Iterator
from dataclasses import replace

from adapters.estates.learn.quizzes import quiz_section
from adapters.estates.learn.skills import skill_reference, skill_uid, taught_skills
from adapters.estates.markdown.document import LinkRole, MarkdownDocument
from adapters.estates.metadata import Metadata, metadata_of
from adapters.estates.site.context import SiteContext
from adapters.estates.site.index import Inherited, PageEntry
from adapters.estates.site.links import LinkResolver
from adapters.estates.site.records import CodeSamples, PageContent, page_record, split_findings
from adapters.estates.site.references import document_references
from adapters.estates.yaml_document import YamlNode
from service.domain.content import Block, BlockKind, NodeRecord, Section
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.graph import EdgeType, NodeKind, Reference
from service.domain.visibility import covers

LEARN_KINDS = {
    "LearningPath": NodeKind.LEARNING_PATH,
    "Module": NodeKind.MODULE,
    "ModuleUnit": NodeKind.UNIT,
}
"""YAML documents by their mime, and the nodes they are."""

_MEMBERS = {NodeKind.LEARNING_PATH: "modules", NodeKind.MODULE: "units"}


def learn_metadata(document: YamlNode, file: str) -> Metadata:
    """What stands at the top of the document over its `metadata`."""
    return metadata_of(document, file).over(metadata_of(document.get("metadata"), file))


def members_of(document: YamlNode, kind: NodeKind) -> list[YamlNode]:
    """The uids of a path's modules or a module's units, in their order."""
    return list(document.scalars(_MEMBERS[kind])) if kind in _MEMBERS else []


def inherited_from(metadata: Metadata) -> Inherited:
    levels = metadata.texts("levels", "level")
    return Inherited(
        products=metadata.texts("products", "product"),
        roles=metadata.texts("roles", "role"),
        level=levels[0] if levels else None,
    )


def abstract_skills(document: YamlNode) -> Iterator[str]:
    """The uids of the skills that a module's abstract lists, without reading it as Markdown."""
    for line in (document.text("abstract") or "").split("\n"):
        bare = line.strip()
        if bare.startswith(("- ", "* ", "+ ")):
            yield skill_uid(bare[2:])


def read_learn_document(
    document: YamlNode,
    entry: PageEntry,
    defaults: Metadata,
    context: SiteContext,
    resolver: LinkResolver,
    samples: CodeSamples,
) -> Iterator[NodeRecord | Diagnostic]:
    """A path's, module's or unit's record, the code samples it is the first to show, and the findings."""
    reader = _LearnReader(document, entry, defaults, context, resolver)
    content, texts = reader.unit() if entry.kind is NodeKind.UNIT else reader.collection()
    yield from context.drain()
    yield from reader.findings
    for found in page_record(entry, content, context):
        yield found
        if isinstance(found, NodeRecord):
            for text in texts:
                yield from samples.of(text, found.node)


class _LearnReader:
    def __init__(
        self, document: YamlNode, entry: PageEntry, defaults: Metadata, context: SiteContext, resolver: LinkResolver
    ) -> None:
        self.findings: list[Diagnostic] = []
        self._document = document
        self._entry = entry
        self._metadata = learn_metadata(document, entry.path).over(defaults)
        self._context = context
        self._resolver = resolver

    def unit(self) -> tuple[PageContent, list[MarkdownDocument]]:
        text = self._markdown("content")
        # A unit's file is its include: what the unit's own YAML includes is the unit, not something it derives from.
        text.inclusions = [inclusion for inclusion in text.inclusions if inclusion.file != self._entry.path]
        sections = list(text.sections)
        quiz = quiz_section(self._document.get("quiz"))
        if quiz is not None:
            sections.append(quiz)
        references = self._references(text)
        references += taught_skills(text.checklist, "checklist", self._entry.locale)
        content = self._content(sections, references)
        duration = self._document.text("durationInMinutes")
        if duration is not None and duration.isascii() and duration.isdigit() and len(duration) < 7:
            content.extra["durationMinutes"] = int(duration)
        parents = [parent.uid for parent in self._entry.parents]
        content.inherited = next(
            (self._context.index.inherited[uid] for uid in parents if uid in self._context.index.inherited), Inherited()
        )
        return content, [text]

    def collection(self) -> tuple[PageContent, list[MarkdownDocument]]:
        """A module or a learning path: its summary, abstract and prerequisites are its text."""
        abstract, prerequisites = self._markdown("abstract"), self._markdown("prerequisites")
        prerequisites.links = [replace(link, role=LinkRole.PREREQUISITE) for link in prerequisites.links]
        sections: list[Section] = []
        summary = self._document.get("summary")
        if summary is not None and summary.value:
            sections.append(
                Section("", "", 1, (Block(BlockKind.PROSE, " ".join(summary.value.split()), summary.line),))
            )
        sections += abstract.sections
        heading = "Prerequisites"
        sections += [replace(section, heading=section.heading or heading) for section in prerequisites.sections]
        references = self._references(abstract) + self._references(prerequisites)
        references += taught_skills(abstract.bullets, "abstract", self._entry.locale)
        references += self._achievement()
        references += self._prerequisite_uids()
        references += self._prerequisite_skills(prerequisites)
        return self._content(sections, references), [abstract, prerequisites]

    def _content(self, sections: list[Section], references: list[Reference]) -> PageContent:
        return PageContent(
            metadata=self._metadata,
            sections=tuple(sections),
            references=references,
            summary=self._document.text("summary") or self._document.text("metadata", "description"),
            title=self._document.text("title"),
        )

    def _markdown(self, name: str) -> MarkdownDocument:
        node = self._document.get(name)
        if node is None or node.value is None:
            return MarkdownDocument()
        first_line = node.line + (1 if node.block_scalar else 0)
        return self._context.document(node.value, self._entry.path, first_line, self._entry)

    def _references(self, text: MarkdownDocument) -> list[Reference]:
        references, findings = split_findings(document_references(text, self._entry, self._context, self._resolver))
        self.findings += findings
        return references

    def _achievement(self) -> list[Reference]:
        """The badge or trophy: named by uid, or given in place."""
        for name in ("achievement", "badge", "trophy"):
            node = self._document.get(name)
            if node is None:
                continue
            uid = node.text() or node.text("uid")
            title = node.text("title") or self._context.index.achievements.get(uid or "")
            if title is None and uid is not None and node.entries is None and self._context.index.achievements:
                self.findings.append(
                    Diagnostic(
                        self._entry.path,
                        node.line,
                        "achievement_unknown",
                        f"No achievement has the uid '{uid}'.",
                        Severity.WARNING,
                        node.column,
                        "Add it to the achievements, or correct the uid.",
                    )
                )
            if title is not None:
                return [
                    skill_reference(
                        EdgeType.TEACHES_SKILL, title, "achievement", self._entry.path, node.line, self._entry.locale
                    )
                ]
        return []

    def _prerequisite_uids(self) -> list[Reference]:
        """`prerequisites:` may also be a list of uids."""
        references = []
        for scalar in self._document.scalars("prerequisites"):
            target = self._context.index.by_uid((scalar.value or "").strip())
            if target is not None:
                references.append(
                    Reference(
                        EdgeType.DEPENDS_ON,
                        target.uid,
                        "prerequisites",
                        self._entry.path,
                        scalar.line,
                    )
                )
        return references

    def _prerequisite_skills(self, prerequisites: MarkdownDocument) -> list[Reference]:
        """A prerequisite that names, word for word, what a module of the estate teaches."""
        return [
            skill_reference(
                EdgeType.DEPENDS_ON, bullet.text, "prerequisites", bullet.file, bullet.line, self._entry.locale
            )
            for bullet in prerequisites.bullets
            if covers(self._context.index.skills.get(skill_uid(bullet.text), ()), self._entry.visible_to)
        ]
