"""`evaluate` from end to end: judged sets over a published estate, configurations side by side."""

import gzip
import json
from pathlib import Path

import ir_measures
import pytest

from service.surfaces.command_line import main
from tests.shared_data import RELEVANCE

pytestmark = pytest.mark.timeout(300)

QUERIES = 24


@pytest.fixture(scope="module")
def cranfield(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The first queries of a real set with every document that is judged for them, published; and the set."""
    folder = tmp_path_factory.mktemp("evaluate")
    lines = (RELEVANCE / "cranfield" / "queries.jsonl").read_text().splitlines()[:QUERIES]
    kept = {str(row.get("_id", row.get("id"))) for row in map(json.loads, lines)}
    judged = [row for row in (RELEVANCE / "cranfield" / "qrels.tsv").read_text().splitlines() if row.split()[0] in kept]
    wanted = {row.split()[-2] for row in judged}
    small = folder / "small"
    (small / "qrels").mkdir(parents=True)
    (small / "queries.jsonl").write_text("\n".join(lines))
    (small / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(judged))
    with gzip.open(RELEVANCE / "cranfield" / "corpus.jsonl.gz", "rt") as corpus:
        documents = [line for line in corpus if str(json.loads(line)["_id"]) in wanted]
    (small / "corpus.jsonl").write_text("".join(documents))
    data = folder / "data"
    assert main(["--data", str(data), "publish", str(small)]) == 0
    return data, small


def evaluated(capsys: pytest.CaptureFixture[str], data: Path, *words: str) -> tuple[int, dict]:
    capsys.readouterr()
    code = main(["--data", str(data), "--json", "evaluate", *words])
    return code, json.loads(capsys.readouterr().out)


def test_two_configurations_over_a_real_set(
    cranfield: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of them is BM25 alone: what a search with that setting finds is what is measured, by ir-measures itself."""
    data, small = cranfield
    (tmp_path / "both.toml").write_text('name = "both legs"\n')
    (tmp_path / "words.toml").write_text('name = "words alone"\n[settings]\nvector_weight = 0\n')
    configurations = ["--config", str(tmp_path / "both.toml"), "--config", str(tmp_path / "words.toml")]
    code, document = evaluated(capsys, data, str(small), *configurations, "--per-query")
    assert code == 0
    (one,) = document["sets"]
    assert (one["queries"], one["leftOut"], one["missing"]) == (QUERIES, 0, [])
    assert [configuration["name"] for configuration in one["configurations"]] == ["both legs", "words alone"]
    both, words = (configuration["metrics"] for configuration in one["configurations"])
    assert both.keys() == {"nDCG@10", "MRR", "recall@100"}
    assert 0.3 < words["nDCG@10"] < 1
    assert words["recall@100"] > 0.8
    compared = {comparison["measure"]: comparison for comparison in one["comparisons"]}["nDCG@10"]
    assert compared["difference"] == pytest.approx(words["nDCG@10"] - both["nDCG@10"])
    assert compared["low"] <= compared["difference"] <= compared["high"]
    assert compared["wins"] + compared["losses"] + compared["ties"] == QUERIES
    assert len(compared["queries"]) == compared["wins"] + compared["losses"] > 0
    assert 0 < compared["pValue"] <= 1
    values = one["configurations"][1]["perQuery"]["nDCG@10"]
    assert sum(values.values()) / QUERIES == pytest.approx(words["nDCG@10"])
    assert words["nDCG@10"] == pytest.approx(searched(capsys, data, small, tmp_path))


def searched(capsys: pytest.CaptureFixture[str], data: Path, small: Path, folder: Path) -> float:
    """nDCG@10 of what `search` lists with the same setting."""
    settings = folder / "settings.toml"
    settings.write_text(
        "vector_weight = 0\nrequest_deadline = 60000\nlexical_deadline = 60000\nvector_deadline = 60000\n"
    )
    run = []
    for row in map(json.loads, (small / "queries.jsonl").read_text().splitlines()):
        query = str(row.get("_id", row.get("id")))
        assert main(["--data", str(data), "--settings", str(settings), "--json", "search", row["text"]]) == 0
        hits = json.loads(capsys.readouterr().out)["hits"]
        run += [ir_measures.ScoredDoc(query, hit["uid"], -float(rank)) for rank, hit in enumerate(hits)]
    judged = []
    for line in (small / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        query, document, gain = line.split()
        judged.append(ir_measures.Qrel(query, document, int(gain)))
    return float(ir_measures.calc_aggregate([ir_measures.nDCG @ 10], judged, run)[ir_measures.nDCG @ 10])


def test_a_judgments_file_may_be_named_and_the_service_as_it_stands_is_judged(
    cranfield: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    data, small = cranfield
    code, document = evaluated(capsys, data, str(small / "qrels" / "test.tsv"))
    assert code == 0
    (one,) = document["sets"]
    assert [configuration["name"] for configuration in one["configurations"]] == ["settings"]
    assert one["comparisons"] == []
    assert one["configurations"][0]["perQuery"] is None


def test_judgments_by_source_path_and_what_is_not_there(
    cranfield: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    estate = tmp_path / "site"
    estate.mkdir()
    (estate / "slots.md").write_text("---\ntitle: Slots\n---\n\n# Slots\n\nSwap a deployment slot.\n")
    (estate / "queues.md").write_text("---\ntitle: Queues\n---\n\n# Queues\n\nPeek at a message.\n")
    data = tmp_path / "data"
    assert main(["--data", str(data), "publish", str(estate)]) == 0
    judged = tmp_path / "set"
    judged.mkdir()
    queries = [{"id": "1", "text": "swap slots"}, {"id": "2", "text": "peek"}, {"id": "3", "text": "lost"}]
    (judged / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (judged / "qrels.tsv").write_text("1\tsite/slots.md\t1\n2\tsite/queues.md\t1\n3\tsite/gone.md\t1\n")
    code, document = evaluated(capsys, data, str(judged))
    (one,) = document["sets"]
    assert code == 0
    assert (one["queries"], one["leftOut"], one["missing"]) == (2, 1, ["site/gone.md"])
    assert one["configurations"][0]["metrics"] == {"nDCG@10": 1.0, "MRR": 1.0, "recall@100": 1.0}
    assert main(["--data", str(data), "evaluate", str(judged)]) == 0
    page = capsys.readouterr().out
    assert "set: 2 queries" in page
    assert "such as site/gone.md" in page
    (judged / "qrels.tsv").write_text("1\tsite/gone.md\t1\n")
    assert evaluated(capsys, data, str(judged))[0] == 4


def test_answers_that_the_graph_gives_away_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One answer is linked from the reader's page, one links to it, one is two steps away; one reader is nowhere."""
    estate = tmp_path / "site"
    estate.mkdir()
    pages = {
        "start": "See [slots](slots.md).",
        "slots": "Swap a deployment slot. See [queues](queues.md).",
        "queues": "Peek at a message.",
        "back": "Roll a deployment back. See [start](start.md).",
    }
    for name, text in pages.items():
        (estate / f"{name}.md").write_text(f"---\ntitle: {name}\n---\n\n# {name}\n\n{text}\n")
    data = tmp_path / "data"
    assert main(["--data", str(data), "publish", str(estate)]) == 0
    judged = tmp_path / "set"
    judged.mkdir()
    asked = {"slots": "site/start.md", "back": "site/start.md", "queues": "site/start.md", "start": None}
    queries = [{"id": name, "text": name, "current_document": here} for name, here in asked.items()]
    (judged / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (judged / "qrels.tsv").write_text("".join(f"{name}\tsite/{name}.md\t1\n" for name in asked))
    told = 'asker = ["currentDocument"]\n'
    (tmp_path / "told.toml").write_text(told)
    (tmp_path / "silent.toml").write_text(told + '[request]\nwithoutSignals = ["prior"]\n')
    (tmp_path / "off.toml").write_text(told + "[settings]\nprior_gain = 0.0\n")
    (tmp_path / "stranger.toml").write_text("")
    names = ("told", "silent", "off", "stranger")
    files = [word for name in names for word in ("--config", str(tmp_path / f"{name}.toml"))]
    code, document = evaluated(capsys, data, str(judged), *files)
    assert code == 0
    (one,) = document["sets"]
    assert {each["name"]: each["givenAway"] for each in one["configurations"]} == {
        "told": 2, "silent": 0, "off": 0, "stranger": 0,
    }  # fmt: skip
    assert main(["--data", str(data), "evaluate", str(judged), *files[:2]]) == 0
    page = " ".join(capsys.readouterr().out.split())
    assert "told: an edge joins the answer to the reader's document in 2 queries" in page


@pytest.mark.parametrize(
    ("words", "code"),
    [(["nowhere"], "set_unreadable"), (["SET", "--config", "nowhere.toml"], "configuration_unreadable")],
)
def test_what_can_not_be_read_is_refused(
    cranfield: tuple[Path, Path], words: list[str], code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data, small = cranfield
    exit_code, document = evaluated(capsys, data, *(str(small) if word == "SET" else word for word in words))
    assert (exit_code, document["error"]["code"]) == (3, code)
