"""A reader that remembers says, after any edit, what one that sees the folder for the first time says."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.estates import ReadingRules, readers
from adapters.estates.docfx import DocfxReader
from adapters.estates.site.remembered import PageMemory
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic, EstateRefused
from service.ports import EstateReader

Files = Mapping[str, Sequence[str | None]]
"""By path, the texts that a file may have; None where it may be missing. The first is there at the beginning."""

_PAGE = """---
title: {title}
uid: {uid}
monikerRange: ">=app-{version}"
audience: {audience}
---
# {title}

See [b](b.md), [c](sub/c.md#x), <xref:two>, [old](old.md), @three and [site](/site/b).

[!INCLUDE [shared](includes/shared.md)]

[!code-csharp[main](code/main.cs#part)]

```bash
first
second
third
```
"""

DOCFX: Files = {
    "docfx.json": [
        '{"build": {"content": [{"files": ["**/*.md", "**/*.yml"], "exclude": ["**/includes/**"]}]}}',
        '{"build": {"content": [{"files": ["**/*.md"]}], "globalMetadata": {"ms.prod": "thing"}}}',
    ],
    "a.md": [
        _PAGE.format(title="A", uid="one", version="1.0", audience="all"),
        _PAGE.format(title="Renamed", uid="two", version="2.0", audience="staff"),
        "# No front matter\n\nSee <xref:nowhere> and [b](b).\n",
        None,
    ],
    "b.md": [
        "---\nuid: two\n---\n# B\n\nSee <xref:one>.\n\n[!INCLUDE [shared](includes/shared.md)]\n",
        "---\nuid: three\ntitle: Two\nmonikerRange: app-3.0\n---\n# Other\n\n```bash\nfirst\nsecond\nthird\n```\n",
        "---\n: {[\n---\n# Broken\n",
        None,
    ],
    "sub/c.md": [
        "# C\n\n## X\n\nBack to [a](../a.md).\n",
        "# C again\n\n[!INCLUDE [s](../includes/shared.md)]\n",
        None,
    ],
    "includes/shared.md": ["Shared by <xref:two>.\n", "Shared, with [!INCLUDE [more](more.md)].\n", None],
    "includes/more.md": ["more of [b](../b.md)", "less", None],
    "code/main.cs": ["// <part>\nint a;\n// </part>\n", "#region part\nint b;\n#endregion\n", "int c;\n", None],
    "toc.yml": [
        "- name: A\n  href: a.md\n  items:\n  - name: B\n    href: b.md\n",
        "- name: Group\n  items:\n  - name: C\n    href: sub/c.md\n  - name: A\n    href: a.md\n",
        None,
    ],
    ".openpublishing.redirection.json": [
        '{"redirections": [{"source_path": "old.md", "redirect_url": "/site/b"}]}',
        '{"redirections": [{"source_path": "old.md", "redirect_url": "/site/a"}, '
        '{"source_path": "b.md", "redirect_url": "/site/sub/c"}]}',
        None,
    ],
    "cogitave-query.yml": [
        None,
        "visibility:\n  default: [staff]\n",
        'visibility:\n  rules:\n  - files: ["sub/**"]\n    visibleTo: [staff]\n',
    ],
}

LEARN: Files = {
    "m/index.yml": [
        "### YamlMime:Module\nuid: m\ntitle: M\nproducts: [thing]\nabstract: |\n  - Build things\nunits: [m.u]\n",
        "### YamlMime:Module\nuid: m\ntitle: Other\nlevels: [advanced]\nunits: [m.u, m.v]\n"
        "prerequisites: |\n  - Build things\n",
        None,
    ],
    "m/u.yml": [
        "### YamlMime:ModuleUnit\nuid: m.u\ntitle: U\ncontent: |\n  [!include[](includes/u.md)]\n",
        "### YamlMime:ModuleUnit\nuid: m.u\ntitle: Other U\ndurationInMinutes: 3\ncontent: |\n  Words.\n",
        None,
    ],
    "m/v.yml": ["### YamlMime:ModuleUnit\nuid: m.v\ntitle: V\ncontent: |\n  See <xref:m.u>.\n", None],
    "m/includes/u.md": ["Text of [V](../v.yml).\n", "Other text.\n", None],
    "n/index.yml": [
        "### YamlMime:Module\nuid: n\ntitle: N\nabstract: |\n  - Build things\nprerequisites: [m]\nunits: []\n",
        None,
    ],
    "p/index.yml": ["### YamlMime:LearningPath\nuid: p\ntitle: P\nmodules: [m, n]\ntrophy: t\n", None],
    "achievements.yml": ["### YamlMime:Achievements\nachievements:\n- uid: t\n  title: Trophy\n", None],
}

GITHUB: Files = {
    "content/a.md": [
        "---\ntitle: '{% data variables.product.name %} A'\nversions: '*'\nchildren: [/b]\n---\nSee [b](/b).\n",
        "---\ntitle: A\nversions:\n  fpt: '*'\nredirect_from: [/b]\n---\nOther.\n",
    ],
    "content/b.md": [
        "---\ntitle: B\nversions:\n  feature: thing\n---\nIs {% data variables.product.name %}.\n",
        "---\ntitle: B\nversions: '*'\n---\n{% ifversion ghes %}One{% else %}Two{% endif %}\n",
        None,
    ],
    "data/variables/product.yml": ["name: Product\n", "name: Other\n", None],
    "data/features/thing.yml": ["versions:\n  fpt: '*'\n", "versions:\n  ghes: '>3'\n", None],
}

PLAIN: Files = {
    "a.md": ["# A\n\n[b](b.md) and [c](c.md)\n", "# A\n\n[b](bb.md)\n", None],
    "b.md": ["# B\n", "---\ntitle: Bee\n---\nText.\n", None],
    "deep/c.md": ["# C\n\n[a](../a.md)\n", None],
}

ESTATES = {"docfx": DOCFX, "learn": LEARN, "github-docs": GITHUB, "plain": PLAIN}


def write(root: Path, path: str, text: str | None) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    if text is None:
        file.unlink(missing_ok=True)
    else:
        file.write_text(text)


def reader(of: Sequence[EstateReader], name: str) -> EstateReader:
    return next(reader for reader in of if reader.format == name)


def read(with_reader: EstateReader, root: Path) -> list[NodeRecord | Diagnostic] | list[str]:
    try:
        return list(with_reader.read(root, "site"))
    except EstateRefused as error:
        return [str(error)]


@pytest.mark.parametrize("name", sorted(ESTATES))
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_after_any_edits_memory_says_what_a_first_reading_says(name: str, data: st.DataObject) -> None:
    files = ESTATES[name]
    known = reader(readers(ReadingRules()), name)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, texts in files.items():
            write(root, path, texts[0])
        read(known, root)
        for _ in range(data.draw(st.integers(1, 6), label="edits")):
            path = data.draw(st.sampled_from(sorted(files)), label="file")
            write(root, path, data.draw(st.sampled_from(files[path]), label="text"))
            assert read(known, root) == read(reader(readers(ReadingRules()), name), root)


def records(found: Sequence[object]) -> dict[str, NodeRecord]:
    return {item.node.path or "": item for item in found if isinstance(item, NodeRecord) and item.sections}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    for number in range(9):
        write(tmp_path, f"p{number}.md", f"# Page {number}\n\nTo [the next](p{number + 1}.md).\n")
    write(tmp_path, "p9.md", "# Page 9\n\nThe last.\n")
    return tmp_path


def test_only_what_changed_is_read_again(pages: Path) -> None:
    known = reader(readers(ReadingRules()), "plain")
    first = records(read(known, pages))
    write(pages, "p4.md", "# Page 4\n\nOther words.\n")
    second = records(read(known, pages))
    assert {path for path in first if second[path] is not first[path]} == {"p4.md"}
    write(pages, "p7.md", "# Another title\n\nOther words.\n")
    third = records(read(known, pages))
    assert {path for path in second if third[path] is not second[path]} == {"p6.md", "p7.md"}


def test_other_settings_are_another_reading(pages: Path) -> None:
    memory = PageMemory(100)
    first = records(read(DocfxReader(ReadingRules(), memory), pages))
    second = records(read(DocfxReader(ReadingRules(code_sample_lines=1), memory), pages))
    assert all(second[path] is not first[path] for path in first)


def test_memory_is_bounded(pages: Path) -> None:
    known = reader(readers(ReadingRules(remembered_pages=9)), "plain")
    first = records(read(known, pages))
    second = records(read(known, pages))
    assert all(second[path] is not first[path] for path in first)
