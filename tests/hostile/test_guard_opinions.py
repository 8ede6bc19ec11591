"""What two parsers that share nothing with ours make of the renderings; each disagreement is in disagreements.json."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from neo4j_guard._checker import GuardError, check_query
from neo4j_guard._rules import Rules

from cypher_guard import Profile, Violation, Visibility, guard
from tests.hostile.corpus import profiles, rows
from tests.hostile.generator import honest_query
from tests.hostile.vocabulary import PROFILE

HERE = Path(__file__).parent
DOWNLOADS = HERE.parents[1] / "build" / "libcypher"
PREFIX = "CYPHER 5 "
WHEEL_TAGS = ("--python-version", "36", "--abi", "cp36m", "--platform", "manylinux1_x86_64")
READING = frozenset({"MATCH", "RETURN", "WITH", "UNWIND"})
CLAUSES = re.compile(
    r"MATCH|RETURN|WITH|UNWIND|CREATE|MERGE|SET|DELETE|REMOVE|FOREACH|CALL|LOAD CSV|START|UNION|COMMAND"
)


@pytest.fixture(scope="session")
def libcypher() -> Path:
    """The library out of the wheel that libcypher.lock pins."""
    DOWNLOADS.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download", "--no-deps"]
    wanted = ["--only-binary=:all:", *WHEEL_TAGS, "--require-hashes", "--requirement", str(HERE / "libcypher.lock")]
    if not list(DOWNLOADS.glob("*.whl")):
        subprocess.run([*pip, *wanted, "--dest", str(DOWNLOADS)], check=True, timeout=120)
    (wheel,) = DOWNLOADS.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if "libcypher-parser" in name]
        return Path(archive.extract(name, DOWNLOADS))


@cache
def renderings() -> Sequence[str]:
    """Of both corpora, for everyone and for a principal, and of generated queries; without the version's prefix."""
    principal = Visibility(audiences=frozenset({"*"}))
    texts = [
        guard(row.text, row.params, profiles()[row.profile], visibility=visibility).text
        for row in rows("accept")
        for visibility in (None, principal)
    ]
    for seed in range(200):
        try:
            texts.append(guard(honest_query(seed), {}, Profile.from_mapping(PROFILE), visibility=principal).text)
        except Violation:
            continue
    return sorted({text.removeprefix(PREFIX) for text in texts})


def explained(opinion: str) -> list[dict[str, str]]:
    listed: list[dict[str, str]] = json.loads((HERE / "disagreements.json").read_text())
    return [entry for entry in listed if entry["opinion"] == opinion]


def unexplained(opinion: str, complaints: dict[str, str]) -> dict[str, str]:
    """The complaints that no listed form accounts for; a form that accounts for none is stale."""
    forms = explained(opinion)
    for form in forms:
        assert any(re.search(form["form"], text) for text in complaints), f"stale: {form}"
    return {
        text: message
        for text, message in complaints.items()
        if not any(re.search(form["form"], text) for form in forms)
    }


def test_libcypher_reads_the_renderings_as_single_reading_statements(libcypher: Path) -> None:
    texts = renderings()
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    process = subprocess.run(
        [sys.executable, str(HERE / "libcypher_parse.py"), str(libcypher)],
        input=lines,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    opinions: list[dict[str, Any]] = [json.loads(line) for line in process.stdout.splitlines()]
    assert len(opinions) == len(texts)
    complaints = {}
    for text, opinion in zip(texts, opinions, strict=True):
        clauses = {kind for kind in opinion["clauses"] if CLAUSES.fullmatch(kind)}
        if opinion["errors"]:
            complaints[text] = opinion["errors"][0]
        else:
            assert opinion["statements"] == 1, text
            assert clauses <= READING, text
    assert len(complaints) < len(texts) / 2, "an opinion that fails on most has none"
    assert not unexplained("libcypher", complaints)


def test_neo4js_own_grammar_reads_the_renderings_as_reads() -> None:
    """neo4j-guard parses by the grammar of Cypher 25; its rules allow the clauses that ours does, and no procedure."""
    rules = Rules.build("read", allow=[], disallow=["CALL", "FILTER", "FINISH", "FOR", "LET"])
    complaints = {}
    # It takes tens of milliseconds a text: every third one.
    for text in renderings()[::3]:
        try:
            check_query(text, rules)
        except GuardError as error:
            complaints[text] = str(error)
    assert not unexplained("neo4j-guard", complaints)
