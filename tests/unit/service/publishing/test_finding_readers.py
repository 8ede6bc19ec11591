"""Who may read a finding."""

import pytest

from service.domain.diagnostics import Diagnostic, PublishDiagnostics, Severity
from service.domain.graph import Node, NodeIdentity, NodeKind
from service.publishing.finding_readers import classes_of, readers_of


def node(uid: str, path: str, *visible_to: str, docset: str = "d") -> Node:
    identity = NodeIdentity(uid, "en-us")
    return Node(identity, NodeKind.PAGE, title=uid, path=path, docset=docset, visible_to=visible_to, url=f"/{uid}")


NODES = [
    node("open", "open.md", "*"),
    node("staffs", "in/staffs.md", "staff"),
    node("legals own", "in/legal.md", "legal"),
    node("elsewhere", "x.md", "board", docset="other"),
]
STAFF, LEGAL, BOARD = ("staff",), ("legal",), ("board",)


def finding(file: str, message: str = "", fix: str = "") -> Diagnostic:
    return Diagnostic(file, 1, "c", message, Severity.WARNING, fix=fix)


@pytest.mark.parametrize(
    ("found", "asked"),
    [
        (finding("open.md", "A link leads nowhere."), ()),
        (finding("in/staffs.md"), (STAFF,)),
        (finding("in/includes/part.md"), (LEGAL, STAFF)),
        (finding("open.md", "In a circle: open → staffs → open."), (STAFF,)),
        (finding("open.md", "'staffs' is already the name of another."), (STAFF,)),
        (finding("open.md", "It is d/in/legal.md (en-us)."), (LEGAL,)),
        (finding("open.md", "See Legals Own, there."), (LEGAL,)),
        (finding("open.md", fix="Link to elsewhere."), (BOARD,)),
        (finding("in/staffs.md", "The link to /elsewhere points away."), (BOARD, STAFF)),
    ],
)
def test_it_is_for_who_may_see_its_file_and_all_that_it_names(found: Diagnostic, asked: object) -> None:
    assert readers_of(NODES, {"d"}, prefixed=False)(found) == asked


def test_files_are_told_apart_by_their_docset_where_it_stands_before_them() -> None:
    readers = readers_of([*NODES, node("mine", "open.md", "sales", docset="e")], {"d", "e"}, prefixed=True)
    assert readers(finding("d/open.md")) == ()
    assert readers(finding("e/open.md")) == (("sales",),)


def test_one_class_of_each_will_do() -> None:
    either = node("either", "either.md", "staff", "legal")
    told = PublishDiagnostics.of(
        [finding("either.md"), finding("in/staffs.md")],
        published_at="now",
        content_root="c",
        docsets={"d"},
        most=9,
        readers=readers_of([*NODES, either], {"d"}, prefixed=False),
    )
    assert [found.file for found in told.shown_to(frozenset({"*", "legal"}))] == ["either.md"]
    assert [found.file for found in told.shown_to(frozenset({"*", "staff"}))] == ["either.md", "in/staffs.md"]
    assert told.shown_to(frozenset({"*"})) == []


def test_a_docset_is_named_to_who_sees_something_of_it() -> None:
    told = PublishDiagnostics.of(
        [],
        published_at="now",
        content_root="c",
        docsets={"d", "other", "empty"},
        most=9,
        classes=classes_of(NODES, {"d", "other", "empty"}),
    )
    kept = PublishDiagnostics.from_json(told.as_json())
    assert kept.docsets_shown_to(frozenset({"*"})) == ["d"]
    assert kept.docsets_shown_to(frozenset({"*", "board"})) == ["d", "other"]
    earlier = {name: value for name, value in told.as_json().items() if name != "docset_classes"}
    assert PublishDiagnostics.from_json(earlier).docsets_shown_to(frozenset({"*", "board"})) == []


def test_what_an_earlier_version_kept_is_the_owners() -> None:
    told = PublishDiagnostics.of([finding("open.md")], published_at="now", content_root="c", docsets={"d"}, most=9)
    earlier = {name: value for name, value in told.as_json().items() if name != "readers"}
    assert PublishDiagnostics.from_json(earlier).shown_to(frozenset({"*", "staff", "legal"})) == []
