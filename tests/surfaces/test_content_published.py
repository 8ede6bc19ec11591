"""The content API over the real embedded application: a course and pages are published, and read by two callers."""

import json
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
import yaml

from service.domain.errors import CursorStale
from service.domain.principal import Principal, Scope
from service.domain.quizzes import Choice, Question, question_as_text, question_from_text
from service.domain.requests import EstateRequest
from service.surfaces.application import application
from service.surfaces.dependencies import principal
from service.tools import estate
from tests.application import Application, running, write_estate
from tests.surfaces.serving import PATIENT

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

ODD_UID = "odd uid/#1 (ü%2F)*?&=é🦀,b"

COURSE = {
    "paths/start/index.yml": """### YamlMime:LearningPath
uid: course.path
title: From nothing to something
summary: The whole way.
levels: [beginner]
roles: [developer]
products: [tool]
subjects: [graphs]
modules:
- course.second
- course.first
""",
    "first/index.yml": """### YamlMime:Module
uid: course.first
metadata:
  ms.date: 01/31/2026
title: First steps
summary: Begin here.
abstract: |
  - Install the tool
levels: [beginner]
roles: [developer]
products: [tool]
units:
- course.first.zero
- course.first.check
""",
    "first/1.yml": """### YamlMime:ModuleUnit
uid: course.first.zero
title: Introduction
durationInMinutes: 3
metadata:
  ms.date: 02/01/2026
content: |
  Welcome to the course.

  ## What you need

  Nothing but patience.
""",
    "first/2.yml": """### YamlMime:ModuleUnit
uid: course.first.check
title: Check
durationInMinutes: 4
content: |
  Choose.
quiz:
  title: What do you know?
  questions:
  - content: "Which one?"
    choices:
    - content: This
      isCorrect: true
      explanation: "Yes: it is."
    - content: That
      isCorrect: false
      explanation: No.
""",
    "second/index.yml": """### YamlMime:Module
uid: course.second
title: Second steps
summary: Go on.
levels: [intermediate]
roles: [administrator]
products: [tool, graph]
units:
- course.second.only
""",
    "second/1.yml": """### YamlMime:ModuleUnit
uid: course.second.only
title: Only
durationInMinutes: 5
content: Text.
""",
}

PAGES = {
    "odd.md": f"---\ntitle: 'Odd: <b>title</b>'\nuid: \"{ODD_UID}\"\nms.date: 2025-12-31\n---\n# Odd\n\nPeculiar.\n",
    "secret.md": "---\ntitle: Secret plans\nuid: secret\n---\n# Secret\n\nNobody knows.\n",
    "open.md": "---\ntitle: Open\nuid: open\nms.date: 2026-06-30\n---\n# Open\n\nSee [the plans](secret.md).\n",
}

STAFF = Principal("staff", audiences=frozenset({"staff"}), scopes=frozenset(Scope))
ANYONE = Principal("anyone", scopes=frozenset(Scope))


class Client:
    """Requests of one caller at a time, from tests that are not asynchronous."""

    def __init__(self, running: Application) -> None:
        self.tools = running
        self.caller = ANYONE
        self.app = application(running.tools, PATIENT)
        self.app.dependency_overrides[principal] = lambda: self.caller

    def request(self, method: str, path: str, **rest: object) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://service", timeout=60) as client:
                return await client.request(method, path, **rest)

        return self.tools.run(ask())

    def get(self, path: str, **rest: object) -> httpx.Response:
        return self.request("GET", path, **rest)

    def json(self, path: str, **rest: object) -> dict:
        answer = self.get(path, **rest)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("content")
    course = write_estate(folder / "course", COURSE)
    pages = write_estate(folder / "pages", PAGES)
    rules = "visibility:\n  rules:\n  - files: secret.md\n    visibleTo: staff\n"
    (pages / "cogitave-query.yml").write_text(rules, encoding="utf-8")
    with running(folder / "data", PATIENT) as app:
        app.publish(course, pages)
        yield app


@pytest.fixture
def client(published: Application) -> Client:
    return Client(published)


def test_a_module_says_its_parts_in_order_and_how_long_they_take(client):
    module = client.json("/content/course.first")
    assert (module["kind"], module["title"], module["levels"]) == ("module", "First steps", ["beginner"])
    assert [part["uid"] for part in module["parts"]] == ["course.first.zero", "course.first.check"]
    assert module["partOf"][0]["uid"] == "course.path"
    assert module["durationInMinutes"] == 3 + 4
    assert module["lastModified"] == "2026-01-31"
    assert module["source"]["path"] == "first/index.yml"


def test_a_path_holds_its_modules_in_its_own_order(client):
    path = client.json("/content/course.path")
    assert [part["uid"] for part in path["parts"]] == ["course.second", "course.first"]
    assert path["subjects"] == ["graphs"]


def test_a_unit_holds_headings_text_and_quiz(client):
    unit = client.json("/content/course.first.zero")
    assert [heading["text"] for heading in unit["headings"]] == ["What you need"]
    assert [section["text"] for section in unit["sections"]] == ["Welcome to the course.", "Nothing but patience."]
    assert "quiz" not in unit
    check = client.json("/content/course.first.check")
    assert check["quiz"] == {
        "title": "What do you know?",
        "questions": [
            {
                "content": "Which one?",
                "choices": [
                    {"content": "This", "isCorrect": True, "explanation": "Yes: it is."},
                    {"content": "That", "isCorrect": False, "explanation": "No."},
                ],
            }
        ],
    }


def test_an_odd_uid_goes_there_and_back_everywhere(client):
    assert client.json(f"/content/{quote(ODD_UID, safe='')}")["uid"] == ODD_UID
    (page,) = client.json("/catalog", params={"type": "pages", "uid": ODD_UID})["pages"]
    assert page["uid"] == ODD_UID
    documents = [json.loads(line).get("document", {}) for line in client.get("/content").text.splitlines()]
    assert ODD_UID in [document.get("uid") for document in documents]
    references = yaml.safe_load(client.get("/xrefmap.yml").text)["references"]
    assert ODD_UID in [reference["uid"] for reference in references]


def uids(catalog: dict) -> set[str]:
    lists = [entries for entries in catalog.values() if isinstance(entries, list)]
    return {entry["uid"] for entries in lists for entry in entries if "uid" in entry}


FILTERS = [
    ("", {"course.path", "course.first", "course.second", "course.first.zero", "course.first.check",
          "course.second.only", "open", ODD_UID}),
    ("type=modules", {"course.first", "course.second"}),
    ("type=modules&level=intermediate", {"course.second"}),
    ("type=learningPaths,modules&role=developer", {"course.path", "course.first"}),
    ("type=modules&product=graph", {"course.second"}),
    ("subject=graphs&type=learningPaths", {"course.path"}),
    ("uid=course.first,open", {"course.first", "open"}),
    ("uid=course.first&type=units", set()),
    ("locale=de-de", set()),
    ("last_modified=gte 2026-02-01", {"course.first.zero", "open"}),
    ("last_modified=gt 2026-02-01", {"open"}),
    ("last_modified=lte 2026-01-31", {"course.first", ODD_UID}),
    ("last_modified=lt 2026-01-31", {ODD_UID}),
    ("last_modified=eq 2026-01-31", {"course.first"}),
]  # fmt: skip


@pytest.mark.parametrize(("query", "expected"), FILTERS)
def test_the_catalog_holds_what_its_filters_let_through(client, query, expected):
    assert uids(client.json(f"/catalog?{query}")) == expected


def test_the_vocabularies_count_the_estate(client):
    catalog = client.json("/catalog?type=products,levels,roles,subjects")
    assert {term["id"]: term["count"] for term in catalog["levels"]} == {"beginner": 4, "intermediate": 2}
    assert "modules" not in catalog
    for vocabulary, facet in (("products", "product"), ("roles", "role"), ("subjects", "topic")):
        listed = client.json("/v1/nodes", params=[("facet", facet), *(("filter", f"kind={k}") for k in KINDS)])
        assert {term["id"]: term["count"] for term in catalog[vocabulary]} == listed["facets"][facet]


KINDS = ("learningPath", "module", "unit", "page")


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_of_the_catalog_reach_everything_once(client, limit):
    whole = sorted(uids(client.json("/catalog")))
    found, path = [], f"/catalog?limit={limit}"
    while path:
        answer = client.get(path)
        found += uids(answer.json())
        assert len(uids(answer.json())) <= limit
        assert answer.json()["truncated"] == ("next" in answer.links)
        path = f"/catalog{answer.links['next']['url']}" if "next" in answer.links else ""
    assert sorted(found) == whole


@pytest.mark.parametrize("path", ["/catalog?limit=1&cursor={}", "/v1/nodes?limit=1&cursor={}"])
def test_a_cursor_of_another_request_is_foreign(client, path):
    others = ["/catalog?limit=1&type=units", "/v1/nodes?limit=1&filter=kind%3Dpage", "/v1/search?q=tool&limit=1"]
    for other in others:
        cursor = client.json(other)["nextCursor"]
        assert client.get(path.format(cursor)).json()["code"] == "cursor_foreign"


SEEING = ["/content", "/catalog", "/xrefmap.yml", "/llms.txt", "/catalog?uid=secret", "/content?filter=kind%3Dpage"]


@pytest.mark.parametrize("path", SEEING)
def test_what_a_caller_may_not_see_is_nowhere(client, path):
    assert "ecret" not in client.get(path).text
    mine = client.get(path).headers["etag"]
    client.caller = STAFF
    theirs = client.get(path, headers={"If-None-Match": mine})
    assert theirs.status_code == 200
    assert "Secret plans" in theirs.text


def test_a_secret_document_is_as_unknown_as_none(client):
    secret, nobody = client.get("/content/secret"), client.get("/content/nobody")
    assert (secret.status_code, secret.json()) == (404, nobody.json())
    client.caller = STAFF
    assert client.json("/content/secret")["title"] == "Secret plans"


def test_the_stream_and_single_documents_are_the_same(client):
    lines = [json.loads(line) for line in client.get("/content").text.splitlines()]
    documents = [line["document"] for line in lines[1:-1]]
    assert lines[-1] == {"end": {"documents": len(documents)}}
    assert len(documents) == client.json("/v1/nodes")["total"]
    for document in documents:
        path = f"/content/{quote(document['uid'], safe='')}?locale={document['locale']}"
        assert client.json(path) == document


def test_a_stream_is_of_one_snapshot_though_another_is_published_meanwhile(published, tmp_path):
    client = Client(published)
    request = EstateRequest(filter={"kind": ["page", "module", "unit", "learningPath"]})
    small = published.tools.retrieval.settings.model_copy(update={"document_page": 1})
    published.tools.retrieval.settings = small
    try:
        first = published.run(published.tools.call(estate.DOCUMENTS, request, ANYONE))
        more = write_estate(tmp_path / "more", {"more.md": "---\nuid: more\ntitle: More\n---\n# More\n\nText.\n"})
        published.publish(more)
        following = request.model_copy(update={"cursor": first.next_cursor})
        with pytest.raises(CursorStale):
            published.run(published.tools.call(estate.DOCUMENTS, following, ANYONE))
        assert client.get("/content/more").status_code == 200
    finally:
        published.tools.retrieval.settings = PATIENT


def test_a_document_that_is_too_large_is_cut_and_says_so(published, tmp_path):
    sections = "\n\n".join(f"## H{n}\n\n" + "words " * 5_000 for n in range(9))
    long = f"---\nuid: long\ntitle: Long\n---\n# Long\n\n{sections}"
    published.publish(write_estate(tmp_path / "long", {"long.md": long}))
    small = published.tools.retrieval.settings.model_copy(update={"result_bytes": 100_000})
    published.tools.retrieval.settings = small
    try:
        document = Client(published).json("/content/long")
        assert document["truncated"] is True
        assert 0 < len(document["sections"]) < 9
        assert len(document["headings"]) == 10
        assert len(json.dumps(document)) < 100_000
    finally:
        published.tools.retrieval.settings = PATIENT
    assert Client(published).json("/content/long")["truncated"] is False


QUESTIONS = [
    Question("Why?", (Choice("Because", True, "It is so."), Choice("No reason", False))),
    Question("Two\nlines: (correct)", (Choice("a (b)", False, "no (incorrect): really"), Choice("c\nd", True, "e\nf"))),
    Question("No choices"),
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_reads_back_from_its_text(question):
    assert question_from_text(question_as_text(question)) == question
