import pytest

from adapters.embedded.graph_reader import _in_stored_names
from cypher_guard import BOUNDED, Visibility, guard


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("RETURN n.type AS `n.type`", "RETURN n.contentType AS `n.type`"),
        ("RETURN `a``.type`.type", "RETURN `a``.type`.contentType"),
        ("RETURN n.typed, n.types, n.type2, type(r)", "RETURN n.typed, n.types, n.type2, type(r)"),
        ("RETURN nodes(p)[0].type", "RETURN nodes(p)[0].contentType"),
        ("RETURN {type: n.type}", "RETURN {type: n.contentType}"),
        ("RETURN apoc.meta.type(n)", "RETURN apoc.meta.type(n)"),
        ("RETURN n.`type`", "RETURN n.`type`"),
    ],
)
def test_type_is_read_where_it_is_stored(text: str, stored: str) -> None:
    assert _in_stored_names(text) == stored


def test_no_literal_reaches_the_text() -> None:
    """What makes the renaming safe: the guard's rendering has every string in a parameter."""
    visibility = Visibility(audiences=frozenset({"a.type"}))
    query = guard("MATCH (n:Page) WHERE n.title = 'x.type y' RETURN n.type", {}, BOUNDED, visibility=visibility)
    assert "x.type" not in query.text
    assert "a.type" not in query.text
    assert "x.type y" in query.params.values()
