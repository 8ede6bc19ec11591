import json

import pytest

from cypher_guard.violation import Violation
from service.domain import errors
from service.surfaces import problems
from service.surfaces.problems import ProblemResponses, problem_of


def families(*roots: type[Exception]) -> list[type[Exception]]:
    found = []
    for root in roots:
        found += [root, *families(*root.__subclasses__())]
    return found


def made(kind: type[Exception]) -> Exception:
    """An error of the kind, without going through the constructor that words it."""
    error = kind.__new__(kind)
    for name in ("message", "engine", "reason", "suggestion"):
        setattr(error, name, f"the {name}")
    error.diagnostics = ()
    return error


@pytest.mark.parametrize("kind", families(errors.Refused))
def test_every_refusal_is_the_callers_fault_and_keeps_its_code(kind):
    problem = problem_of(made(kind))
    assert 400 <= problem.status < 500
    assert (problem.code, problem.detail, problem.suggestion) == (kind.code, "the message", "the suggestion")


@pytest.mark.parametrize("kind", families(errors.Unavailable))
def test_every_unavailability_may_pass_and_says_when_to_come_back(kind):
    response = ProblemResponses(retry_after=7).of(made(kind))
    late = issubclass(kind, errors.EngineLate | problems.RequestLate)
    assert response.status_code == (504 if late else 503)
    assert response.headers["Retry-After"] == "7"


@pytest.mark.parametrize("kind", families(errors.PublishFailed))
def test_a_failed_publish_is_no_crash(kind):
    assert problem_of(made(kind)).status in (409, 422)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.NodeUnknown("no"), 404),
        (errors.CursorStale("moved on"), 410),
        (errors.CursorForeign("not ours"), 400),
        (errors.PublishInProgress("another"), 409),
        (errors.EngineLate("tantivy"), 504),
        (errors.AllLegsDown("none"), 503),
    ],
)
def test_statuses_that_clients_branch_on(error, status):
    assert problem_of(error).status == status


def test_a_violation_keeps_its_place_and_what_to_do():
    violation = Violation("too_deep", "Nine hops.", line=2, column=5, excerpt="-[:xref*9]-", suggestion="Ask for 4.")
    body = json.loads(ProblemResponses(retry_after=1).of(violation).body)
    assert body == {
        "type": "urn:cogitave-query:problem:too_deep",
        "title": "The guard refused the query",
        "status": 422,
        "detail": "Nine hops.",
        "code": "too_deep",
        "suggestion": "Ask for 4.",
        "line": 2,
        "column": 5,
        "excerpt": "-[:xref*9]-",
    }


def test_a_violation_of_no_place_names_none():
    assert problem_of(Violation("timeout", "Late.")).line is None


def test_an_engine_that_is_down_is_named_with_its_reason():
    problem = problem_of(errors.EngineUnavailable("kglite", "closed"))
    assert (problem.engine, problem.reason) == ("kglite", "closed")


def test_a_bug_is_answered_without_its_words_and_with_the_name_of_its_log_entry():
    problem = problem_of(RuntimeError("password=hunter2"))
    assert problem.status == 500
    assert "hunter2" not in problem.model_dump_json()
    assert problem.instance is not None
    assert problem.instance.startswith("urn:uuid:")


def test_every_problem_that_leaves_is_seen():
    seen = []
    ProblemResponses(retry_after=1, seen=seen.append).of(errors.QueryEmpty("Ask."))
    assert [problem.code for problem in seen] == ["query_empty"]
