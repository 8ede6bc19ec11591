"""Every code of a diagnostic: an estate that provokes it, its place and its cure, and where a writer sees it."""

import ast
import io
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from adapters.estates import ReadingRules, readers
from service.domain.diagnostics import Diagnostic
from service.domain.results import DiagnosticResult
from service.publishing.estates import read_estates
from service.publishing.graph_findings import graph_findings
from service.publishing.linking import link
from service.surfaces.command_line import pages
from service.surfaces.command_line.sarif import sarif
from tests.surfaces.fake_toolbox import FakeToolbox
from tests.unit.adapters.estates.estate import write

ROOT = Path(__file__).parents[2]
Files = dict[str, str | bytes]


def docfx(**build: object) -> str:
    content = [{"files": ["**/*.md", "**/*.yml"], "exclude": ["inc/**"]}]
    return json.dumps({"build": {"content": content, "sitemap": {"baseUrl": "https://x.example/d"}} | build})


def page(uid: str, body: str = "", **metadata: str) -> str:
    return "\n".join(["---", f"uid: {uid}", *(f"{n}: {v}" for n, v in metadata.items()), "---", body])


def redirected(**targets: str) -> Files:
    entries = [{"source_path": f"{source}.md", "redirect_url": target} for source, target in targets.items()]
    return {"redirections.json": json.dumps({"redirections": entries}, indent=1)}


SITE: Files = {"docfx.json": docfx()}
RULES = "visibility:\n  rules:\n  - metadata: {audience: x}\n    visibleTo: [staff]\n"
MODULE = "### YamlMime:Module\nuid: m\ntitle: M\n"
THREE = "products: [anvil]\nroles: [smith]"


@dataclass(frozen=True)
class Case:
    """An estate and where it is at fault; several estates lie in folders of their own, named `a/`, `b/`."""

    code: str
    files: Files
    file: str
    line: int
    column: int
    estates: tuple[str, ...] = ()


CASES = [
    Case("duplicate_identity", SITE | {"a.md": page("a"), "b.md": page("a")}, "b.md", 1, 1),
    Case("estate_settings_invalid", {"a.md": "# A", "cogitave-query.yml": "visible: x\n"}, "cogitave-query.yml", 1, 10),
    Case(
        "visibility_undecidable",
        {"a.md": "---\n[\n---\n", "cogitave-query.yml": RULES},
        "a.md", 1, 1,
    ),
    Case(
        "visibility_nobody",
        {
            "a/b.md": "# A",
            "cogitave-query.yml": "visibility:\n  rules:\n  - {files: ['a/**'], visibleTo: [x]}\n"
            "  - {files: ['**/b.md'], visibleTo: [y]}\n",
        },
        "a/b.md", 1, 1,
    ),
    Case("file_too_large", {"a.md": "x" * 200_001}, "a.md", 1, 1),
    Case("file_not_utf8", {"a.md": b"text\n\xff\n"}, "a.md", 1, 1),
    Case("file_unreadable", {"a.md": "\n[!INCLUDE [x](inc)]\n", "inc/x.txt": "x"}, "a.md", 2, 15),
    Case("file_missing", SITE | {"docfx.json": docfx(xref=["gone.yml"])}, "gone.yml", 1, 1),
    Case("folder_link", {"a.md": "# A", "round": b"->."}, "round", 1, 1),
    Case("file_name_unreadable", {"a.md": "# A", "\udcff.md": b"bad name"}, "?.md", 1, 1),
    Case("configuration_invalid", {"docfx.json": "{}", "a.md": "# A"}, "docfx.json", 1, 1),
    Case("corpus_unreadable", {"corpus.jsonl": b'{"_id": "a", "text": "b"}\n\xff\n'}, "corpus.jsonl", 1, 1),
    Case("document_unreadable", {"corpus.jsonl": '{"_id": "a", "text": "b"}\n3\n'}, "corpus.jsonl", 2, 1),
    Case("path_outside_estate", {"a.md": "# A\n\nSee [it](../../x.md).\n"}, "a.md", 3, 10),
    Case("yaml_invalid", SITE | {"toc.yml": "- name: A\n\thref: a.md\n", "a.md": "# A"}, "toc.yml", 2, 1),
    Case("front_matter_invalid", {"a.md": "---\nuid: a\ntitle: [x\n---\n"}, "a.md", 3, 8),
    Case("redirections_invalid", SITE | {"a.md": "# A", "redirections.json": "{\n[}"}, "redirections.json", 2, 2),
    Case("yaml_duplicate_key", {"a.md": "---\nuid: a\nuid: b\n---\n"}, "a.md", 3, 1),
    Case("uid_missing", {"index.yml": "### YamlMime:Module\ntitle: M\n"}, "index.yml", 1, 1),
    Case("xref_broken", SITE | {"a.md": page("n/one", "<xref:n/on>")}, "a.md", 4, 7),
    Case("link_broken", {"a.md": "See [it](gone.md).\n"}, "a.md", 1, 10),
    Case("link_invalid", {"a.md": "See [it](http://[x).\n"}, "a.md", 1, 10),
    Case("superseded_target", SITE | {"a.md": page("a", "[it](b.md)")} | redirected(b="/d/a"), "a.md", 4, 6),
    Case("include_missing", {"a.md": "\n[!INCLUDE [x](gone.md)]\n"}, "a.md", 2, 15),
    Case("include_cycle", {"a.md": "[!INCLUDE [x](a.md)]\n"}, "a.md", 1, 15),
    Case(
        "include_too_deep",
        SITE | {"a.md": "[!INCLUDE [x](inc/0.md)]"} | {f"inc/{n}.md": f"[!INCLUDE [x]({n + 1}.md)]" for n in range(12)},
        "inc/9.md", 1, 1,
    ),
    Case("include_too_much", SITE | {"a.md": "[!INCLUDE [x](inc/x)]\n\n" * 1_001, "inc/x": "x"}, "a.md", 2_001, 1),
    Case("path_case", SITE | {"a.md": "[!INCLUDE [x](inc/X.md)]", "inc/x.md": "x"}, "a.md", 1, 15),
    Case("snippet_missing", {"a.md": "[!code-sql[](gone.sql)]\n"}, "a.md", 1, 14),
    Case("snippet_part_missing", {"a.md": "[!code-sql[](x.sql?name=y)]\n", "x.sql": "select 1"}, "a.md", 1, 25),
    Case("member_missing", {"index.yml": MODULE + "units:\n- m.gone\n"}, "index.yml", 5, 3),
    Case(
        "achievement_unknown",
        {
            "index.yml": MODULE + "achievement: m.gone\n",
            "achievements.yml": "### YamlMime:Achievements\nachievements:\n- uid: a\n  title: A\n",
        },
        "index.yml", 4, 14,
    ),
    Case("unknown_product", {"a.md": page("a", products="[anwil]"), "cogitave-query.yml": THREE}, "a.md", 3, 12),
    Case("unknown_role", {"a.md": page("a", roles="smyth"), "cogitave-query.yml": THREE}, "a.md", 3, 8),
    Case("products_undeclared", {"a.md": page("a", products="[anvil]")}, "a.md", 3, 1),
    Case("roles_undeclared", {"a.md": page("a", roles="[smith]")}, "a.md", 3, 1),
    Case("xref_map_elsewhere", {"docfx.json": docfx(xref=["https://x.example/m.yml"])}, "docfx.json", 1, 140),
    Case("toc_target_missing", SITE | {"toc.yml": "- name: A\n  href: gone.md\n", "a.md": "# A"}, "toc.yml", 1, 3),
    Case("toc_cycle", SITE | {"toc.yml": "- name: A\n  href: toc.yml\n", "a.md": "# A"}, "toc.yml", 1, 3),
    Case("orphan_page", SITE | {"toc.yml": "- name: A\n", "a.md": "# A"}, "a.md", 1, 1),
    Case("redirect_loop", SITE | {"a.md": "# A"} | redirected(b="/d/b"), "redirections.json", 4, 20),
    Case("redirection_of_page", SITE | {"a.md": "# A"} | redirected(a="/d/b"), "redirections.json", 4, 20),
    Case("redirection_duplicate", SITE | {"a.md": "# A"} | redirected(b="/d/a", B="/d/a"), "redirections.json", 8, 20),
    Case("redirection_invalid", SITE | {"a.md": "# A"} | redirected(b=" "), "redirections.json", 4, 20),
    Case("redirection_target_missing", SITE | {"a.md": "# A"} | redirected(b="gone"), "redirections.json", 4, 20),
    Case("moniker_range_invalid", {"a.md": page("a", monikerRange="'>= ||'")}, "a.md", 3, 16),
    Case(
        "moniker_zone_empty",
        {"a.md": page("a", '\n::: moniker range="n-2.0"\n\nx\n\n::: moniker-end', monikerRange="n-1.0")},
        "a.md", 6, 20,
    ),
    Case(
        "prerequisite_cycle",
        {
            "a.md": page("a", "## Prerequisites\n\n[b](b.md)"),
            "b.md": page("b", "## Prerequisites\n\n[a](a.md)"),
        },
        "a.md", 6, 1,
    ),
    Case(
        "superseded_target",
        {f"a/{path}": text for path, text in (SITE | {"x.md": page("x", "[old](/d/b)")}).items()}
        | {"a/docfx.json": docfx(sitemap={"baseUrl": "https://x.example/a"})}
        | {f"b/{path}": text for path, text in (SITE | {"n.md": page("n")} | redirected(b="/d/n")).items()},
        "a/x.md", 4, 1,
        ("a", "b"),
    ),
]  # fmt: skip


def provoked(case: Case, root: Path) -> list[Diagnostic]:
    for path, text in case.files.items():
        if isinstance(text, bytes) and text.startswith(b"->"):
            os.symlink(text[2:].decode(), root / path)
        else:
            write(root, {path: text})
    reading = read_estates(
        [str(root / name) for name in case.estates] or [str(root)], readers(ReadingRules(page_bytes=200_000))
    )
    graph = link(reading.records, default_locale="en-us")
    return [*reading.diagnostics, *graph_findings(graph, reading.docsets, prefixed=reading.is_prefixed)]


@pytest.fixture(params=CASES, ids=lambda case: case.code + ("-of-two" if case.estates else ""))
def case(request):
    return request.param


@pytest.fixture
def found(case, tmp_path):
    root = tmp_path / "d"
    root.mkdir()
    [one, *_] = [found for found in provoked(case, root) if found.code == case.code]
    return one


def documented() -> dict[str, list[tuple[str, ...]]]:
    """Of each code in the manual's tables its severities, its cause and its cure."""
    rows: dict[str, list[tuple[str, ...]]] = {}
    for line in (ROOT / "docs" / "articles" / "diagnostics.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        for code in re.findall(r"`([^`]+)`", cells[0]) if line.startswith("| `") and len(cells) == 4 else []:
            rows.setdefault(code, []).append(tuple(cells[1:]))
    return rows


_SAYING = ("Diagnostic", "FileUnreadable", "_report", "_broken", "_finding", "_pass_over")


def in_the_code() -> set[str]:
    """The codes that are written as literals where a diagnostic is made."""
    codes: set[str] = set()
    sources = [*(ROOT / "adapters" / "estates").rglob("*.py"), *(ROOT / "service" / "publishing").glob("*.py")]
    for source in (path for path in sources if path.name != "doctor.py"):
        tree = ast.parse(source.read_text(encoding="utf-8"))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if name in _SAYING:
                arguments = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in (None, "code"))]
                codes |= {
                    argument.value
                    for argument in arguments
                    if isinstance(argument, ast.Constant)
                    and isinstance(argument.value, str)
                    and re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", argument.value)
                }
    return codes


def test_every_code_is_provoked_here_and_in_the_manual():
    cases = {case.code for case in CASES}
    assert in_the_code() <= cases
    assert documented().keys() == cases


def test_a_finding_stands_at_its_place_and_says_what_to_do(case, found):
    assert (found.file, found.line, found.column) == (case.file, case.line, case.column)
    assert found.message.endswith((".", "?"))
    assert found.fix.endswith((".", "?"))
    assert any(found.severity.value in row[0].split(", ") for row in documented()[case.code])
    assert all(cell for row in documented()[case.code] for cell in row)


def test_a_finding_is_shown_wherever_a_writer_looks(found):
    result = DiagnosticResult.of(found)
    (run,) = sarif([result], [ROOT / "d"], version="1")["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [found.code]
    assert run["results"][0]["level"] == found.severity.value
    region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": found.line, "startColumn": found.column}
    published = FakeToolbox()._published().model_copy(update={"diagnostics": [result]})
    drawn = io.StringIO()
    Console(file=drawn, width=1_000, highlight=False, markup=False).print(pages.publish_page(published))
    said = drawn.getvalue()
    assert f"{found.file}:{found.line}:{found.column}: {found.severity} {found.code}: {found.message}" in said
    assert found.fix in said
    assert f"Diagnostics: {found.severity} {found.code} 1." in said
