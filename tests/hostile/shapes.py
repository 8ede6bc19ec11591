"""Queries that grow in one dimension: work that grows faster than their text is a way to stall the guard."""

from __future__ import annotations

from collections.abc import Callable, Mapping

# The sizes to compare; a shape that the limits refuse is refused at less work than it asks for.
SIZES = (12, 25, 50, 100, 200, 400)

Shape = Callable[[int], str]

SHAPES: Mapping[str, Shape] = {
    "nested OR": lambda n: "MATCH (f:Page) WHERE " + "(f.level = 1 OR " * n + "true" + ")" * n + " RETURN f.uid",
    "nested NOT": lambda n: (
        "MATCH (f:Page) WHERE " + "NOT (f.level / 2 = 1 OR " * n + "true" + ")" * n + " RETURN f.uid"
    ),
    "nested CASE": lambda n: "MATCH (f:Page) RETURN " + "CASE WHEN f.level = 1 THEN " * n + "1" + " END" * n + " AS x",
    "nested CASE of nodes": lambda n: (
        f"MATCH (f:Page) RETURN {'CASE WHEN f.level = 1 THEN f ELSE ' * n}f{' END' * n} AS x"
    ),
    "nested coalesce of nodes": lambda n: "MATCH (f:Page) RETURN " + "coalesce(f, " * n + "f" + ")" * n + " AS x",
    "nested comprehensions": lambda n: "MATCH (f:Page) RETURN " + "[x IN " * n + "f.topics" + " | x]" * n + " AS x",
    "nested EXISTS": lambda n: (
        "MATCH (f:Page) WHERE " + "EXISTS { (f) WHERE " * n + "true" + " }" * n + " RETURN f.uid"
    ),
    "nested labels": lambda n: "MATCH (f:Page) WHERE f:" + "!(Page&" * n + "Page" + ")" * n + " RETURN f.uid",
    "OR": lambda n: "MATCH (f:Page) WHERE " + " OR ".join(["f.level = 1"] * n) + " RETURN f.uid",
    "AND that may raise": lambda n: "MATCH (f:Page) WHERE " + " AND ".join(["1 / f.level = 1"] * n) + " RETURN f.uid",
    "EXISTS beside EXISTS": lambda n: (
        "MATCH (f:Page) WHERE " + " AND ".join(["EXISTS { (f) WHERE 1 / f.level = 1 }"] * n) + " RETURN f.uid"
    ),
    "comparisons": lambda n: "RETURN 1" + " < 1" * n + " AS x",
    "sum": lambda n: "RETURN 1" + " + 1" * n + " AS x",
    "index": lambda n: "MATCH (f:Page) RETURN f.topics" + "[0]" * n + " AS x",
    "WITH": lambda n: "MATCH (f:Page) " + "WITH f " * n + "RETURN f.uid",
    "WITH * and a name": lambda n: (
        "MATCH (f:Page) " + "".join(f"WITH *, 1 AS a{i} " for i in range(n)) + "RETURN f.uid"
    ),
    "WITH chain of names": lambda n: (
        "WITH 1 AS a0 " + "".join(f"WITH a{i} AS a{i + 1} " for i in range(n)) + f"RETURN a{n}"
    ),
    "UNWIND": lambda n: "".join(f"UNWIND [1] AS a{i} " for i in range(n)) + "RETURN a0",
    "OPTIONAL MATCH": lambda n: "MATCH (f:Page {uid: 'a'}) " + "OPTIONAL MATCH (f) " * n + "RETURN f.uid",
    "comma and the same node": lambda n: "MATCH (f:Page {uid: 'a'})" + ", (f)" * n + " RETURN f.uid",
    "comma and another node": lambda n: (
        "MATCH (f:Page)" + "".join(f", (n{i} {{uid: 'x'}})" for i in range(n)) + " RETURN f.uid"
    ),
    "columns": lambda n: "MATCH (f:Page) RETURN " + ", ".join(f"f.uid AS a{i}" for i in range(n)),
    "columns of nodes": lambda n: "MATCH (f:Page) RETURN " + ", ".join(f"f AS a{i}" for i in range(n)),
    "columns beside a count": lambda n: (
        "MATCH (f:Page) RETURN count(*) AS c, " + ", ".join(f"f.uid AS a{i}" for i in range(n))
    ),
    "orders": lambda n: "MATCH (f:Page) RETURN f.uid ORDER BY " + ", ".join(["f.uid"] * n),
    "columns and orders": lambda n: (
        "MATCH (f:Page) RETURN count(*) AS c, "
        + ", ".join(f"f.uid AS a{i}" for i in range(n))
        + " ORDER BY "
        + ", ".join(["f.uid"] * n)
    ),
    "map entries": lambda n: "MATCH (f:Page) RETURN {" + ", ".join(f"a{i}: f.uid" for i in range(n)) + "} AS m",
    "list items": lambda n: "MATCH (f:Page) RETURN [" + ", ".join(["f.uid"] * n) + "] AS m",
    "literals": lambda n: "RETURN [" + ", ".join(["'a'"] * n) + "] AS m",
    "labels": lambda n: "MATCH (f:Page" + "|Page" * n + ") RETURN f.uid",
    "types": lambda n: "MATCH (f:Page)-[:xref" + "|xref" * n + "]->(g) RETURN f.uid",
    "properties": lambda n: "MATCH (f:Page {" + ", ".join(["uid: 'a'"] * n) + "}) RETURN f.uid",
    "parameters": lambda n: "RETURN [" + ", ".join(f"$p{i}" for i in range(n)) + "] AS m",
    "comments": lambda n: "RETURN " + "/* a */ " * n + "1 AS x",
    "open comment": lambda n: "RETURN 1 AS x /" + "* *" * n,
    "stars": lambda n: "RETURN 1 AS x /*" + "*" * n,
    "quotes": lambda n: "RETURN " + "'\\''" * n,
    "backslashes": lambda n: "RETURN '" + "\\\\" * n,
    "open brackets": lambda n: "RETURN " + "([{" * n,
    "digits": lambda n: "RETURN " + "1" * n + "x AS y",
    "dots": lambda n: "RETURN f" + ".a" * n + "() AS y",
    "unknown function": lambda n: "RETURN " + "a" * n + "(1) AS y",
}
