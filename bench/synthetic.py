"""A docfx estate of any size: pages of a common length that link to each other, show code and are listed in tocs."""

import random
from pathlib import Path

WORDS = [
    f"{first}{second}"
    for first in ("data", "index", "graph", "query", "page", "node", "rank", "store", "key", "term")
    for second in (
        "",
        "s",
        "ing",
        "ed",
        "er",
        "base",
        "set",
        "link",
        "map",
        "type",
        "name",
        "view",
        "path",
        "root",
        "flow",
    )
]
A_FOLDER = 100
"""Pages in one folder, with a toc of their own."""


def write_site(root: Path, pages: int, seed: int = 1) -> Path:
    """Write so many pages below `root`; the same arguments write the same."""
    chance = random.Random(seed)
    root.mkdir(parents=True)
    (root / "docfx.json").write_text('{"build": {"content": [{"files": ["**/*.md", "**/*.yml"]}]}}')
    folders = range(-(-pages // A_FOLDER))
    tocs = "".join(f"- name: Part {folder}\n  href: part{folder}/toc.yml\n" for folder in folders)
    (root / "toc.yml").write_text(tocs)
    for folder in folders:
        inside = root / f"part{folder}"
        inside.mkdir()
        numbers = range(folder * A_FOLDER, min((folder + 1) * A_FOLDER, pages))
        (inside / "toc.yml").write_text("".join(f"- name: Page {n}\n  href: page{n}.md\n" for n in numbers))
        for number in numbers:
            (inside / f"page{number}.md").write_text(_page(number, pages, chance))
    return root


def _page(number: int, pages: int, chance: random.Random) -> str:
    targets = [chance.randrange(pages) for _ in range(3)]
    links = ", ".join(f"[page {target}](../part{target // A_FOLDER}/page{target}.md)" for target in targets)
    sections = "\n\n".join(f"## {_prose(chance, 3)} {part}\n\n{_prose(chance, 90)}." for part in range(3))
    return (
        f"---\ntitle: Page {number} about {_prose(chance, 3)}\nuid: page-{number}\nms.prod: product-{number % 20}\n"
        f"ms.topic: how-to\nms.date: 2026-01-{number % 28 + 1:02}\n---\n\n"
        f"# Page {number}\n\nSee {links}.\n\n{sections}\n\n"
        f"```python\nvalue = {number}\nprint(value)\nreturn value + {number}\n```\n"
    )


def _prose(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))
