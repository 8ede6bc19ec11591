import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.embedded.data_folder import LAYOUT, DataFolder, Owner
from service.domain.errors import DataFolderHeld, DataFolderUnwritable, DataFolderVersionUnknown

OWNING = """
import sys
from pathlib import Path
from adapters.embedded.data_folder import DataFolder

with DataFolder.open(Path(sys.argv[1])) as folder:
    folder.announce("http://127.0.0.1:1")
    print("owned", flush=True)
    sys.stdin.read()
"""


def owning_process(folder: Path) -> "subprocess.Popen[str]":
    """A process that owns the folder and serves it, until its standard input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNING, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "owned\n"
    return process


def test_a_new_folder_is_made_and_given_up_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "data"
    assert DataFolder.owner(path) is None
    with DataFolder.open(path):
        assert DataFolder.owner(path) == Owner(os.getpid())
        assert json.loads((path / "layout.json").read_text()) == {"layout": LAYOUT}
    assert DataFolder.owner(path) is None
    with DataFolder.open(path):
        pass


def test_only_its_user_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with DataFolder.open(path) as folder:
        folder.announce("http://127.0.0.1:1")
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert stat.S_IMODE((path / "owner.json").stat().st_mode) == 0o600


def test_one_owner_at_a_time(tmp_path: Path) -> None:
    with DataFolder.open(tmp_path / "data"):
        with pytest.raises(DataFolderHeld, match=str(os.getpid())):
            DataFolder.open(tmp_path / "data")
        with DataFolder.open(tmp_path / "another"):
            pass


def test_others_learn_where_the_owner_serves(tmp_path: Path) -> None:
    path = tmp_path / "data"
    process = owning_process(path)
    try:
        owner = DataFolder.owner(path)
        assert owner is not None
        assert (owner.pid, owner.url) == (process.pid, "http://127.0.0.1:1")
        assert owner.token is not None
        assert len(owner.token) >= 32
        with pytest.raises(DataFolderHeld, match=r"http://127\.0\.0\.1:1"):
            DataFolder.open(path)
    finally:
        process.communicate(timeout=30)
    assert DataFolder.owner(path) is None


def test_each_serving_has_its_own_token(tmp_path: Path) -> None:
    with DataFolder.open(tmp_path / "data") as folder:
        assert folder.announce("http://127.0.0.1:1").token != folder.announce("http://127.0.0.1:1").token


def test_a_killed_owner_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "data"
    process = owning_process(path)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    assert (path / "owner.json").exists()
    assert DataFolder.owner(path) is None
    with DataFolder.open(path):
        assert DataFolder.owner(path) == Owner(os.getpid())


@pytest.mark.parametrize("left", ["", "{", "[]", '{"pid": "x"}', "\x00\xff"])
def test_an_owner_file_that_says_nothing(tmp_path: Path, left: str) -> None:
    path = tmp_path / "data"
    with DataFolder.open(path):
        (path / "owner.json").write_bytes(left.encode("latin-1"))
        owner = DataFolder.owner(path)
        assert owner is not None
        assert owner.url is None
        with pytest.raises(DataFolderHeld):
            DataFolder.open(path)


@pytest.mark.parametrize("layout", ['{"layout": 999}', "{}", "nonsense", "[]", '{"layout": "1"}'])
def test_a_folder_of_another_version_stays_as_it_is(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "data"
    path.mkdir()
    (path / "layout.json").write_text(layout)
    with pytest.raises(DataFolderVersionUnknown):
        DataFolder.open(path)
    assert (path / "layout.json").read_text() == layout
    assert DataFolder.owner(path) is None


def test_a_folder_of_something_else_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "thesis.md").write_text("# Mine")
    with pytest.raises(DataFolderVersionUnknown, match="--data"):
        DataFolder.open(tmp_path)
    assert not (tmp_path / "layout.json").exists()


def test_the_development_stack_may_have_been_there_first(tmp_path: Path) -> None:
    (tmp_path / "data" / "stack" / "neo4j").mkdir(parents=True)
    with DataFolder.open(tmp_path / "data"):
        pass
    assert (tmp_path / "data" / "stack" / "neo4j").is_dir()


def test_a_start_that_was_killed_half_way_is_begun_again(tmp_path: Path) -> None:
    (tmp_path / "owner.lock").touch()
    (tmp_path / "layout.partial").write_text('{"lay')
    with DataFolder.open(tmp_path):
        assert json.loads((tmp_path / "layout.json").read_text()) == {"layout": LAYOUT}


@pytest.mark.parametrize("below", ["", "data"])
def test_a_file_is_no_folder(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFolderUnwritable, match="--data"):
        DataFolder.open(tmp_path / "file" / below)
    assert DataFolder.owner(tmp_path / "file" / below) is None


def test_a_read_only_folder(tmp_path: Path) -> None:
    # The superuser writes wherever the file system lets anyone: /sys lets nobody.
    path = Path("/sys/cogitave-query") if os.geteuid() == 0 else tmp_path
    tmp_path.chmod(0o500)
    with pytest.raises(DataFolderUnwritable):
        DataFolder.open(path)
    tmp_path.chmod(0o700)


def test_a_full_disk_is_said_and_the_folder_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(DataFolderUnwritable, match="No space left"):
            DataFolder.open(tmp_path / "data")
    with DataFolder.open(tmp_path / "data"):
        pass
