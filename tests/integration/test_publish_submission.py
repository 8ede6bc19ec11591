"""A client that reads the estate where it lies and publishes over HTTP: the result of publishing the folder itself."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from adapters.estates import ReadingRules, readers
from service import bootstrap
from service.domain.content import NodeRecord
from service.domain.errors import PublishFailed, PublishInProgress, RecordsMissing, Refused, SubmissionInvalid
from service.domain.principal import Principal, Scope
from service.domain.progress import Progress, silent
from service.domain.requests import PublishRequest
from service.domain.results import PublishResult
from service.domain.submission import MissingRequest, MissingResult, Submission
from service.publishing.estates import Reading, read_estates
from service.publishing.submitting import submission_of
from service.settings import Settings
from service.surfaces.application import application
from service.surfaces.authentication import Authenticator
from service.surfaces.command_line import main
from service.surfaces.command_line.submitting import submit
from service.surfaces.remote import RemoteToolbox
from tests.application import PAGES, Application, running, write_estate
from tests.engines import Neo4jAddress
from tests.neo4j_database import empty_database
from tests.surfaces.serving import PATIENT, served_opening

PUBLISHER = Principal("pipeline", scopes=frozenset({Scope.PUBLISH}))
READER = Principal("reader", scopes=frozenset({Scope.SEARCH}))


@dataclass
class Client:
    """What a pipeline has of a server: HTTP. Notes what it sends."""

    remote: RemoteToolbox
    sent: list[Submission] = field(default_factory=list)

    async def missing(self, request: MissingRequest) -> MissingResult:
        return await self.remote.missing(request)

    async def submit(self, submission: Submission, progress: Progress = silent) -> PublishResult:
        self.sent.append(submission)
        return await self.remote.submit(submission, progress)


@dataclass(frozen=True)
class Server:
    application: Application
    client: Client
    http: httpx.AsyncClient

    def submit(self, *estates: Path, strict: bool = False, dry_run: bool = False) -> PublishResult:
        request = PublishRequest(paths=[str(estate) for estate in estates], strict=strict, dry_run=dry_run)
        known = readers(ReadingRules())
        return self.application.run(submit(request, known, self.client, silent))  # type: ignore[arg-type]

    def send(self, submission: Submission) -> PublishResult:
        return self.application.run(self.client.submit(submission))

    def post(self, path: str, body: Any) -> httpx.Response:
        return self.application.run(self.http.post(path, content=json.dumps(body)))


@contextmanager
def serving(data: Path, caller: Principal = PUBLISHER, settings: Settings = PATIENT) -> Iterator[Server]:
    with running(data, settings) as local:
        app = application(local.tools, settings, authenticator=Authenticator(caller, is_required=True))
        transport = httpx.ASGITransport(app)
        remote = RemoteToolbox("http://127.0.0.1", None, settings, transport)
        http = httpx.AsyncClient(base_url="http://127.0.0.1", transport=transport)
        yield Server(local, Client(remote), http)
        local.run(remote.close())
        local.run(http.aclose())


def read(*estates: Path) -> Reading:
    return read_estates([str(estate) for estate in estates], readers(ReadingRules()))


def whole(reading: Reading, **changed: Any) -> Submission:
    told = submission_of(reading, [record.content_hash for record in reading.records], strict=False, dry_run=False)
    return told.model_copy(update=changed)


def same(one: PublishResult, other: PublishResult) -> bool:
    return one.model_copy(update={"seconds": 0}) == other.model_copy(update={"seconds": 0})


@pytest.fixture
def estate(tmp_path: Path) -> Path:
    return write_estate(tmp_path / "estate", PAGES | {"broken.md": "# Broken\n\nSee [nothing](nowhere.md).\n"})


def test_the_result_is_that_of_publishing_the_folder(tmp_path: Path, estate: Path) -> None:
    with running(tmp_path / "local") as local, serving(tmp_path / "remote") as server:
        here, there = local.publish(estate), server.submit(estate)
        assert same(here, there)
        assert there.added == 5
        assert [found.code for found in there.diagnostics] == [found.code for found in here.diagnostics]
        assert any(found.code == "link_broken" for found in there.diagnostics)
        (estate / "query.md").unlink()
        (estate / "colours.md").write_text("---\nuid: colours\n---\n# Colours\n\nPaint it teal.\n")
        here, there = local.publish(estate), server.submit(estate)
        assert same(here, there)
        assert (there.changed, there.removed) == (2, 1)  # what linked to the page that is gone links to nothing now
        assert server.application.uids("paint it teal") == local.uids("paint it teal")
        assert server.application.run(server.application.tools.doctor(repair=False)).healthy


def test_only_what_the_server_lacks_is_sent(tmp_path: Path, estate: Path) -> None:
    with serving(tmp_path / "data") as server:
        server.submit(estate)
        (estate / "colours.md").write_text("---\nuid: colours\n---\n# Colours\n\nPaint it teal.\n")
        server.submit(estate)
        again = server.submit(estate)
        sent = [sorted(record.node.identity.uid for record in told.records) for told in server.client.sent]
        assert sent == [["clients", "colours", "estate/broken", "install", "query"], ["colours"], []]
        assert (again.unchanged, again.generation) == (5, 2)


def test_a_dry_run_changes_nothing_and_strict_refuses(tmp_path: Path, estate: Path) -> None:
    with serving(tmp_path / "data") as server:
        trial = server.submit(estate, dry_run=True)
        assert (trial.dry_run, trial.added) == (True, 5)
        with pytest.raises(PublishFailed, match="strict"):
            server.submit(estate, strict=True)
        assert server.application.nodes().total == 0


def test_other_docsets_stay(tmp_path: Path, estate: Path) -> None:
    other = write_estate(tmp_path / "other", {"o.md": "# Other\n\nAnother estate.\n"})
    with serving(tmp_path / "data") as server:
        server.submit(estate)
        assert server.submit(other).removed == 0
        assert "other/o" in server.application.uids("another estate")


def forged(record: NodeRecord, **changed: Any) -> NodeRecord:
    return NodeRecord(replace(record.node, **changed), record.sections, record.references)


def test_what_contradicts_itself_is_refused(tmp_path: Path, estate: Path) -> None:
    reading = read(estate)
    first, second = reading.records[:2]
    told = whole(reading)

    def named(record: NodeRecord) -> list[Any]:
        rest = [entry for entry in told.manifest if entry[:2] != record.node.identity]
        return [*rest, (*record.node.identity, record.content_hash)]

    unseen, stray = forged(first, visible_to=()), forged(first, docset="elsewhere")
    rest = list(reading.records[1:])
    wrong = {
        "another hash": {"records": [forged(first, title="Forged"), *rest]},
        "a record that is not in the manifest": {"records": [*reading.records, forged(first, title="Second")]},
        "a hash of another record": {"manifest": [(*first.node.identity, second.content_hash), *told.manifest[1:]]},
        "an identity twice": {"manifest": [*told.manifest, told.manifest[0]]},
        "a record of another docset": {"records": [stray, *rest], "manifest": named(stray)},
        "a record that nobody sees": {"records": [unseen, *rest], "manifest": named(unseen)},
    }
    with serving(tmp_path / "data") as server:
        for changed in wrong.values():
            with pytest.raises(SubmissionInvalid):
                server.send(whole(reading, **changed))
        with pytest.raises(RecordsMissing, match="1 records"):
            server.send(whole(reading, records=rest))
        assert server.application.nodes().total == 0
        assert server.send(told).added == 5


def test_what_has_the_wrong_shape_is_refused(tmp_path: Path, estate: Path) -> None:
    good = json.loads(whole(read(estate)).model_dump_json(by_alias=True))

    def broken(*path: Any, value: Any) -> Any:
        body = json.loads(json.dumps(good))
        place = body
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        return body

    with serving(tmp_path / "data") as server:
        for body in (
            [],
            {},
            broken("records", 0, "node", "title", value=5),
            broken("records", 0, "node", "kind", value="nonsense"),
            broken("records", 0, "node", "extra", value={"a": [1]}),
            broken("records", 0, "surplus", value=1),
            broken("manifest", 0, 2, value="ABC"),
            broken("manifest", 0, 1, value="en:us"),
            broken("docsets", value=[""]),
            broken("strict", value="yes"),
        ):
            answer = server.post("/v1/publish/records", body)
            assert (answer.status_code, answer.json()["code"]) == (422, "request_invalid"), body
        answer = server.application.run(server.http.post("/v1/publish/records", content=b'{"docsets": ['))
        assert answer.status_code == 422
        assert server.application.nodes().total == 0


def test_two_at_once(tmp_path: Path, estate: Path) -> None:
    told = whole(read(estate))

    async def both(client: Client) -> list[Any]:
        return await asyncio.gather(client.submit(told), client.submit(told), return_exceptions=True)

    with serving(tmp_path / "data") as server:
        outcomes = server.application.run(both(server.client))
        assert {type(outcome) for outcome in outcomes} == {PublishInProgress, PublishResult}


def test_who_may_not_publish_is_not_even_read(tmp_path: Path, estate: Path) -> None:
    small = PATIENT.model_copy(update={"request_bytes": 1_024})
    body = whole(read(estate))
    with serving(tmp_path / "data", READER, small) as server:
        for path in ("/v1/publish/missing", "/v1/publish/records"):
            refused = server.post(path, {"hashes": []})
            assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
        with pytest.raises(Refused, match="larger than"):
            server.send(body)
    with serving(tmp_path / "other", PUBLISHER, small) as server:
        assert server.send(body).added == 5


def test_the_size_is_bounded(tmp_path: Path, estate: Path) -> None:
    with serving(tmp_path / "data", settings=PATIENT.model_copy(update={"publish_bytes": 2_048})) as server:
        with pytest.raises(Refused) as refused:
            server.submit(estate)
        assert refused.value.code == "body_too_large"


def test_the_command(tmp_path: Path, estate: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running(tmp_path / "local") as local:
        here = local.publish(estate)

    @asynccontextmanager
    async def server() -> AsyncIterator[FastAPI]:
        async with bootstrap.open_toolbox(PATIENT, tmp_path / "data") as tools:
            yield application(tools, PATIENT, authenticator=Authenticator(PUBLISHER, is_required=True))

    with served_opening(server()) as url:
        assert main(["--data", str(tmp_path / "none"), "--json", "publish", str(estate), "--server", url]) == 0
    answered = json.loads(capsys.readouterr().out)
    assert answered["contentRoot"] == here.content_root
    assert [found["code"] for found in answered["diagnostics"]] == [found.code for found in here.diagnostics]
    assert not (tmp_path / "none").exists()


@pytest.mark.anyio
async def test_the_key_is_presented() -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["Authorization"])
        return httpx.Response(200, json={"missing": []})

    remote = RemoteToolbox("http://docs", None, PATIENT, httpx.MockTransport(answer), key="secret")
    await remote.missing(MissingRequest(hashes=[]))
    await remote.close()
    assert seen == ["Bearer secret"]


@pytest.mark.engines
@pytest.mark.timeout(300)
def test_on_neo4j_and_opensearch(
    tmp_path: Path, estate: Path, neo4j_server: Neo4jAddress, opensearch_server: str
) -> None:
    async def emptied() -> None:
        async with empty_database(neo4j_server):
            pass

    asyncio.run(emptied())
    settings = PATIENT.model_copy(
        update={
            "neo4j_url": neo4j_server.uri,
            "neo4j_user": neo4j_server.user,
            "neo4j_password": SecretStr(neo4j_server.password),
            "opensearch_url": opensearch_server,
            "engine_prefix": f"test-{uuid.uuid4().hex[:8]}",
        }
    )
    with running(tmp_path / "local") as local:
        first = local.publish(estate)
    with serving(tmp_path / "data", settings=settings) as server:
        assert same(server.submit(estate), first)
        (estate / "query.md").unlink()
        second = server.submit(estate)
        assert (second.removed, len(server.client.sent[-1].records)) == (1, 1)
        assert server.application.run(server.application.tools.doctor(repair=False)).findings == []
