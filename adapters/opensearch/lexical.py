"""LexicalIndex in OpenSearch. Texts arrive as terms that are analysed already, so every engine finds the same."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from opensearchpy import AsyncOpenSearch

from adapters.indexing.analysis import (
    QueryTerm,
    document_terms,
    is_english,
    query_terms,
    spans_of,
)
from adapters.indexing.expansion import MOST_FORMS, Alternative, alternatives
from adapters.indexing.ranked_hits import in_order
from adapters.indexing.stored_passage import (
    engine_text,
    filter_values,
    passage_from_json,
    passage_to_json,
    record_term,
)
from adapters.opensearch.connection import ENGINE, engine_errors
from service.domain.content import Passage, PassageKey
from service.domain.deadline import Deadline
from service.domain.errors import EngineLate, EngineUnavailable
from service.domain.filters import SearchScope
from service.domain.graph import NodeIdentity
from service.ports import Expansion, PassageHit, Span

Json = dict[str, Any]

# Three fields a form: together under the 1,024 clauses that a cluster allows unless told otherwise.
_MOST_FORMS = 320

_RECORDS_AT_ONCE = 1_000
_KEYS_AT_ONCE = 5_000
_KEEP_ALIVE = "1m"


class OpenSearchIndex:
    """Passages behind the alias `{prefix}-passages`. `write_seconds` bounds each write and each walk's step."""

    def __init__(
        self,
        client: AsyncOpenSearch,
        *,
        prefix: str = "cogitave",
        title_boost: float = 0.75,
        heading_boost: float = 0.5,
        write_seconds: float = 60.0,
    ) -> None:
        self._client = client
        self._index = f"{prefix}-passages"
        self._boosts = (("title", title_boost), ("heading", heading_boost), ("text", 1.0))
        self._write_seconds = write_seconds

    @property
    def engine(self) -> str:
        return ENGINE

    async def add(self, passages: Sequence[Passage], generation: int) -> None:
        if not passages:
            return
        lines = self.bulk_lines(passages, generation)
        async with engine_errors(self._write_seconds):
            answer = await self._client.bulk(body=lines, index=self._index, params={"refresh": "true"})
        if answer["errors"]:
            failure = next(item["index"]["error"] for item in answer["items"] if "error" in item["index"])
            raise EngineUnavailable(ENGINE, f"a passage was not taken: {failure['type']}: {failure['reason']}")

    def terms(self, text: str) -> tuple[str, ...]:
        return tuple(term.name for term in query_terms(text))

    async def search(
        self, text: str, scope: SearchScope, *, depth: int, deadline: Deadline, expansions: Sequence[Expansion] = ()
    ) -> list[PassageHit]:
        if not query_terms(text):
            return []
        found = await self._search(self.search_body(text, scope, depth, expansions), deadline)
        hits = [PassageHit(_key(hit), hit["_score"]) for hit in found["hits"]["hits"]]
        return in_order(hits)

    async def passages(
        self, keys: Sequence[PassageKey], scope: SearchScope, *, deadline: Deadline
    ) -> dict[PassageKey, Passage]:
        if not keys:
            return {}
        ids = {"ids": {"values": [_id(key) for key in keys]}}
        found = await self._search(
            {
                "query": {"bool": {"filter": [ids, *_within(scope)]}},
                "size": len(keys),
                "_source": ["stored"],
                "track_total_hits": False,
            },
            deadline,
        )
        passages = (passage_from_json(hit["_source"]["stored"]) for hit in found["hits"]["hits"])
        return {passage.key: passage for passage in passages}

    async def highlight(self, text: str, passages: Sequence[Passage], *, deadline: Deadline) -> list[tuple[Span, ...]]:
        if deadline.has_passed:
            raise EngineLate(ENGINE)
        forms = frozenset(form for term in query_terms(text) for form in term.forms)
        return [_highlights(passage, forms) for passage in passages]

    async def known_terms(self, text: str, scope: SearchScope, *, deadline: Deadline) -> Mapping[str, int]:
        terms = query_terms(text)[:_MOST_FORMS]
        if not terms:
            return {}
        found = await self._search(
            {
                "size": 0,
                "query": {"bool": {"filter": _within(scope)}},
                "aggs": {"terms": {"filters": {"filters": [self._any_of([term]) for term in terms]}}},
                "track_total_hits": False,
            },
            deadline,
        )
        buckets = found["aggregations"]["terms"]["buckets"]
        return {term.name: int(bucket["doc_count"]) for term, bucket in zip(terms, buckets, strict=True)}

    async def remove(self, records: Collection[tuple[NodeIdentity, str]]) -> None:
        names = [_record(identity, content_hash) for identity, content_hash in records]
        for start in range(0, len(names), _RECORDS_AT_ONCE):
            await self._delete({"terms": {"record": names[start : start + _RECORDS_AT_ONCE]}})

    async def remove_after(self, generation: int) -> None:
        await self._delete({"range": {"generation": {"gt": generation}}})

    async def keys(self, generation: int) -> set[PassageKey]:
        async with engine_errors(self._write_seconds):
            opened = await self._client.create_pit(index=self._index, params={"keep_alive": _KEEP_ALIVE})
        pit = {"id": opened["pit_id"], "keep_alive": _KEEP_ALIVE}
        try:
            return await self._walk(pit, generation)
        finally:
            async with engine_errors(self._write_seconds):
                await self._client.delete_pit(body={"pit_id": [pit["id"]]})

    async def check(self, deadline: Deadline) -> None:
        async with engine_errors(deadline.seconds_left):
            await self._client.count(index=self._index, body={"query": {"match_none": {}}})

    async def close(self) -> None:
        """The client is its opener's to close."""

    @staticmethod
    def bulk_lines(passages: Sequence[Passage], generation: int) -> list[Json]:
        """The bulk request that adds these passages."""
        return [
            line
            for passage in passages
            for line in ({"index": {"_id": _id(passage.key)}}, _document(passage, generation))
        ]

    def search_body(self, text: str, scope: SearchScope, depth: int, expansions: Sequence[Expansion] = ()) -> Json:
        """The search request for a text that has terms."""
        groups = alternatives(expansions)
        wanted = self._any_of(query_terms(text), most=_MOST_FORMS - (MOST_FORMS if groups else 0))
        if groups:
            wanted = {"bool": {"should": [wanted, *map(self._best_of, groups)], "minimum_should_match": 1}}
        return {
            "query": {"bool": {"must": [wanted], "filter": _within(scope)}},
            "collapse": {"field": "record"},
            "size": depth,
            "stored_fields": ["key"],
            "track_total_hits": False,
        }

    async def _walk(self, pit: Json, generation: int) -> set[PassageKey]:
        keys: set[PassageKey] = set()
        request: Json = {
            "size": _KEYS_AT_ONCE,
            "query": {"bool": {"filter": [_up_to(generation)]}},
            "stored_fields": ["key"],
            "sort": ["_shard_doc"],
            "track_total_hits": False,
            "pit": pit,
        }
        while True:
            async with engine_errors(self._write_seconds):
                hits = (await self._client.search(body=request))["hits"]["hits"]
            keys.update(_key(hit) for hit in hits)
            if len(hits) < _KEYS_AT_ONCE:
                return keys
            request["search_after"] = hits[-1]["sort"]

    async def _search(self, body: Json, deadline: Deadline) -> Json:
        if deadline.has_passed:
            raise EngineLate(ENGINE)
        seconds = deadline.seconds_left
        async with engine_errors(seconds):
            found: Json = await self._client.search(
                index=self._index, body={**body, "timeout": f"{max(1, int(seconds * 1000))}ms"}
            )
        if found["timed_out"]:
            raise EngineLate(ENGINE)
        if found["_shards"]["failed"]:
            raise EngineUnavailable(ENGINE, f"{found['_shards']['failed']} shards did not answer")
        return found

    async def _delete(self, query: Json) -> None:
        async with engine_errors(self._write_seconds):
            answer = await self._client.delete_by_query(
                index=self._index, body={"query": query}, params={"refresh": "true", "conflicts": "proceed"}
            )
        if answer["failures"] or answer["version_conflicts"]:
            raise EngineUnavailable(ENGINE, "some passages could not be removed; try again")

    def _any_of(self, terms: Sequence[QueryTerm], most: int = _MOST_FORMS) -> Json:
        forms = dict.fromkeys(form for term in terms for form in term.forms)
        clauses = [
            {"term": {field: {"value": form, "boost": boost}}}
            for form in list(forms)[:most]
            for field, boost in self._boosts
        ]
        return {"bool": {"should": clauses, "minimum_should_match": 1}}

    def _best_of(self, group: Sequence[Alternative]) -> Json:
        """A synonym's best alternative: what several of them say together is still one thing."""
        found = [{"bool": {"must": [self._any_of([term]) for term in one.terms], "boost": one.weight}} for one in group]
        return {"dis_max": {"queries": found}}


def _within(scope: SearchScope) -> list[Json]:
    """The scope as clauses that must hold and score nothing."""
    clauses = [_up_to(scope.generation), _one_of("visibleTo", scope.audiences)]
    clauses.extend(_one_of(name, values) for name, values in scope.filter.constraints().items())
    return clauses


def _up_to(generation: int) -> Json:
    return {"range": {"generation": {"lte": generation}}}


def _one_of(field: str, values: Iterable[str]) -> Json:
    return {"terms": {field: sorted(engine_text(value) for value in values)}}


def _id(key: PassageKey) -> str:
    """An id of the engine's holds 512 bytes, a uid any number."""
    return hashlib.sha256(engine_text(str(key)).encode()).hexdigest()


def _record(identity: NodeIdentity, content_hash: str) -> str:
    return hashlib.sha256(record_term(identity, content_hash).encode()).hexdigest()


def _key(hit: Json) -> PassageKey:
    return PassageKey.parse(json.loads(hit["fields"]["key"][0]))


def _document(passage: Passage, generation: int) -> Json:
    node = passage.node
    english = is_english(node.identity.locale)
    texts = {"title": node.title, "heading": passage.heading, "text": passage.text}
    return {
        **{field: " ".join(document_terms(text, english=english)) for field, text in texts.items()},
        # JSON, so that every key reads back exactly, half a surrogate pair included.
        "key": json.dumps(str(passage.key)),
        "record": _record(node.identity, passage.content_hash),
        "generation": generation,
        "visibleTo": [engine_text(audience) for audience in node.visible_to],
        **{name: list(values) for name, values in filter_values(node).items() if values},
        "stored": passage_to_json(passage),
    }


def _highlights(passage: Passage, forms: frozenset[str]) -> tuple[Span, ...]:
    spans = spans_of(passage.text, forms, english=is_english(passage.node.identity.locale))
    return tuple(Span(start, end) for start, end in spans)
