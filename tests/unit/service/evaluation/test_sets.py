import gzip
import json
from pathlib import Path

import pytest

from service.domain.errors import SetUnreadable
from service.evaluation.sets import Document, Query, find_set, load_set, renamed
from tests.shared_data import RELEVANCE


def write_set(folder: Path, *, queries: list[dict], judgments: str, corpus: list[dict] | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "queries.jsonl").write_text("\n".join(json.dumps(row) for row in queries) + "\n")
    (folder / "qrels.tsv").write_text(judgments)
    if corpus is not None:
        with gzip.open(folder / "corpus.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in corpus)
    return folder


TWO_QUERIES = [{"_id": "q1", "text": "one"}, {"_id": "q2", "text": "two"}]


def test_queries_judgments_and_documents_are_read(tmp_path: Path):
    folder = write_set(
        tmp_path / "small",
        queries=TWO_QUERIES,
        judgments="q1\td1\t3\nq1\td2\t0\nq2\td2\t1\n",
        corpus=[{"_id": "d1", "title": "", "text": "first"}, {"_id": "d2", "title": "Two", "text": "second"}],
    )
    loaded = load_set(folder)
    assert loaded.name == "small"
    assert loaded.queries == (Query("q1", "one"), Query("q2", "two"))
    assert loaded.judgments == {"q1": {"d1": 3, "d2": 0}, "q2": {"d2": 1}}
    assert loaded.documents == (Document("d1", "", "first"), Document("d2", "Two", "second"))


def test_a_query_without_a_relevant_document_is_left_out(tmp_path: Path):
    folder = write_set(tmp_path / "small", queries=TWO_QUERIES, judgments="q1\td1\t1\nq2\td1\t0\n")
    assert [query.id for query in load_set(folder).queries] == ["q1"]


@pytest.mark.parametrize(
    "judgments",
    ["query-id\tcorpus-id\tscore\nq1\td1\t2\n", "q1 0 d1 2\n", "q1\t0\td1\t2\n", "q1\td1\t2\r\n\r\n"],
    ids=["BEIR header", "TREC", "TREC with tabs", "CRLF and a blank line"],
)
def test_the_usual_ways_of_writing_judgments(tmp_path: Path, judgments: str):
    assert load_set(write_set(tmp_path / "small", queries=TWO_QUERIES, judgments=judgments)).judgments == {
        "q1": {"d1": 2}
    }


def test_a_set_is_a_folder_or_a_judgments_file_of_it(tmp_path: Path):
    folder = write_set(tmp_path / "small", queries=TWO_QUERIES, judgments="q1\td1\t1\n")
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("q2\td1\t1\n")
    assert find_set(folder).judgments.keys() == {"q1"}
    assert find_set(folder / "qrels" / "test.tsv").judgments.keys() == {"q2"}
    (folder / "qrels.tsv").rename(folder / "more.tsv")
    assert find_set(folder).judgments.keys() == {"q2"}
    assert find_set(folder / "more.tsv").name == "small/more"


def test_document_names_may_hold_spaces(tmp_path: Path):
    folder = write_set(tmp_path / "small", queries=TWO_QUERIES, judgments="q1\tthe api(System Int32*)\t1\n")
    assert load_set(folder).judgments == {"q1": {"the api(System Int32*)": 1}}


@pytest.mark.parametrize(
    ("queries", "judgments", "message"),
    [
        ([{"_id": "q1"}], "q1\td1\t1\n", r"queries\.jsonl:1: a query needs 'text'"),
        ([{"text": "one"}], "q1\td1\t1\n", r"queries\.jsonl:1: a query needs 'id'"),
        (TWO_QUERIES, "q1\td1\t1\nq2\td1\tmuch\n", r"qrels\.tsv:2: the gain 'much'"),
        (TWO_QUERIES, "q1\n", r"qrels\.tsv:1: query, document and gain"),
        (TWO_QUERIES, "q9\td1\t1\n", "no query has a relevant document"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(tmp_path: Path, queries: list, judgments: str, message: str):
    with pytest.raises(SetUnreadable, match=message):
        load_set(write_set(tmp_path / "small", queries=queries, judgments=judgments))


def test_a_line_that_is_no_json_is_named(tmp_path: Path):
    folder = write_set(tmp_path / "small", queries=TWO_QUERIES, judgments="q1\td1\t1\n")
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "one"}\n{"_id":\n')
    with pytest.raises(SetUnreadable, match=r"queries\.jsonl:2: not JSON"):
        load_set(folder)


def test_a_missing_file_and_a_damaged_archive_are_named(tmp_path: Path):
    with pytest.raises(SetUnreadable, match=r"qrels\.tsv can't be read"):
        load_set(tmp_path)
    folder = write_set(tmp_path / "small", queries=TWO_QUERIES, judgments="q1\td1\t1\n", corpus=[])
    (folder / "corpus.jsonl.gz").write_bytes(b"no archive")
    with pytest.raises(SetUnreadable, match=r"corpus\.jsonl\.gz can't be read"):
        load_set(folder)


def test_paths_become_uids_and_what_the_estate_lacks_is_listed(tmp_path: Path):
    folder = write_set(
        tmp_path / "small",
        queries=[
            {"id": "q1", "text": "one", "current_document": "a.md", "wrong_document": "gone.md"},
            {"id": "q2", "text": "two", "current_document": "a.md"},
        ],
        judgments="q1\tb.md\t1\nq1\tgone.md\t1\nq2\tgone.md\t1\n",
    )
    by_uid, missing = renamed(load_set(folder), {"a.md": "uid-a", "b.md": "uid-b"})
    assert by_uid.queries == (Query("q1", "one", current_document="uid-a"),)
    assert by_uid.judgments == {"q1": {"uid-b": 1}}
    assert missing == ["gone.md"]


@pytest.mark.parametrize(
    ("name", "judgments", "queries", "documents"),
    [
        ("learn-quiz", "qrels-units.tsv", 230, 0),
        ("link-text", "qrels.tsv", 600, 0),
        ("cranfield", "qrels.tsv", 225, 1_400),
        ("cosqa-dev", "qrels.tsv", 500, 6_267),
    ],
)
def test_real_sets_have_the_size_that_their_readme_says(name: str, judgments: str, queries: int, documents: int):
    loaded = load_set(RELEVANCE / name, judgments)
    assert (len(loaded.queries), len(loaded.documents)) == (queries, documents)
