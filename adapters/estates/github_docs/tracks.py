"""Learning tracks (data/learning-tracks/*.yml) and the `children` of index pages → what pages are part of."""

from collections.abc import Iterator

from adapters.estates.files import EstateFiles, FileUnreadable
from adapters.estates.github_docs.liquid import Liquid
from adapters.estates.github_docs.versions import range_of_versions
from adapters.estates.site.index import EstateIndex, PageEntry, Parent
from adapters.estates.site.indexing import yaml_diagnostic
from adapters.estates.site.references import uid_space
from adapters.estates.yaml_document import YamlInvalid, YamlNode, parse_yaml
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.graph import EVERYONE, Node, NodeIdentity, NodeKind
from service.domain.visibility import Classes, narrowed, widened

TRACKS = "data/learning-tracks/"


def link_children(index: EstateIndex) -> Iterator[Diagnostic]:
    """An index page lists its children by paths below its own folder."""
    for page in list(index.pages.values()):
        folder = page.path.rpartition("/")[0]
        for ordinal, (child, line) in enumerate(page.children, start=1):
            entry = _child(child, folder, index)
            if entry is None:
                yield Diagnostic(
                    page.path,
                    line,
                    "toc_target_missing",
                    f"The page lists '{child}', which is not in the estate.",
                    Severity.WARNING,
                    fix="Correct the entry, or take it out.",
                )
            elif entry.uid != page.uid:
                entry.listed = True
                entry.parents.append(Parent(page.uid, page.kind, "children", page.path, line, ordinal))


def _child(child: str, folder: str, index: EstateIndex) -> PageEntry | None:
    below = f"{folder}/{child.strip('/')}".strip("/")
    for path in (f"{below}.md", f"{below}/index.md", below):
        if path in index.pages:
            return index.pages[path]
    return index.by_address(child) if child.startswith("/") else None


def read_tracks(
    files: EstateFiles, index: EstateIndex, liquid: Liquid, docset: str, locale: str
) -> Iterator[NodeRecord | Diagnostic]:
    """Every track is a learning path; its guides are part of it in their order."""
    for path in files.paths:
        if not path.startswith(TRACKS) or not path.endswith(".yml"):
            continue
        try:
            document = parse_yaml(files.read(path).text)
        except FileUnreadable as error:
            yield error.diagnostic(path)
            continue
        except YamlInvalid as error:
            yield yaml_diagnostic(path, error)
            continue
        collection = path[len(TRACKS) : -len(".yml")]
        for name, track in ((document.entries if document is not None else None) or {}).items():
            identity = NodeIdentity(f"{uid_space(docset)}/learning-tracks/{collection}/{name}", locale)
            yield from _track(name, track, identity, path, index, liquid, docset)


def _track(
    name: str, track: YamlNode, identity: NodeIdentity, path: str, index: EstateIndex, liquid: Liquid, docset: str
) -> Iterator[NodeRecord | Diagnostic]:
    title = " ".join(liquid.phrase(track.text("title") or name.replace("_", " ")).split())
    versions = track.get("versions")
    readers: Classes = ()
    for ordinal, guide in enumerate(track.scalars("guides"), start=1):
        entry = index.by_address((guide.value or "").strip())
        if entry is None:
            yield Diagnostic(
                path,
                guide.line,
                "member_missing",
                f"'{guide.value}' of the track '{name}' is no page of the estate.",
                Severity.WARNING,
                guide.column,
                "Correct the entry, or take it out.",
            )
            continue
        readers = widened(readers, entry.visible_to)
        entry.parents.append(Parent(identity.uid, NodeKind.LEARNING_PATH, "learning-track", path, guide.line, ordinal))
    # It shows to whoever sees one of its guides, unless its own file is for fewer.
    visible_to = narrowed(index.visibility.of_path(path), readers or (EVERYONE,))
    if not visible_to:
        return
    yield NodeRecord(
        Node(
            identity=identity,
            kind=NodeKind.LEARNING_PATH,
            title=title,
            summary=" ".join(liquid.phrase(track.text("description") or "").split()) or None,
            path=path,
            docset=docset,
            moniker_range=range_of_versions(versions, liquid.feature_versions) if versions is not None else None,
            visible_to=visible_to,
        )
    )
