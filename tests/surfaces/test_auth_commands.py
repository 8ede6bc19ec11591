"""`keys` on the command line, and what `serve` asks for before it binds beyond this machine."""

import json
import sqlite3
import stat

import pytest

from service.domain.errors import SettingInvalid
from service.domain.keys import split
from service.settings import Settings
from service.surfaces.command_line import main
from service.surfaces.command_line.serving import address, listen
from tests.application import write_estate


def run(capsys, data, *words):
    code = main(["--data", str(data), "--json", *words])
    return code, json.loads(capsys.readouterr().out)


def test_a_key_is_shown_once_listed_and_revoked(capsys, tmp_path):
    data = tmp_path / "data"
    words = [
        "create",
        "the build",
        "--scope",
        "search",
        "--scope",
        "publish",
        "--class",
        "staff",
        "--expires-in",
        "90d",
    ]
    code, made = run(capsys, data, "keys", *words)
    assert code == 0
    id, secret = split(made["key"])
    assert (made["id"], made["name"], made["state"]) == (id, "the build", "valid")
    code, listed = run(capsys, data, "keys", "list")
    (key,) = listed["keys"]
    assert key == {name: value for name, value in made.items() if name != "key"}
    assert (key["scopes"], key["classes"], key["lastUsedAt"]) == (["publish", "search"], ["staff"], None)
    assert secret not in json.dumps(listed)
    code, revoked = run(capsys, data, "keys", "revoke", id)
    assert (code, revoked["id"]) == (0, id)
    code, listed = run(capsys, data, "keys", "list")
    assert [key["state"] for key in listed["keys"]] == ["revoked"]


def test_what_is_stored_opens_nothing_and_is_its_owners(capsys, tmp_path):
    data = tmp_path / "data"
    _, made = run(capsys, data, "keys", "create", "a")
    file = data / "keys.sqlite"
    assert {stat.S_IMODE(one.stat().st_mode) for one in data.glob("keys.sqlite*")} == {0o600}
    stored = str(sqlite3.connect(file).execute("SELECT * FROM api_key").fetchall())
    assert split(made["key"])[1] not in stored
    assert split(made["key"])[1].encode() not in file.read_bytes()


def test_keys_are_audited_without_their_secrets(capsys, tmp_path):
    data = tmp_path / "data"
    _, made = run(capsys, data, "keys", "create", "the build")
    run(capsys, data, "keys", "revoke", made["id"])
    text = (data / "audit" / "deeds.jsonl").read_text()
    events = [json.loads(line) for line in text.splitlines()]
    assert [(event["event"], event["key"], event["principal"]) for event in events] == [
        ("key created", made["id"], "command line"),
        ("key revoked", made["id"], "command line"),
    ]
    assert split(made["key"])[1] not in text


def test_a_publish_is_audited(capsys, tmp_path):
    data, estate = tmp_path / "data", write_estate(tmp_path / "estate")
    assert run(capsys, data, "publish", str(estate))[0] == 0
    assert run(capsys, data, "rollback", "f" * 64)[0] == 3
    events = [json.loads(line) for line in (data / "audit" / "deeds.jsonl").read_text().splitlines()]
    assert [(event["event"], event["outcome"]) for event in events] == [("publish", "done"), ("rollback", "failed")]
    assert events[0]["paths"] == [str(estate)]
    assert events[1]["code"] == "root_unknown"


def test_no_key_of_that_id_is_a_refusal(capsys, tmp_path):
    code, document = run(capsys, tmp_path / "data", "keys", "revoke", "nobody")
    assert (code, document["error"]["code"]) == (3, "key_unknown")


@pytest.mark.parametrize(
    "words",
    [
        ["create", ""],
        ["create", "a\nb"],
        ["create", "a" * 101],
        ["create", "a", "--scope", "everything"],
        ["create", "a", "--expires-in", "0d"],
        ["create", "a", "--expires-in", "-1d"],
        ["create", "a", "--expires-in", "٣d"],
        ["create", "a", "--expires-in", "soon"],
        ["create"],
    ],
)
def test_what_makes_no_sense_makes_no_key(capsys, tmp_path, words):
    assert main(["--data", str(tmp_path / "data"), "--json", "keys", *words]) == 2
    capsys.readouterr()
    assert run(capsys, tmp_path / "data", "keys", "list")[1] == {"keys": []}


def test_an_address_beyond_this_machine_asks_for_authentication():
    for host in ("0.0.0.0", "192.0.2.1"):
        with pytest.raises(SettingInvalid, match="authentication"):
            listen(Settings(host=host, port=0))
    with listen(Settings(host="0.0.0.0", port=0, authentication="required")) as listening:
        assert address(listening).startswith("http://127.0.0.1:")
