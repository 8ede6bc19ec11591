"""The client of a server that owns the data folder, over the real HTTP application."""

import json
from dataclasses import replace

import httpx
import pytest

from cypher_guard.violation import Violation
from service.domain import errors
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.principal import ANONYMOUS
from service.domain.requests import (
    FetchRequest,
    GraphQueryRequest,
    LearningPathRequest,
    ListRequest,
    NodesRequest,
    PublishRequest,
    RelatedRequest,
    SampleRequest,
    SchemaRequest,
    SearchRequest,
    SuggestRequest,
    WhyNotRequest,
    XrefRequest,
)
from service.settings import Settings
from service.surfaces.application import application
from service.surfaces.remote import RemoteToolbox, ServerFailed, ServerGone, error_of_problem
from service.tools import catalogue
from tests.surfaces.conftest import OWNER_TOKEN
from tests.surfaces.fake_toolbox import ROOT, FakeToolbox, hit, search_result

pytestmark = pytest.mark.anyio

URL = "http://127.0.0.1:8080"


def remote(app, token=OWNER_TOKEN, settings=None):
    return RemoteToolbox(URL, token, settings or Settings(), transport=httpx.ASGITransport(app))


@pytest.fixture
async def client(toolbox, settings):
    box = remote(application(toolbox, settings, owner_token=OWNER_TOKEN))
    yield box
    await box.close()


REQUESTS = {
    "docs_search": SearchRequest(text='"unbalanced: C#/🙂', limit=3, filter={"kind": ["page"]}, explain=True),
    "why_not": WhyNotRequest(search=SearchRequest(text="fusion"), uid="a/b c#ctor*"),
    "list_nodes": ListRequest(limit=5, filter={"kind": ["page", "unit"]}),
    "docs_fetch": FetchRequest(uid="../..", locale="de-de"),
    "docs_fetch_batch": NodesRequest(uids=["../..", "nobody"]),
    "query_graph": GraphQueryRequest(cypher="MATCH (n) RETURN n.uid", parameters={"none": None, "list": [1, "a"]}),
    "code_sample_search": SampleRequest(text="fuse(", language="c#", filter={"product": ["manual"]}),
    "get_related": RelatedRequest(uid="a/b c#ctor*", limit=3),
    "get_learning_path": LearningPathRequest(goal="course.second", known_skills=["x y"], level="beginner", minutes=5),
    "resolve_xref": XrefRequest(uids=["List`1.Add*", "nobody"], moniker="net-8.0"),
    "suggest": SuggestRequest(text="a/b c#", limit=3),
    "describe_schema": SchemaRequest(),
}


@pytest.mark.parametrize("tool", catalogue.TOOLS, ids=lambda tool: tool.name)
async def test_a_call_over_the_server_is_the_call(client, toolbox, tool):
    request = REQUESTS[tool.name]
    over_http = await client.call(tool, request, ANONYMOUS)
    in_process = await toolbox.call(tool, request, ANONYMOUS)
    assert toolbox.asked == [request, request]
    assert over_http == in_process


async def test_the_owners_work_over_the_server_is_the_work(client, toolbox):
    toolbox.sick = True
    assert await client.roots() == await toolbox.roots()
    assert await client.rollback(ROOT) == await toolbox.rollback(ROOT)
    assert await client.doctor(repair=False) == await toolbox.doctor(repair=False)
    assert await client.doctor(repair=True) == await toolbox.doctor(repair=True)
    assert toolbox.asked == [None, None, ROOT, ROOT, False, False, True, True]


async def test_a_rollback_to_an_unknown_root_is_refused(client):
    with pytest.raises(errors.RootUnknown):
        await client.rollback("nothing")


async def test_an_unready_server_still_reports_its_readiness(client, toolbox):
    toolbox.ready = False
    assert await client.readiness() == await toolbox.readiness()


def every_error():
    plain = [
        kind("what to do next", suggestion="kind")
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.Refused)
    ]
    unavailable = [
        kind("why")
        for kind in vars(errors).values()
        if isinstance(kind, type)
        and issubclass(kind, errors.Unavailable | errors.PublishFailed)
        and not issubclass(kind, errors.EngineUnavailable)
    ]
    engines = [errors.EngineUnavailable("tantivy", "disk"), errors.EngineLate("kglite")]
    violation = Violation("unbounded", "No end.", line=2, column=7, excerpt="-[*]->", suggestion="*1..4")
    found = Diagnostic("docs/a.md", 3, "link_broken", "There is no 'x'.", Severity.WARNING, 7, "Did you mean y?")
    strict = errors.PublishFailed("Nothing was published: strict.", [found, replace(found, severity=Severity.ERROR)])
    return [*plain, *unavailable, *engines, violation, strict]


@pytest.mark.parametrize("error", every_error(), ids=lambda error: getattr(error, "code", ""))
async def test_an_error_crosses_the_wire_unchanged(client, toolbox, error):
    toolbox.failure = error
    with pytest.raises(type(error)) as raised:
        await client.call(catalogue.SEARCH, SearchRequest(text="fusion"), ANONYMOUS)
    assert type(raised.value) is type(error)
    assert vars(raised.value) == vars(error)
    assert str(raised.value) == str(error)


def test_a_code_from_a_newer_server_keeps_its_family():
    newer = {"status": 409, "code": "brand_new", "detail": "Do that.", "suggestion": "this"}
    error = error_of_problem(newer)
    assert type(error) is errors.Refused
    assert (error.code, error.message, error.suggestion) == ("brand_new", "Do that.", "this")
    assert errors.Refused.code == "refused"
    assert type(error_of_problem({"status": 500, "code": "internal", "detail": "A fault."})) is ServerFailed


async def test_half_a_surrogate_pair_is_refused_by_the_server(client):
    with pytest.raises(errors.Refused):
        await client.call(catalogue.SEARCH, SearchRequest(text="\udc80"), ANONYMOUS)


async def test_a_publish_goes_to_the_server(client, toolbox):
    request = PublishRequest(paths=["/estates/manual"], dry_run=True)
    assert await client.publish(request) == await toolbox.publish(request)
    assert toolbox.asked == [request, request]


async def test_a_publish_reports_each_line_of_progress(toolbox):
    done = await toolbox.publish(PublishRequest(paths=["/estates/manual"]))
    lines = [
        {"progress": {"stage": "embedding", "done": 1, "total": 2}},
        {"progress": {"stage": "embedding", "done": 2, "total": 2}},
        {"result": done.model_dump(mode="json", by_alias=True)},
    ]
    stream = httpx.Response(200, text="".join(json.dumps(line) + "\n" for line in lines))
    box = RemoteToolbox(URL, OWNER_TOKEN, Settings(), transport=httpx.MockTransport(lambda _request: stream))
    seen = []
    assert await box.publish(PublishRequest(paths=["/estates/manual"]), lambda *step: seen.append(step)) == done
    assert seen == [("embedding", 1, 2), ("embedding", 2, 2)]
    await box.close()


async def test_a_publish_that_fails_raises_what_it_raised(client, toolbox):
    toolbox.failure = errors.PublishInProgress("Another publish is under way.")
    with pytest.raises(errors.PublishInProgress, match="under way"):
        await client.publish(PublishRequest(paths=["/estates/manual"]))


async def test_only_the_folders_token_makes_an_owner(toolbox, settings):
    stranger = remote(application(toolbox, settings, owner_token=OWNER_TOKEN), token="guessed")
    for attempt in (
        lambda: stranger.publish(PublishRequest(paths=["/estates/manual"])),
        lambda: stranger.rollback(ROOT),
        lambda: stranger.doctor(repair=True),
        stranger.roots,
    ):
        with pytest.raises(errors.Refused) as refused:
            await attempt()
        assert refused.value.code == "credentials_invalid"
    await stranger.close()
    assert toolbox.asked == []


async def answer_of(response):
    box = RemoteToolbox(URL, None, Settings(), transport=httpx.MockTransport(lambda _request: response))
    try:
        return await box.call(catalogue.SEARCH, SearchRequest(text="fusion"), ANONYMOUS)
    finally:
        await box.close()


@pytest.mark.parametrize("body", ["<html>", "[]", "{}", '{"hits": 3}'])
async def test_an_answer_of_another_shape_is_the_servers_fault(body):
    with pytest.raises(ServerFailed):
        await answer_of(httpx.Response(200, text=body))


@pytest.mark.parametrize("body", ["<html>", "[]", '"x"', ""])
async def test_an_error_without_a_problem_is_told_by_its_status(body):
    with pytest.raises(ServerFailed):
        await answer_of(httpx.Response(502, text=body))
    with pytest.raises(errors.Refused):
        await answer_of(httpx.Response(404, text=body))


async def test_a_field_of_a_newer_server_is_passed_over():
    newer = search_result([hit(1)]).model_dump(mode="json", by_alias=True) | {"brandNew": 1}
    assert (await answer_of(httpx.Response(200, json=newer))).hits == [hit(1)]


async def test_a_server_that_is_gone_says_so():
    def refuse(request):
        raise httpx.ConnectError("connection refused", request=request)

    box = RemoteToolbox(URL, None, Settings(), transport=httpx.MockTransport(refuse))
    assert not await box.is_alive()
    with pytest.raises(ServerGone, match=URL):
        await box.call(catalogue.SEARCH, SearchRequest(text="fusion"), ANONYMOUS)
    await box.close()


async def test_a_stream_that_breaks_off_is_no_success():
    progress_only = httpx.Response(200, text='{"progress": {"stage": "read", "done": 1, "total": 2}}\n')
    box = RemoteToolbox(URL, None, Settings(), transport=httpx.MockTransport(lambda _request: progress_only))
    with pytest.raises(ServerGone, match="again"):
        await box.publish(PublishRequest(paths=["/estates/manual"]))
    await box.close()


async def test_a_server_that_does_not_answer_is_late():
    app = application(FakeToolbox(hang=True), Settings(request_deadline=10), owner_token=OWNER_TOKEN)
    box = remote(app)
    with pytest.raises(errors.Unavailable):
        await box.call(catalogue.SEARCH, SearchRequest(text="fusion"), ANONYMOUS)
    await box.close()
