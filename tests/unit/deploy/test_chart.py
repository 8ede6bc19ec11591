"""The Helm chart against the settings, the image and the alerts that it brings along."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr

from service.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
CHART = ROOT / "deploy" / "helm" / "cogitave-query"


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
    return found


def test_its_settings_are_rows_of_the_table_and_no_secrets(values: dict[str, Any]) -> None:
    settings = Settings.model_validate(values["settings"] | {"host": "0.0.0.0"})
    assert settings.authentication == "required"
    assert not any(Settings.model_fields[name].annotation is SecretStr for name in values["settings"])


def test_it_is_the_version_that_it_installs() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert chart["appVersion"] == chart["version"] == project["version"]


def test_it_brings_the_alerts_that_are_tested() -> None:
    assert (CHART / "rules.yml").resolve() == ROOT / "deploy" / "prometheus" / "rules.yml"
    assert '.Files.Get "rules.yml"' in (CHART / "templates" / "monitoring.yaml").read_text()


def test_the_server_runs_as_the_image_does_and_may_write_to_its_data_alone(values: dict[str, Any]) -> None:
    template = (CHART / "templates" / "server.yaml").read_text()
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert "USER 10001\n" in dockerfile
    assert "runAsUser: 10001\n" in template
    assert "readOnlyRootFilesystem: true\n" in template
    assert 'ENTRYPOINT ["cogitave-query", "--data", "/data"]' in dockerfile
    assert "mountPath: /data}" in template
    assert values["terminationGracePeriodSeconds"] * 1000 > Settings().shutdown_deadline + Settings().drain_notice
