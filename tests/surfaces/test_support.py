"""The support bundle: what somebody who helps needs, and nothing that is nobody's business."""

import json
import logging
import zipfile

import httpx
import pytest
import structlog
from pydantic import SecretStr

from service.settings import ENVIRONMENT_PREFIX, Settings
from service.surfaces.logging import configure_logging
from service.surfaces.support import RecentLines, presentable, presentable_settings, support
from tests.surfaces.fake_toolbox import FakeToolbox
from tests.surfaces.test_command_line_processes import COMMAND, SECONDS, first_document

SECRET = "pl4nted-s3cret"
WORDS = "unmistakable"

SECRETS = [name for name, field in Settings.model_fields.items() if field.annotation is SecretStr]
ADDRESSES = [
    name for name in Settings.model_fields if name.endswith(("_url", "_endpoint", "_issuer")) and name not in SECRETS
]


def planted():
    """A secret in every setting that may hold one: as a secret, or in an address."""
    secret = {name: f"{SECRET}-{name}" for name in SECRETS}
    secret |= {
        "trace_headers": f"authorization=Bearer {SECRET}-header",
        "redis_url": f"redis://:{SECRET}-redis@127.0.0.1:1/0",
    }
    return secret | dict.fromkeys(ADDRESSES, f"https://user:{SECRET}@host.example:8443/{SECRET}?key={SECRET}")


def test_no_setting_tells_its_secret():
    assert SECRETS
    assert {"neo4j_url", "opensearch_url", "qdrant_url", "embedder_url", "trace_endpoint"} <= set(ADDRESSES)
    settings = Settings.model_construct(
        **Settings().model_dump()
        | planted()
        | {name: SecretStr(planted()[name]) for name in SECRETS}
        | {"allowed_origins": (f"https://user:{SECRET}@chat.example.org",)}
    )
    shown = presentable_settings(settings)
    assert SECRET not in json.dumps(shown)
    assert shown["neo4j_password"] == "set"
    assert shown["qdrant_url"] == "https://host.example:8443"
    assert shown["fusion_k"] == "60"
    assert shown.keys() == Settings.model_fields.keys()


@pytest.mark.anyio
async def test_what_still_slips_through_is_hidden():
    settings = Settings(qdrant_key=SecretStr(SECRET), trace_headers=SecretStr(f"a=b,authorization=Bearer {SECRET}2"))
    told = await support(FakeToolbox(), settings, metrics=f"x {SECRET}", log=[{"event": [f"{SECRET}2"]}])
    assert SECRET not in told.model_dump_json()
    assert told.log == [{"event": ["[hidden]"]}]
    assert told.readiness.engines
    assert told.versions["cogitave-query"]
    assert told.versions["tantivy"]


@pytest.mark.anyio
async def test_a_process_whose_stores_are_down_tells_the_rest():
    from service.domain.errors import EngineUnavailable

    told = await support(FakeToolbox(failure=EngineUnavailable("tantivy", SECRET)), Settings())
    assert (told.readiness, told.roots) == (None, None)
    assert told.settings["fusion_k"] == "60"


def test_a_log_line_leaves_with_our_fields_alone():
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    recent = RecentLines(3)
    try:
        configure_logging("info", recent=recent)
        log = structlog.get_logger("service.surfaces.logging")
        log.info("dropped")
        log.warning("docs_search", outcome="failed", code="engine_late", reason=SECRET, degraded=[f"vector: {SECRET}"])
        logging.getLogger("opensearch").error("POST http://user:%s@host/%s", SECRET, WORDS)
        try:
            raise RuntimeError(SECRET)
        except RuntimeError:
            log.exception("command failed", password=SECRET)
    finally:
        root.handlers, root.level = handlers, level
        structlog.reset_defaults()
    searched, library, failed = recent.lines()
    assert (searched["event"], searched["code"], searched["degraded_parts"]) == (
        "docs_search",
        "engine_late",
        ["vector"],
    )
    assert (library["logger"], library["level"], library["event"]) == ("opensearch", "error", "[hidden]")
    assert failed["event"] == "command failed"
    assert "test_a_log_line_leaves_with_our_fields_alone" in failed["frames"][-1]
    assert SECRET not in json.dumps(recent.lines())


def test_a_trace_as_text_keeps_its_frames():
    trace = (
        f'Traceback (most recent call last):\n  File "/service/a.py", line 7, in <module>\n    f({SECRET})\nE: {SECRET}'
    )
    line = presentable({"logger": "service.a", "event": "request failed", "trace": trace})
    assert line == {
        "logger": "service.a",
        "event": "request failed",
        "frames": ['File "/service/a.py", line 7, in <module>'],
    }


@pytest.mark.timeout(240)
def test_a_bundle_of_a_running_server_holds_no_secret_and_no_question(tmp_path):
    """Every secret is planted where it would come from, and said to the server by a caller."""
    import os
    import subprocess

    estate = tmp_path / "estate"
    estate.mkdir()
    (estate / "a.md").write_text("---\nuid: a\ntitle: A\n---\n# A\n\nText.\n")
    secrets = {f"{ENVIRONMENT_PREFIX}{name.upper()}": value for name, value in planted().items() if name in SECRETS}
    environment = (
        os.environ
        | secrets
        | {
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "OTEL_EXPORTER_OTLP_HEADERS": f"authorization={SECRET}",
            f"{ENVIRONMENT_PREFIX}OPENSEARCH_USER": "reader",
        }
    )
    data, bundle = tmp_path / "data", tmp_path / "bundle.zip"
    server = subprocess.Popen(
        [*COMMAND, "--data", str(data), "--json", "serve", "--port", "0", "--publish", str(estate)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    try:
        ready = json.loads(first_document(server))
        token = json.loads((data / "owner.json").read_text())["token"]
        with httpx.Client(base_url=ready["url"], timeout=SECONDS) as client:
            said = {"Authorization": f"Bearer {SECRET}", "Cookie": SECRET, "User-Agent": SECRET}
            client.get("/v1/search", params={"q": WORDS})
            client.get("/v1/search", params={"q": WORDS}, headers=said)
            client.post("/v1/query-graph", json={"cypher": f"MATCH (n:{WORDS}) RETURN n"})
            client.get(f"/{WORDS}", headers=said)
            assert client.get("/v1/support").status_code == 403
        ended = subprocess.run(
            [*COMMAND, "--data", str(data), "--json", "support-bundle", str(bundle)],
            capture_output=True,
            timeout=SECONDS,
            env=environment,
            check=True,
        )
    finally:
        server.kill()
        server.communicate(timeout=SECONDS)
    holds = json.loads(ended.stdout)["holds"]
    with zipfile.ZipFile(bundle) as archive:
        assert archive.namelist() == holds
        contents = {name: archive.read(name).decode() for name in holds}
    assert set(holds) == {
        "versions.json",
        "settings.json",
        "data-folder.json",
        "metrics.txt",
        "log.json",
        "readiness.json",
        "roots.json",
        "tuning.json",
        "doctor.json",
    }
    for name, content in contents.items():
        assert SECRET not in content, name
        assert WORDS not in content, name
        assert token not in content, name
    assert json.loads(contents["settings.json"])["neo4j_password"] == "set"
    assert [line["outcome"] for line in json.loads(contents["log.json"]) if line["event"] == "docs_search"]
    assert "cogitave_query_search_duration_seconds_count" in contents["metrics.txt"]
    assert json.loads(contents["doctor.json"])["healthy"] in (True, False)
    assert bundle.stat().st_mode & 0o777 == 0o600
