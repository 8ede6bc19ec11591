"""What is kept of a publish's diagnostics."""

import json

from service.domain.diagnostics import Diagnostic, PublishDiagnostics, Severity


def found(file: str, code: str, severity: Severity) -> Diagnostic:
    return Diagnostic(file, 1, code, "Something.", severity)


EVERY = [
    found("a.md", "n", Severity.NOTE),
    found("b.md", "w", Severity.WARNING),
    found("c.md", "e", Severity.ERROR),
    found("a.md", "w", Severity.WARNING),
]


def kept(most: int) -> PublishDiagnostics:
    return PublishDiagnostics.of(EVERY, published_at="now", content_root="c", docsets={"y", "x"}, most=most)


def test_the_gravest_are_kept_and_all_are_counted() -> None:
    assert [(one.file, one.code) for one in kept(3).kept] == [("c.md", "e"), ("a.md", "w"), ("b.md", "w")]
    assert kept(1).counts == ((Severity.ERROR, "e", 1), (Severity.WARNING, "w", 2), (Severity.NOTE, "n", 1))
    assert kept(0).docsets == ("x", "y")


def test_they_read_back_from_their_json() -> None:
    assert PublishDiagnostics.from_json(json.loads(json.dumps(kept(9).as_json()))) == kept(9)
