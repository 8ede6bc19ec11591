"""The audit log's files: bounded, its owner's alone, and whole when several processes write them."""

import json
import multiprocessing
import stat

import pytest

from adapters.embedded.audit_log import DEEDS, REFUSALS, JsonLinesAuditLog
from service.domain.errors import Unavailable


def opened(folder, *, file_bytes=1_000, files=3):
    return JsonLinesAuditLog.open(folder / "audit", file_bytes=file_bytes, files=files)


def lines(folder, name):
    return [json.loads(line) for line in (folder / "audit" / name).read_text().splitlines()]


def test_deeds_and_refusals_are_kept_apart(tmp_path):
    log = opened(tmp_path)
    log.append({"event": "publish", "outcome": "done", "principal": "owner"})
    log.append({"event": "refused", "outcome": "refused", "code": "credentials_invalid"})
    (deed,) = lines(tmp_path, DEEDS)
    (refusal,) = lines(tmp_path, REFUSALS)
    assert (deed["event"], deed["principal"]) == ("publish", "owner")
    assert refusal["code"] == "credentials_invalid"
    assert deed["time"] <= refusal["time"]


def test_nobody_else_may_read_it(tmp_path):
    log = opened(tmp_path)
    log.append({"event": "publish", "outcome": "done"})
    folder = tmp_path / "audit"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("files", [1, 3])
def test_a_full_file_is_put_aside_and_the_oldest_given_up(tmp_path, files):
    log = opened(tmp_path, files=files)
    for number in range(200):
        log.append({"event": "refused", "outcome": "refused", "number": number})
    kept = sorted((tmp_path / "audit").glob(f"{REFUSALS}*"))
    assert len(kept) == files
    assert all(file.stat().st_size < 1_200 for file in kept)
    numbers = [line["number"] for file in reversed(kept) for line in lines(tmp_path, file.name)]
    assert numbers == list(range(numbers[0], 200))


def test_a_flood_of_refusals_pushes_out_no_deed(tmp_path):
    log = opened(tmp_path)
    log.append({"event": "key created", "outcome": "done"})
    for _ in range(200):
        log.append({"event": "refused", "outcome": "refused"})
    assert [line["event"] for line in lines(tmp_path, DEEDS)] == ["key created"]


def test_a_value_that_would_break_a_line_does_not(tmp_path):
    log = opened(tmp_path)
    log.append({"event": 'a"\n\u2028{', "outcome": "done", "odd": object(), "half": "\ud800"})
    (line,) = lines(tmp_path, DEEDS)
    assert line["event"] == 'a"\n\u2028{'


def write_many(folder, name):
    log = opened(folder, file_bytes=10_000_000)
    for number in range(200):
        log.append({"event": name, "outcome": "done", "number": number})


def test_several_processes_write_whole_lines(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(tmp_path, name)) for name in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    written = lines(tmp_path, DEEDS)
    for name in "ab":
        assert [line["number"] for line in written if line["event"] == name] == list(range(200))


def test_a_folder_that_is_none_is_said(tmp_path):
    (tmp_path / "audit").write_text("in the way")
    with pytest.raises(Unavailable):
        opened(tmp_path)


def test_what_cannot_be_written_costs_nobody_an_answer(tmp_path):
    log = opened(tmp_path)
    for file in (tmp_path / "audit").iterdir():
        file.unlink()
    (tmp_path / "audit").rmdir()
    (tmp_path / "audit").write_text("in the way")
    log.append({"event": "publish", "outcome": "done"})
    assert (tmp_path / "audit").read_text() == "in the way"
