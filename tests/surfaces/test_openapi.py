"""The document says what the routes do: read by a stranger, and fuzzed."""

import pytest
import schemathesis
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from schemathesis.checks import (
    CHECKS,
    CheckFunction,
)

from service.settings import Settings
from service.surfaces import openapi
from service.surfaces.application import application
from service.tools import catalogue
from tests.surfaces.fake_toolbox import FakeToolbox

APPLICATION = application(FakeToolbox(), Settings())
DOCUMENT = APPLICATION.openapi()

schema = schemathesis.openapi.from_asgi("/openapi.json", APPLICATION)

LEFT_OUT = {"positive_data_acceptance"}
"""A schema can't say all that is refused: a blank text, a filter that does not exist."""


def checks() -> list[CheckFunction]:
    return [CHECKS.get_one(name) for name in CHECKS.get_all_names() if name not in LEFT_OUT]


@schema.parametrize()
@hypothesis_settings(max_examples=40, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_request_breaks_the_service_or_its_document(case):
    case.call_and_validate(checks=checks())


def test_it_is_openapi_3_1():
    assert DOCUMENT["openapi"].startswith("3.1.")


def test_every_operation_says_what_it_is_for_and_how_it_refuses():
    operations = [operation for path in DOCUMENT["paths"].values() for operation in path.values()]
    links, content, health = 4, 5, 2
    assert len(operations) == len(catalogue.TOOLS) + links + content + health
    for operation in operations:
        assert operation["summary"]
        problems = [
            code
            for code, response in operation["responses"].items()
            if "application/problem+json" in response.get("content", {})
        ]
        assert "500" in problems
        assert "504" in problems
        assert "HTTPValidationError" not in str(operation)


@pytest.mark.parametrize("tool", catalogue.TOOLS, ids=lambda tool: tool.name)
def test_the_examples_are_requests(tool):
    assert openapi.EXAMPLES[tool.name]
    for example in openapi.EXAMPLES[tool.name].values():
        read = tool.request.model_validate(example["value"])
        assert read.model_dump(by_alias=True, exclude_unset=True) == example["value"]


def test_names_in_the_document_are_the_wires():
    assert "nextCursor" in DOCUMENT["components"]["schemas"]["SearchResult"]["properties"]
    assert "currentDocument" in DOCUMENT["components"]["schemas"]["SearchRequest"]["properties"]


@pytest.mark.parametrize("operation", ["publish", "rollback", "doctor", "roots"])
def test_the_owners_work_is_not_for_strangers_to_read_about(operation):
    assert f"/v1/{operation}" not in DOCUMENT["paths"]
