"""What a site's configuration says of its files: which are pages, at which address, with which default metadata."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from adapters.estates.files import normalise, without_suffix
from adapters.estates.globs import compile_glob, matches
from adapters.estates.metadata import Datum, Metadata
from adapters.estates.yaml_document import YamlNode
from service.domain.diagnostics import Diagnostic, Severity

PAGE_SUFFIXES = (".md", ".markdown", ".yml", ".yaml")


@dataclass(frozen=True, slots=True)
class ContentSection:
    """One group of a build's content: patterns below `src`, a folder of the estate, published below `dest`."""

    src: str = ""
    files: tuple[str, ...] = ("**/*.md", "**/*.yml")
    exclude: tuple[str, ...] = ()
    dest: str = ""
    moniker_range: str | None = None


@dataclass(frozen=True, slots=True)
class ContentRoot:
    """One content folder of an estate: `folder` is its path there, `base` its address on the site and `host` the
    site's, if they are known; `is_base_assumed`: nothing tells the address, so that others may count from the root.
    `xref_maps` are the imports that its configuration names."""

    folder: str = ""
    base: str | None = None
    is_base_assumed: bool = False
    host: str | None = None
    sections: tuple[ContentSection, ...] = (ContentSection(),)
    xref_maps: tuple[YamlNode, ...] = ()
    file: str = ""
    defaults: Metadata = field(default_factory=Metadata)
    patterned: Mapping[str, tuple[tuple[str, YamlNode], ...]] = field(default_factory=dict)

    def section_of(self, path: str) -> tuple[ContentSection, str] | None:
        """The section that publishes a file of the estate, and the file's path below the section's `src`."""
        if not path.lower().endswith(PAGE_SUFFIXES):
            return None
        for section in self.sections:
            below = _below(section.src, path)
            if below is not None and matches(below, section.files) and not matches(below, section.exclude):
                return section, below
        return None

    def inside(self, path: str) -> str | None:
        """The path relative to the configuration's folder, None where it lies elsewhere."""
        return _below(self.folder, path)

    def address_of(self, section: ContentSection, below: str) -> str:
        """Where the site serves a file: without extension, an index as its folder."""
        bare = without_suffix(below)
        address = "/".join(
            part for part in ((self.base or "").strip("/"), section.dest.strip("/"), bare) if part and part != "."
        )
        name = bare.rpartition("/")[2].lower()
        return "/" + (address[: -len(name)] if name == "index" else address)

    def defaults_for(self, path: str, section: ContentSection) -> Metadata:
        """globalMetadata, then every fileMetadata pattern that matches; of several patterns the last one holds."""
        values = dict(self.defaults.values)
        inside = self.inside(path) or path
        for name, patterns in self.patterned.items():
            for pattern, node in patterns:
                if compile_glob(pattern).fullmatch(inside):
                    values[name] = Datum(node, self.file)
        if section.moniker_range:
            values.setdefault("monikerRange", Datum(YamlNode(1, 1, value=section.moniker_range), self.file))
        return Metadata(values)


def plain_root() -> ContentRoot:
    """Every Markdown file below the estate's root is a page."""
    return ContentRoot(sections=(ContentSection(files=("**/*.md", "**/*.markdown")),))


def read_docfx(build: YamlNode, file: str) -> tuple[ContentRoot, list[Diagnostic]]:
    """The `build` of a docfx.json: its content sections, groups, and default metadata. `file` is its path in the
    estate. Content that lies outside the estate is refused."""
    folder = file.rpartition("/")[0]
    findings: list[Diagnostic] = []
    groups = {name: group.text("moniker_range") for name, group in build.mapping("groups").items()}
    default_range = build.text("globalMetadata", "monikerRange")
    sections: list[ContentSection] = []
    listed = [content for content in build.sequence("content") if content.texts("files")]
    for content in listed:
        named = content.get("src") or content.get("cwd")
        src = normalise(f"{folder}/{(named.text() if named is not None else None) or ''}".replace("\\", "/").strip("/"))
        if src is None and named is not None:
            findings.append(outside(file, named))
        if src is None:
            continue
        sections.append(
            ContentSection(
                src=src,
                files=content.texts("files"),
                exclude=content.texts("exclude"),
                dest=_folder(content.text("dest") or ""),
                moniker_range=content.text("moniker_range")
                or groups.get(content.text("group") or content.text("version") or "")
                or default_range,
            )
        )
    metadata = {name: Datum(value, file) for name, value in build.mapping("globalMetadata").items()}
    site = _site(build.text("sitemap", "baseUrl"))
    whole = ContentSection(src=folder, exclude=("**/includes/**",))
    root = ContentRoot(
        folder=folder,
        base=site.path.rstrip("/") if site is not None else None,
        host=site.hostname if site is not None else None,
        sections=tuple(sections) if listed else (whole,),
        xref_maps=tuple(build.scalars("xref")),
        file=file,
        defaults=Metadata(metadata),
        patterned={name: tuple((value.entries or {}).items()) for name, value in build.mapping("fileMetadata").items()},
    )
    return root, findings


def outside(file: str, reference: YamlNode) -> Diagnostic:
    return Diagnostic(
        file,
        reference.line,
        "path_outside_estate",
        f"'{reference.value}' leads out of the estate and was not read.",
        Severity.WARNING,
        reference.column,
        "Publish the folder that holds both.",
    )


def _site(address: str | None) -> SplitResult | None:
    try:
        parts = urlsplit(address or "")
    except ValueError:
        return None
    return parts if parts.hostname and parts.scheme in ("http", "https") else None


def base_address(breadcrumb: str | None) -> str | None:
    """`/ef/breadcrumb/toc.json`, where the site's breadcrumbs are served, says that its pages are below `/ef`."""
    if not breadcrumb or not breadcrumb.startswith("/"):
        return None
    parts = breadcrumb.strip("/").split("/")[:-1]
    if parts and "bread" in parts[-1].lower():
        parts.pop()
    return "/" + "/".join(parts)


def _below(folder: str, path: str) -> str | None:
    """Without regard to case, as patterns are compared: configurations are written on Windows too."""
    if not folder:
        return path
    return path[len(folder) + 1 :] if path.lower().startswith(folder.lower() + "/") else None


def _folder(text: str) -> str:
    return normalise(text.replace("\\", "/").strip("/")) or ""
