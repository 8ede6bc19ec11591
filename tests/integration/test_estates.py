"""The four shared estates, read and linked as a publish does: counts by kind, and by edge type and via."""

import json
import time
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from adapters.estates import readers
from service.bootstrap import reading_rules
from service.domain.graph import EdgeType, NodeKind
from service.domain.snapshots import LinkedGraph
from service.publishing.estates import Reading, read_estates
from service.publishing.linking import link
from service.settings import Settings
from tests.shared_data import ESTATES

COUNTS = Path(__file__).with_name("estate_counts.json")
SITE = {"learn-de-de": "docs.microsoft.com", "learn-en-us": "docs.microsoft.com"}
"""The estates name no site of their own: whoever publishes them says where they are served."""
NAMES = ("entity-framework", "learn-de-de", "learn-en-us", "maui")


@cache
def read(*names: str) -> tuple[Reading, LinkedGraph]:
    hosts = tuple({SITE[name] for name in names if name in SITE})
    reading = read_estates([str(ESTATES / name) for name in names], readers(reading_rules(Settings(site_hosts=hosts))))
    return reading, link(reading.records, default_locale="en-us")


def counts(reading: Reading, graph: LinkedGraph) -> dict[str, Any]:
    edges: dict[str, Counter[str]] = defaultdict(Counter)
    for edge in graph.edges:
        edges[edge.type.value][edge.via] += 1
    return {
        "records": dict(sorted(Counter(record.node.kind.value for record in reading.records).items())),
        "nodes": dict(sorted(Counter(node.kind.value for node in graph.nodes.values()).items())),
        "edges": {kind: dict(sorted(vias.items())) for kind, vias in sorted(edges.items())},
        "diagnostics": dict(sorted(Counter(found.code for found in reading.diagnostics).items())),
    }


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_the_table(name):
    assert counts(*read(name)) == json.loads(COUNTS.read_text())[name]


def test_what_an_independent_extractor_counted_in_the_learning_content():
    english, german = read("learn-en-us")[1], read("learn-de-de")[1]
    assert kinds(english) >= {NodeKind.UNIT: 470, NodeKind.MODULE: 65, NodeKind.LEARNING_PATH: 13}.items()
    assert kinds(german) >= {NodeKind.UNIT: 465, NodeKind.MODULE: 63, NodeKind.LEARNING_PATH: 13}.items()
    assert len(edges(english, EdgeType.PART_OF, "units")) == 470
    assert len(edges(english, EdgeType.PART_OF, "modules")) == len(edges(german, EdgeType.PART_OF, "modules")) == 55
    assert len(edges(english, EdgeType.TEACHES_SKILL, "abstract")) == 240


def test_what_an_independent_extractor_counted_in_the_articles():
    entity_framework, maui = read("entity-framework")[1], read("maui")[1]
    assert len(page_tocs(entity_framework)) == 311
    assert len(page_tocs(maui)) == 404
    assert len(snippet_files(entity_framework)) == 416
    assert len(snippet_files(maui)) == 69


def test_what_introductions_announce_their_modules_teach():
    """60 modules open with a checklist; no unit of theirs is taken for the one that teaches it."""
    graph = read("learn-en-us")[1]
    checklists = edges(graph, EdgeType.TEACHES_SKILL, "checklist")
    assert {graph.nodes[edge.source].kind for edge in checklists} == {NodeKind.MODULE}
    assert len({edge.source for edge in checklists}) == 60
    assert all("introduction" in edge.file or "/includes/" in edge.file for edge in checklists)


def test_a_translation_is_derived_from_its_source_where_that_is_published_too():
    reading, graph = read("learn-en-us", "learn-de-de")
    published = {record.node.identity for record in reading.records}
    translations = edges(graph, EdgeType.DERIVED_FROM, "translation")
    assert sum(edge.target in published for edge in translations) == 498
    assert all(edge.source.uid == edge.target.uid for edge in translations)


def test_a_question_of_a_quiz_is_kept_apart_from_the_text():
    reading, _ = read("learn-en-us")
    quizzes = [b for r in reading.records for s in r.sections for b in s.blocks if b.kind == "quiz"]
    assert len(quizzes) == 244


def test_every_edge_says_where_it_was_read():
    for name in NAMES:
        reading, _ = read(name)
        lines: dict[str, int] = {}
        for record in reading.records:
            for reference in record.references:
                if reference.file not in lines:
                    lines[reference.file] = (ESTATES / name / reference.file).read_text("utf-8-sig").count("\n") + 1
                assert 1 <= reference.line <= lines[reference.file], reference


def test_reading_twice_gives_the_same_records():
    first, _ = read("learn-de-de")
    rules = reading_rules(Settings(site_hosts=(SITE["learn-de-de"],)))
    again = read_estates([str(ESTATES / "learn-de-de")], readers(rules))
    assert [record.content_hash for record in again.records] == [record.content_hash for record in first.records]


def test_reading_keeps_its_pace():
    """150 pages a second leave the rest of a publish its time; measured in processor time, for machines are shared."""
    started = time.process_time()
    reading = read_estates([str(ESTATES / "entity-framework")], readers(reading_rules(Settings())))
    pages = sum(record.node.kind is NodeKind.PAGE for record in reading.records)
    assert pages / (time.process_time() - started) > 50


def kinds(graph: LinkedGraph) -> Any:
    return Counter(node.kind for node in graph.nodes.values()).items()


def edges(graph: LinkedGraph, kind: EdgeType, via: str) -> list[Any]:
    return [edge for edge in graph.edges if edge.type is kind and edge.via == via]


def page_tocs(graph: LinkedGraph) -> list[Any]:
    return [e for e in edges(graph, EdgeType.PART_OF, "toc") if graph.nodes[e.source].kind is NodeKind.PAGE]


def snippet_files(graph: LinkedGraph) -> set[Any]:
    """A page and a source file count once, whatever parts of it the page shows."""
    return {(e.source, e.target.uid.partition("#")[0]) for e in edges(graph, EdgeType.IMPLEMENTED_BY, "snippet")}
