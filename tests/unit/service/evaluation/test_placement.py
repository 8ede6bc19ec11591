import asyncio

from service.evaluation.placement import Placed, place
from service.evaluation.sets import EvaluationSet, Query

HELD = {("site", "docs/a.md"): "page.a", ("site", "docs/b.md"): "page.b"}


async def look(cypher: str, parameters: dict[str, object]) -> list[list[object]]:
    """A graph of two pages, as the two queries of a placement ask it."""
    names = parameters["names"]
    assert isinstance(names, list)
    assert len(names) <= 100
    if "n.uid IN" in cypher:
        return [[uid] for uid in HELD.values() if uid in names]
    return [[docset, path, uid] for (docset, path), uid in HELD.items() if path in names]


def placed(judgments: dict[str, dict[str, int]], current: str | None = None) -> Placed:
    queries = tuple(Query(query, "text", current_document=current) for query in judgments)
    return asyncio.run(place(EvaluationSet("set", queries, judgments), look))


def test_documents_are_found_by_uid_and_by_source_path() -> None:
    found = placed({"q1": {"page.a": 2}, "q2": {"site/docs/b.md": 1}}, current="site/docs/a.md")
    assert found.judged.judgments == {"q1": {"page.a": 2}, "q2": {"page.b": 1}}
    assert [query.current_document for query in found.judged.queries] == ["page.a", "page.a"]
    assert (found.missing, found.left_out) == ((), 0)


def test_what_is_not_there_is_said_and_its_queries_are_left_out() -> None:
    found = placed({"q1": {"page.a": 1, "other/docs/a.md": 1, "gone": 0}, "q2": {"nowhere": 1}})
    assert found.judged.judgments == {"q1": {"page.a": 1}}
    assert (found.missing, found.left_out) == (("nowhere", "other/docs/a.md"), 1)


def test_many_documents_are_looked_up_in_parts() -> None:
    judged = {f"q{number}": {f"d/{number}": 1} for number in range(250)} | {"q": {"site/docs/a.md": 1}}
    assert placed(judged).left_out == 250
