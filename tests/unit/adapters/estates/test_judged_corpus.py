import gzip
import json
from pathlib import Path

import pytest

from adapters.estates import ReadingRules, reader_for
from adapters.estates.judged_corpus import CorpusReader
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic, EstateRefused
from tests.unit.adapters.estates.estate import read, read_folder, write

DOCUMENTS = [{"_id": "d 1", "title": "One", "text": "The first."}, {"_id": 2, "text": "The second."}]

LINES = "".join(json.dumps({"_id": name, "title": name, "text": "Words."}) + "\n" for name in ("a", "b"))


def test_a_corpus_is_a_page_a_document(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as file:
        file.write("\n\n".join(json.dumps(row) for row in DOCUMENTS))
    (tmp_path / "README.md").write_text("# A page that is no document")
    reader = reader_for(tmp_path, ReadingRules())
    assert isinstance(reader, CorpusReader)
    one, two = reader.read(tmp_path, "set")
    assert isinstance(one, NodeRecord)
    assert isinstance(two, NodeRecord)
    assert (one.node.identity.uid, one.node.title, one.node.docset) == ("d 1", "One", "set")
    assert [block.text for section in two.sections for block in section.blocks] == ["The second."]
    assert (two.node.identity.uid, two.node.title) == ("2", "")


def test_what_is_no_document_is_a_finding_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = ["{", '"text"', '{"_id": "a"}', '{"_id": "b", "text": "kept"}']
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    found = list(CorpusReader(ReadingRules()).read(tmp_path, "set"))
    assert [(one.code, one.line) for one in found if isinstance(one, Diagnostic)] == [
        ("document_unreadable", line) for line in (1, 2, 3)
    ]
    assert [one.node.identity.uid for one in found if isinstance(one, NodeRecord)] == ["b"]


def test_a_corpus_that_breaks_off_is_a_finding(tmp_path: Path) -> None:
    whole = gzip.compress(json.dumps(DOCUMENTS[0]).encode())
    (tmp_path / "corpus.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    (found,) = CorpusReader(ReadingRules()).read(tmp_path, "set")
    assert isinstance(found, Diagnostic)
    assert found.code == "corpus_unreadable"


def test_the_estates_rules_hold_for_it(tmp_path: Path) -> None:
    rules = "visibility:\n  default: staff\n"
    estate = read(tmp_path, {"corpus.jsonl": LINES, "cogitave-query.yml": rules})
    assert {record.node.visible_to for record in estate.records} == {("staff",)}
    (tmp_path / "cogitave-query.yml").write_text("visibility: staff")
    with pytest.raises(EstateRefused):
        list(reader_for(tmp_path, ReadingRules()).read(tmp_path, "d"))


def test_a_document_that_unpacks_without_end_is_left_out(tmp_path: Path) -> None:
    swollen = json.dumps({"_id": "big", "text": "x" * 5_000_000}) + "\n" + LINES
    estate = read(tmp_path, {"corpus.jsonl.gz": gzip.compress(swollen.encode())}, ReadingRules(page_bytes=2_048))
    assert estate.found("file_too_large") == [("corpus.jsonl.gz", 1)]
    assert [record.node.identity.uid for record in estate.records] == ["a", "b"]


def test_a_corpus_that_lies_elsewhere_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"secret.jsonl": LINES, "estate/readme.txt": ""})
    (tmp_path / "estate" / "corpus.jsonl").symlink_to(tmp_path / "secret.jsonl")
    estate = read_folder(tmp_path / "estate")
    assert estate.records == ()
    assert estate.found("path_outside_estate") == [("corpus.jsonl", 1)]
