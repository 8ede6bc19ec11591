"""docker-compose.yml against the compose schema, and against what the tests run on."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.settings import ENVIRONMENT_PREFIX, Settings
from stack.distribution import NEO4J, OPENSEARCH
from stack.settings import NEO4J_SETTINGS, OPENSEARCH_SETTINGS
from tests.containers import NEO4J_IMAGE, OPENSEARCH_IMAGE, QDRANT_IMAGE, neo4j_environment

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "docker-compose.yml"

SECRETS = ["NEO4J_PASSWORD", "QDRANT_API_KEY", "GRAFANA_PASSWORD", "GATEWAY_USER", "GATEWAY_PASSWORD_HASH"]


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(FILE.read_text())["services"]
    return found


def test_the_file_is_what_the_compose_specification_says() -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(FILE)]
    finished = subprocess.run(check, capture_output=True, text=True, timeout=60)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_neo4j_runs_with_the_settings_that_the_tests_run_with(services: dict[str, Any]) -> None:
    environment = services["neo4j"]["environment"]
    expected = {neo4j_environment(name): value for name, value in NEO4J_SETTINGS.items()}
    assert {name: environment.get(name) for name in expected} == expected


def test_opensearch_runs_with_the_settings_that_the_tests_run_with(services: dict[str, Any]) -> None:
    environment = services["opensearch"]["environment"]
    assert {name: environment.get(name) for name in OPENSEARCH_SETTINGS} == dict(OPENSEARCH_SETTINGS)


def test_the_engines_are_the_versions_that_the_tests_run(services: dict[str, Any]) -> None:
    images = [services[name]["image"] for name in ("neo4j", "opensearch", "qdrant")]
    assert images == [NEO4J_IMAGE, OPENSEARCH_IMAGE, QDRANT_IMAGE]
    assert NEO4J_IMAGE.endswith(NEO4J.roots[0].rsplit(":", 1)[1])
    assert OPENSEARCH_IMAGE.endswith(OPENSEARCH.roots[0].rsplit(":", 1)[1])


def test_every_service_has_a_health_check_a_limit_and_rotated_logs(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert service["healthcheck"]["test"], name
        assert service["deploy"]["resources"]["limits"].keys() == {"cpus", "memory"}, name
        assert service["logging"]["options"], name


@pytest.mark.parametrize("secret", SECRETS)
def test_nothing_starts_without_its_secrets(secret: str) -> None:
    uses = re.findall(rf"\$\{{{secret}([^}}]*)\}}", FILE.read_text())
    assert uses
    assert all(use.startswith(":?") for use in uses)
    assert f"\n{secret}=\n" in f"\n{(ROOT / 'deploy' / 'example.env').read_text()}"


def test_the_service_is_set_by_rows_of_the_table_and_writes_to_its_volume_alone(services: dict[str, Any]) -> None:
    service = services["service"]
    rows = {name.removeprefix(ENVIRONMENT_PREFIX).lower() for name in service["environment"]}
    assert rows <= Settings.model_fields.keys()
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]


def test_only_the_gateway_and_the_dashboards_are_published_and_on_loopback(services: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published.keys() == {"gateway", "grafana"}
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)
    assert services["service"]["network_mode"] == "service:gateway"


def test_the_image_runs_as_nobody_in_particular() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert re.search(r"^USER 10001$", text, re.MULTILINE)
    assert "COPY stack" not in text
