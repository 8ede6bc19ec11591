"""Random patterns: chains of nodes and relationships with labels, directions and lengths."""

from __future__ import annotations

from tests.hostile.vocabulary import LABELS, NUMBERS
from tests.hostile.writing import Writing


def write_pattern(here: Writing, *, named: bool, start: str | None) -> str:
    """A chain; `named`: it may introduce variables (a pattern predicate may not)."""
    chain = [write_node(here, named, start)]
    path_name = here.fresh("path") if named and here.random.random() < 0.12 else None
    for _ in range(here.one_of(0, 1, 1, 1, 1, 2, 2, 3) if named else 1):
        if here.hops <= 0:
            break
        chain += [
            write_hop(here, named),
            write_node(here, named, here.known_node() if here.random.random() < 0.12 else None),
        ]
    if path_name is None:
        return "".join(chain)
    here.scope.setdefault("path", []).append(path_name)
    return f"{path_name} = " + "".join(chain)


def write_node(here: Writing, named: bool, known: str | None) -> str:
    if known is not None:
        return f"({known})"
    roll = here.random.random()
    label = write_label(here) if roll < 0.45 else ""
    name = ""
    if named and (not here.scope.get("node") or here.random.random() < 0.75):
        name = here.fresh("n")
        here.scope.setdefault("node", []).append(name)
    properties = ""
    if here.random.random() < 0.12:
        key = here.random.choice(NUMBERS)
        properties = f" {{{key}: {here.random.randint(0, 3)}}}"
    elif name and here.random.random() < 0.1:
        properties = f" WHERE {name}.{here.random.choice(NUMBERS)} > {here.random.randint(0, 2)}"
    return f"({name}{label}{properties})"


def write_label(here: Writing) -> str:
    one, other = here.random.sample(LABELS, 2)
    return here.random.choice(
        [f":{one}"] * 8
        + [f":{one}|{other}", f":!{one}", f":{one}&!{other}", f":({one}|{other})&!{other}", ":%", f" IS {one}"]
    )


def write_hop(here: Writing, named: bool) -> str:
    here.hops -= 1
    kinds = here.random.choice(
        ["", "", ":xref", ":partOf", ":dependsOn", ":appliesTo", ":xref|dependsOn", ":xref|partOf|appliesTo"]
    )
    left, right = here.one_of(("-", "->"), ("-", "->"), ("<-", "-"), ("-", "-"), ("<-", "->"))
    roll = here.random.random()
    if roll < 0.15 and here.hops > 0 and not here.quantified:
        here.hops -= 1
        reach = here.random.choice(["*1..2", "*2", "*..2", "*0..1", "*0..2"])
        name = ""
        if named and here.random.random() < 0.3:
            name = here.fresh("rs")
            here.scope.setdefault("relationships", []).append(name)
        return f"{left}[{name}{kinds}{reach}]{right}"
    if roll < 0.12 and named and here.hops > 0 and here.quantified and (left, right) != ("<-", "->"):
        here.hops -= 1
        return f"{left}[{kinds}]{right}{here.one_of('{1,2}', '{2}', '{,2}')}"
    if not kinds and here.random.random() < 0.5:
        return {"--": "--", "-->": "-->", "<--": "<--", "<-->": "<-->"}[left + right]
    name, condition = "", ""
    if named and here.random.random() < 0.35:
        name = here.fresh("r")
        here.scope.setdefault("relationship", []).append(name)
        if here.random.random() < 0.2:
            condition = f" WHERE {name}.ordinal > 1"
    elif here.random.random() < 0.1:
        condition = " {ordinal: 1}"
    return f"{left}[{name}{kinds}{condition}]{right}"
