import pytest

from stack.distribution import NEO4J, OPENSEARCH, Distribution
from stack.lockfile import Jar, Lock, parse_coordinates, parse_lock, read_lock, render_lock


def test_a_lock_reads_back_as_it_was_written() -> None:
    plain = Jar("lib", "org.example", "engine", "1.2", "", "a" * 64)
    native = Jar("plugins", "io.example", "epoll", "4.2", "linux-x86_64", "b" * 64)
    lock = Lock((plain, native))
    text = render_lock(lock)
    assert text == (
        f"lib org.example:engine:jar:1.2 {'a' * 64}\nplugins io.example:epoll:jar:linux-x86_64:4.2 {'b' * 64}\n"
    )
    assert set(parse_lock(text).jars) == {plain, native}


def test_the_digest_moves_with_any_checksum() -> None:
    before = Lock((Jar("lib", "g", "a", "1", "", "a" * 64),))
    after = Lock((Jar("lib", "g", "a", "1", "", "b" * 64),))
    assert before.digest != after.digest


def test_jars_of_one_name_in_two_groups_have_files_of_their_own() -> None:
    one = Jar("lib", "org.one", "core", "1", "", "a" * 64)
    other = Jar("lib", "org.other", "core", "1", "", "b" * 64)
    assert one.filename == "org.one.core-1.jar"
    assert other.filename == "org.other.core-1.jar"


@pytest.mark.parametrize("text", ["org.example:engine:pom:1", "org.example:engine:jar:a:b:1", "engine:1"])
def test_what_is_no_jar_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not "):
        parse_coordinates(text)


@pytest.mark.parametrize("distribution", [NEO4J, OPENSEARCH], ids=lambda d: d.name)
def test_the_checked_in_lock_holds_every_root_once_and_a_compiler(distribution: Distribution) -> None:
    jars = read_lock(distribution.name).jars
    names = [jar.filename for jar in jars]
    assert len(names) == len(set(names))
    locked = {jar.coordinates: jar.folder for jar in jars}
    assert {locked[root] for root in distribution.roots} == {"lib"}
    assert {locked[root] for root in distribution.plugin_roots} <= {"plugins"}
    assert [jar.artifact for jar in jars if jar.folder == "compiler"] == ["ecj"]
    assert all(len(jar.sha256) == 64 for jar in jars)
