"""The real OpenSearch as the stack starts it."""

import httpx
import pytest

pytestmark = [pytest.mark.engines, pytest.mark.timeout(300)]


def test_opensearch_analyses_indexes_and_finds(opensearch_server: str) -> None:
    with httpx.Client(base_url=opensearch_server, timeout=30) as client:
        assert client.get("/").json()["version"]["number"] == "3.9.0"
        mapping = {"mappings": {"properties": {"text": {"type": "text", "analyzer": "english"}}}}
        assert client.put("/stack-check", json=mapping).is_success
        try:
            assert client.put("/stack-check/_doc/1?refresh=true", json={"text": "hosting containers"}).is_success
            query = {"query": {"match": {"text": "contain the host"}}}
            hits = client.post("/stack-check/_search", json=query).json()["hits"]["hits"]
            assert [hit["_id"] for hit in hits] == ["1"]
        finally:
            client.delete("/stack-check")


def test_a_misspelt_index_is_an_error_not_a_new_index(opensearch_server: str) -> None:
    answer = httpx.put(f"{opensearch_server}/misspelt/_doc/1", json={"text": "x"}, timeout=30)
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "index_not_found_exception"
