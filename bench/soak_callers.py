"""Callers of every kind: what each asks in turn, and what is wrong with an answer."""

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from bench.soak_estate import BULLETINS, MARK, PRINTING

TEXTS = (
    "how are two rankings fused",
    "stale cursor",
    "publish a folder",
    "what the bulletin says",
    "how a bulletin is published",
    f"a {MARK} note on the bulletin",
    "read-only data folder",
    "visibility classes of a caller",
    "when an engine is down",
    "limits of a graph query",
)
_VALID = (
    "MATCH (n:Page) RETURN n.uid, n.title ORDER BY n.uid LIMIT 20",
    "MATCH (a:Page)-[:xref]->(b:Page) WHERE a.uid STARTS WITH 'bulletin' RETURN a.title, b.title ORDER BY a.title",
    "MATCH (n:Page) RETURN n.type AS type, count(*) AS pages ORDER BY pages DESC",
)
_REFUSED = (
    "MATCH (n) DETACH DELETE n",
    "MATCH (n)-[*]->(m) RETURN m",
    "MATCH (n:Page) RETURN n.visibleTo",
    "CALL db.labels()",
    "MATCH (n:Page RETURN n",
)
_SEARCHED = (
    "query($t: String!) { search(text: $t, first: 5) { contentRoot edges { node { uid title passage { text } } } } }"
)
_LISTED = "{ nodes(first: 30) { contentRoot edges { node { uid title } } } }"


@dataclass(frozen=True, slots=True)
class Question:
    """One request, and the statuses that may answer it. `is_text`: an answer that is no JSON document."""

    name: str
    path: str
    body: Any = None
    statuses: frozenset[int] = frozenset({200})
    headers: Mapping[str, str] = field(default_factory=dict)
    is_text: bool = False
    may_mix: bool = False
    """Its answer is of several snapshots by what it is: the log of runs."""

    @property
    def method(self) -> str:
        return "GET" if self.body is None else "POST"


@dataclass(slots=True)
class Known:
    """What one caller has learned of earlier answers."""

    chance: random.Random
    uids: Sequence[str]
    skills: Sequence[str]
    cursor: str | None = None
    tag: str | None = None
    run: str | None = None

    def text(self) -> str:
        return self.chance.choice(TEXTS)

    def uid(self) -> str:
        """A bulletin every other time."""
        if self.chance.random() < 0.5:
            return f"bulletin.{self.chance.randint(1, BULLETINS)}"
        return self.chance.choice(self.uids)


Ask = Callable[[Known], Question]


def _search(known: Known) -> Question:
    return Question("search", "/v1/search", {"text": known.text()})


def _search_with_everything(known: Known) -> Question:
    body = {
        "text": known.text(),
        "facets": ["kind", "product", "topic"],
        "explain": True,
        "profile": {"role": "developer", "level": "beginner", "skills": list(known.skills[:2])},
        "currentDocument": known.uid(),
    }
    return Question("search, facets, profile, explain", "/v1/search", body)


def _search_by_link(known: Known) -> Question:
    held = {"If-None-Match": known.tag} if known.tag and known.chance.random() < 0.5 else {}
    path = "/v1/search?" + urlencode({"q": "what the bulletin says", "limit": 5})
    return Question("search by link", path, statuses=frozenset({200, 304}), headers=held)


def _next_page(known: Known) -> Question:
    """Once there is a cursor; the snapshot that it is pinned to may be gone."""
    if known.cursor is None:
        return Question("search, first page", "/v1/search", {"text": "what the bulletin says", "limit": 3})
    body = {"text": "what the bulletin says", "limit": 3, "cursor": known.cursor}
    known.cursor = None
    return Question("search, next page", "/v1/search", body, frozenset({200, 410}))


def _mcp(tool: Callable[[Known], tuple[str, dict[str, Any]]], revision: str) -> Ask:
    def ask(known: Known) -> Question:
        name, arguments = tool(known)
        about = {"clientInfo": {"name": "soak", "version": "1"}, "protocolVersion": revision, "clientCapabilities": {}}
        meta = {f"io.modelcontextprotocol/{key}": value for key, value in about.items()}
        params = {"name": name, "arguments": arguments, "_meta": meta}
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": revision,
            "Mcp-Method": "tools/call",
            "Mcp-Name": name,
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return Question(f"MCP {name}", "/mcp", body, headers=headers)

    return ask


def _graphql(known: Known) -> Question:
    if known.chance.random() < 0.5:
        return Question("GraphQL nodes", "/graphql", {"query": _LISTED})
    return Question("GraphQL search", "/graphql", {"query": _SEARCHED, "variables": {"t": known.text()}})


def _query_graph(known: Known) -> Question:
    return Question("query_graph", "/v1/query-graph", {"cypher": known.chance.choice(_VALID)})


def _refused_graph(known: Known) -> Question:
    refused = frozenset({422})
    return Question("query_graph, refused", "/v1/query-graph", {"cypher": known.chance.choice(_REFUSED)}, refused)


def _learning_path(known: Known) -> Question:
    return Question("learning path", "/v1/learning-path", {"goal": known.chance.choice(known.skills)})


def _suggest(known: Known) -> Question:
    text = known.chance.choice(("bul", "bulletin", "rank", "publsh", "seach"))
    return Question("suggest", "/v1/suggest?" + urlencode({"q": text}))


def _samples(known: Known) -> Question:
    return Question("code samples", "/v1/samples", {"text": known.chance.choice(("bulletin.publish", "open a client"))})


def _always(question: Question) -> Ask:
    return lambda _known: question


def _page(path: str, *, may_mix: bool = False) -> Ask:
    return _always(Question(f"console {path.partition('?')[0]}", path, is_text=True, may_mix=may_mix))


def _console(known: Known) -> Question:
    quoted = quote(known.uid(), safe="")
    path = known.chance.choice(
        (
            "/?" + urlencode({"q": "what the bulletin says"}),
            f"/node?uid={quoted}",
            f"/neighbourhood?uid={quoted}",
            "/graph?" + urlencode({"cypher": _VALID[1]}),
            "/learning-path?goal=" + quote(known.chance.choice(known.skills), safe=""),
        )
    )
    return Question(f"console {path.partition('?')[0]}", path, is_text=True)


def _document(known: Known) -> Question:
    return Question("document", f"/content/{quote(known.uid(), safe='')}")


def _runs(known: Known) -> Question:
    if known.run is None:
        return Question("runs", "/v1/runs", {"limit": 5}, may_mix=True)
    run, known.run = known.run, None
    return Question("one run", "/v1/runs/show", {"runId": run}, frozenset({200, 404}), may_mix=True)


MODERN, OLDER = "2026-07-28", "2025-11-25"

READERS: Mapping[Ask, int] = {
    _search: 12,
    _search_with_everything: 8,
    _search_by_link: 8,
    _next_page: 6,
    _mcp(lambda known: ("docs_search", {"text": known.text()}), MODERN): 6,
    _mcp(lambda known: ("docs_search", {"text": known.text()}), OLDER): 4,
    _mcp(lambda known: ("docs_fetch", {"uid": known.uid()}), OLDER): 4,
    _mcp(lambda known: ("search", {"query": known.text()}), MODERN): 2,
    _mcp(lambda known: ("query_graph", {"cypher": known.chance.choice(_VALID)}), MODERN): 2,
    _graphql: 6,
    _document: 8,
    lambda known: Question("fetch", "/v1/fetch", {"uid": known.uid()}): 6,
    _suggest: 8,
    lambda known: Question("related", "/v1/related", {"uid": known.uid()}): 4,
    _learning_path: 3,
    _query_graph: 4,
    _refused_graph: 4,
    _samples: 4,
    _always(Question("nodes", "/v1/nodes?limit=50&facet=kind")): 2,
    _always(Question("catalog", "/catalog")): 1,
    _always(Question("schema", "/v1/schema", {})): 1,
    _always(Question("xref map", "/xrefmap.yml", is_text=True)): 1,
    _always(Question("llms.txt", "/llms.txt", is_text=True)): 1,
    _console: 5,
    _always(Question("unknown node", "/v1/fetch", {"uid": "no.such"}, frozenset({404}))): 1,
    _always(Question("no JSON", "/v1/search", "text", frozenset({422}))): 1,
}
OPERATORS: Mapping[Ask, int] = {
    _search: 4,
    _runs: 4,
    _always(Question("metrics", "/metrics", is_text=True)): 2,
    _always(Question("readiness", "/readyz")): 2,
    _page("/runs", may_mix=True): 1,
    _page("/status"): 1,
    _page("/diagnostics"): 1,
    _page("/compare?q=bulletin", may_mix=True): 1,
    _page("/judge?q=bulletin", may_mix=True): 1,
}


def learn(known: Known, question: Question, answer: Any, tag: str | None) -> None:
    """Keep what a later question is made of."""
    if question.name == "search by link":
        known.tag = tag
    if isinstance(answer, dict):
        if question.name in ("search, first page", "search, next page"):
            known.cursor = answer.get("nextCursor")
        if answer.get("runs"):
            known.run = answer["runs"][0]["runId"]


def roots(answer: Any) -> set[str]:
    """Every content root that an answer names, however deep; MCP's text repeats its structured content."""
    if isinstance(answer, list):
        return {root for one in answer for root in roots(one)}
    if not isinstance(answer, dict):
        return set()
    own = {answer["contentRoot"]} if answer.get("contentRoot") else set()
    return own.union(*(roots(one) for one in answer.values()))


@dataclass
class Judge:
    """What the answers of all callers say together. `wrong`: each kind of fault, how often, with an example."""

    printings: dict[str, int] = field(default_factory=dict)
    wrong: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    classed: int = 0
    degraded: Counter[str] = field(default_factory=Counter)

    def fault(self, kind: str, example: str) -> None:
        self.wrong[kind] += 1
        self.examples.setdefault(kind, example[:600])

    def hear(self, question: Question, text: str, is_classed: bool) -> Any:
        """The answer as JSON, where it is."""
        if MARK in text:
            self.classed += is_classed
            if not is_classed:
                self.fault("a hidden name", f"{question.name}: {_around(text, MARK)}")
        answer = None if question.is_text else json.loads(text)
        said = {int(number) for number in PRINTING.findall(text)}
        if question.may_mix:
            return answer
        named = roots(answer)
        if len(said) > 1 or len(named) > 1:
            self.fault("several snapshots in one answer", f"{question.name}: printings {said}, roots {named}")
        elif said and named:
            (printing,), (root,) = said, named
            if self.printings.setdefault(root, printing) != printing:
                self.fault(
                    "one root of two printings", f"{question.name}: {root} is {self.printings[root]}, {printing}"
                )
        if isinstance(answer, dict):
            self.degraded.update(answer.get("degraded") or ())
            if question.path == "/graphql" and answer.get("errors"):
                self.fault("GraphQL errors", f"{question.name}: {text}")
            if answer.get("result", {}).get("isError") if isinstance(answer.get("result"), dict) else False:
                self.fault("MCP isError", f"{question.name}: {text}")
        return answer


def _around(text: str, word: str) -> str:
    place = text.index(word)
    return text[max(0, place - 150) : place + 150]
