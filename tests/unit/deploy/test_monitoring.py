"""Alerts and dashboards against what a running service exports, and run books against the alerts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.surfaces.monitored import Series, exposition, series

ROOT = Path(__file__).resolve().parents[3]
RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
DASHBOARDS = sorted((ROOT / "deploy" / "grafana" / "dashboards").glob("*.json"))
RUN_BOOKS = sorted((ROOT / "docs" / "articles" / "run-books").glob("*.md"))

OF_PROMETHEUS = {"up": [{"job": "", "instance": ""}]}
"""What Prometheus says of its targets itself."""

GIVEN_BY_PROMETHEUS = {"job", "instance"}

_FUNCTIONS = {"sum", "min", "max", "rate", "increase", "histogram_quantile", "label_values"}
_LABEL_LISTS = {"by", "on", "group_left"}
_TOKEN = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*|\[[^\]]*\]|\"[^\"]*\"|[{}(),]|=~|!~|!=|==|[-+*/<>=]|[0-9.e]+|\s+")


def named(expression: str) -> dict[str, set[str]]:
    """Each metric of a PromQL expression → the labels that the expression asks of it; every part must be understood."""
    tokens = [token for token in _TOKEN.findall(expression) if not token.isspace()]
    assert "".join(tokens) == re.sub(r"\s+", "", expression), f"not understood: {expression}"
    metrics: dict[str, set[str]] = {}
    grouped: set[str] = set()
    place = 0
    while place < len(tokens):
        token, following = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else ""
        if token in _LABEL_LISTS:
            if following == "(":
                end = tokens.index(")", place)
                grouped |= set(tokens[place + 2 : end]) - {","}
                place = end
        elif token in _FUNCTIONS:
            assert following in {"(", *_LABEL_LISTS}, expression
        elif re.match(r"[a-zA-Z_:]", token):
            labels = metrics.setdefault(token, set())
            if following == "{":
                end = tokens.index("}", place)
                labels |= {
                    name
                    for name, sign in zip(tokens[place + 2 : end], tokens[place + 3 : end], strict=False)
                    if sign in {"=", "=~", "!=", "!~"} and not name.startswith('"')
                }
                place = end
        place += 1
    for labels in metrics.values():
        labels |= grouped
    return metrics


def test_the_reader_of_expressions_sees_metrics_and_labels() -> None:
    assert named('sum by (le, part) (rate(a_total{code=~"x|y",z!="1"}[5m])) / on (instance) group_left b > 0.05') == {
        "a_total": {"le", "part", "code", "z", "instance"},
        "b": {"le", "part", "instance"},
    }


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Series:
    return series(exposition(tmp_path_factory.mktemp("monitored"))) | OF_PROMETHEUS


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def panels() -> list[tuple[str, str]]:
    """Every expression of every dashboard, with where it stands."""
    found = []
    for file in DASHBOARDS:
        dashboard = json.loads(file.read_text())
        for panel in dashboard["panels"]:
            found += [(f"{file.stem}: {panel['title']}", target["expr"]) for target in panel["targets"]]
        found += [
            (
                f"{file.stem}: ${variable['name']}",
                re.sub(r"label_values\((\w+), (\w+)\)", r"\1", variable["definition"]),
            )
            for variable in dashboard["templating"]["list"]
            if variable["type"] == "query"
        ]
    return found


def of_grafana(expression: str) -> str:
    return expression.replace("$__rate_interval", "5m").replace("$instance", ".*")


EXPRESSIONS = [(rule["alert"], rule["expr"]) for rule in rules()] + [(at, of_grafana(text)) for at, text in panels()]


@pytest.mark.parametrize(("where", "expression"), EXPRESSIONS, ids=[where for where, _ in EXPRESSIONS])
def test_an_expression_asks_for_what_a_running_service_exports(where: str, expression: str, exported: Series) -> None:
    asked = named(expression)
    assert asked, where
    # The labels of grouping are of one side of a division at least; those in braces of the metric itself.
    known = {name: set().union(*(labels.keys() for labels in exported[name])) for name in asked if name in exported}
    assert asked.keys() == known.keys(), f"{where} asks for what nobody exports"
    together = set().union(*known.values()) | GIVEN_BY_PROMETHEUS
    for labels in asked.values():
        assert labels <= together, where


def test_the_values_that_alerts_select_exist(exported: Series) -> None:
    """An equality or an alternative that no series could ever have would never fire."""
    for rule in rules():
        for metric, body in re.findall(r"(\w+)\{([^}]*)\}", rule["expr"]):
            for label, text in re.findall(r'(\w+)=~?"([^"]*)"', body):
                held = {labels.get(label) for labels in exported[metric]}
                if label in GIVEN_BY_PROMETHEUS or label == "http_response_status_code":
                    continue
                assert set(text.split("|")) <= held, rule["alert"]


def test_every_alert_has_its_run_book_and_every_run_book_its_alert() -> None:
    told = {}
    for file in RUN_BOOKS:
        _, front, body = file.read_text(encoding="utf-8").split("---\n", 2)
        told[yaml.safe_load(front)["uid"]] = re.findall(r"^Alert: `(\w+)`$", body, re.MULTILINE)
        for heading in ("What it means", "Look", "Do", "Done when"):
            assert f"\n## {heading}\n" in body, file.name
    assert told == {rule["annotations"]["run_book"]: [rule["alert"]] for rule in rules()}


def test_alerts_say_how_urgent_they_are_and_what_is_wrong() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    for rule in rules():
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["summary"].endswith(".")


def test_dashboards_are_as_grafana_reads_them() -> None:
    uids = set()
    for file in DASHBOARDS:
        dashboard = json.loads(file.read_text())
        uids.add(dashboard["uid"])
        ids = [panel["id"] for panel in dashboard["panels"]]
        assert len(set(ids)) == len(ids)
        for panel in dashboard["panels"]:
            place = panel["gridPos"]
            assert place["x"] + place["w"] <= 24
            assert panel["title"]
            assert panel["datasource"]["uid"] == "${source}"
    assert len(uids) == len(DASHBOARDS) == 3


def test_compose_mounts_the_rules_and_the_dashboards() -> None:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    mounted = [volume for name in ("prometheus", "grafana") for volume in services[name]["volumes"]]
    sources = {volume.split(":")[0] for volume in mounted if volume.startswith("./")}
    assert sources == {"./deploy/prometheus", "./deploy/grafana/datasources", "./deploy/grafana/dashboards"}
    assert all((ROOT / source).is_dir() for source in sources)
    configuration = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text())
    assert configuration["rule_files"] == [RULES.name]
