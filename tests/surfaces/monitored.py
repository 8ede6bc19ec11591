"""What a running service exports, by one life of it in which everything happens that it counts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families
from starlette.types import ASGIApp

from service import bootstrap
from service.domain.requests import PublishRequest
from service.surfaces.application import application
from service.surfaces.metrics import Metrics
from tests.application import write_estate
from tests.surfaces.serving import PATIENT, served_opening

WORDS = "unmistakable"
"""Stands in everything that a caller says."""

Series = dict[str, list[dict[str, str]]]
"""A sample's name → the labels of each of its series."""


@asynccontextmanager
async def _application(folder: Path) -> AsyncIterator[ASGIApp]:
    metrics = Metrics()
    async with bootstrap.open_owned(PATIENT, folder / "data", metrics) as owned:
        metrics.watch(owned.readings)
        await owned.toolbox.publish(PublishRequest(paths=[str(write_estate(folder / "estate"))]))
        yield application(owned.toolbox, PATIENT, metrics=metrics, observer=owned.observer)


def exposition(folder: Path) -> str:
    """/metrics after a publish, searches, refusals and paths that nobody serves."""
    with served_opening(_application(folder)) as url, httpx.Client(base_url=url, timeout=60) as client:
        for text in ("install", "install", f"{WORDS} zzxqv"):
            client.get("/v1/search", params={"q": text, "facet": "kind"}).raise_for_status()
        assert client.post("/v1/query-graph", json={"cypher": f"CREATE (n:{WORDS})"}).status_code == 422
        assert client.get(f"/v1/nodes/{WORDS}").status_code == 404
        assert client.get(f"/{WORDS}", headers={"User-Agent": WORDS, "X-Forwarded-For": WORDS}).status_code == 404
        assert client.request(WORDS.upper(), f"/v1/search?q={WORDS}").status_code == 405
        return client.get("/metrics").text


def series(text: str) -> Series:
    found: Series = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
    return found
