"""File patterns: what they match, and that none of them takes its time."""

import time

import pytest

from adapters.estates.globs import GlobInvalid, check_glob, matches


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("**/*.md", ["a.md", "x/a.md", "x/y/a.md"], ["a.yml", "x/a.md/b"]),
        ("**.yml", ["a.yml", "x/y/a.yml"], ["a.md"]),
        ("*.md", ["a.md", "A.MD"], ["x/a.md"]),
        ("docs/**", ["docs/a.md", "docs/x/a.md"], ["docs", "other/docs/a.md"]),
        ("core/**/**.md", ["core/a.md", "core/x/y/a.md"], ["a.md"]),
        ("**/includes/**", ["includes/a.md", "x/includes/y/a.md"], ["includes", "x/include/a.md"]),
        ("**/_*/**", ["_x/a.md", "y/_x/a.md"], ["_x", "y/x_/a.md"]),
        ("{a,b}/*.{md,yml}", ["a/x.md", "b/x.yml"], ["c/x.md", "a/x.txt"]),
        ("a?c/**/d*e*.md", ["abc/de.md", "abc/x/y/dxxeyy.md"], ["ac/de.md", "abc/ed.md"]),
        ("x/**/y/**/z.md", ["x/y/z.md", "x/1/y/2/3/z.md", "x/y/y/z.md"], ["x/z.md", "y/x/z.md"]),
        ("**/a/**/b", ["a/b", "a/a/c/b", "x/a/b"], ["b", "a"]),
        ("./a.md", ["a.md"], ["b.md"]),
        ("a[1].md", ["a[1].md"], ["a1.md"]),
        ("**", ["a", "a/b"], []),
    ],
)
def test_what_a_pattern_matches(pattern, inside, outside):
    assert [path for path in inside if not matches(path, (pattern,))] == []
    assert [path for path in outside if matches(path, (pattern,))] == []


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 40 + "b", "a" * 250),
        ("**/a/" * 40 + "b", "a/" * 2_000 + "c"),
        ("**a" * 6 + "b", "a/" * 1_000),
        ("{a,b}" * 60, "a" * 60),
        ("{" * 500, "a"),
    ],
)
def test_a_pattern_made_to_cost_time_costs_none(pattern, path):
    started = time.process_time()
    assert not matches(path, (pattern,))
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    "pattern", ["", " a", "/a/**", "../a", "a/../b", "a\\b", "[ab].md", "!a", "{a,b", "{a,b}" * 20]
)
def test_a_pattern_that_may_mean_something_else_is_refused(pattern):
    with pytest.raises(GlobInvalid):
        check_glob(pattern)


@pytest.mark.parametrize("pattern", ["**", "a/**", "*.md", "{internal,drafts}/**/*.md", "Größe/?.md"])
def test_a_plain_pattern_is_accepted(pattern):
    check_glob(pattern)
