"""`cypher-guard check` and `explain`: the guard on standard input; `cypher-guard mcp`: before a database."""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from cypher_guard.guarding import explain, guard
from cypher_guard.outline import outline, rewritten
from cypher_guard.plan import Plan
from cypher_guard.profile import BOUNDED, Profile
from cypher_guard.violation import Violation
from cypher_guard.visibility import Visibility

DONE, FAILED, USAGE, REFUSED = 0, 1, 2, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; returns 0 done, 1 failed, 2 wrong usage, 3 the explained query is refused."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["mcp"]:
        return _serve(given[1:])
    options = _parser().parse_args(given)
    try:
        profile = read_profile(options.profile)
    except (OSError, ValueError) as error:
        print(f"cypher-guard: {options.profile}: {error}", file=sys.stderr)
        return USAGE
    if options.command == "check":
        return _check(sys.stdin, sys.stdout, profile)
    if options.command == "explain":
        text = sys.stdin.read() if options.query is None else options.query
        return _explain(text, sys.stdout, profile, options.audience)
    print(profile.describe())
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="cypher-guard", description="Bound untrusted Cypher to read-only queries.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, purpose in (
        ("check", 'read {"id", "text", "params"} lines, write a verdict line for each'),
        ("explain", "show the tree, each rewriting and the rendering of one query"),
        ("describe", "print what the profile allows, as a tool's description"),
        ("mcp", "serve guarded queries over MCP before a Neo4j (needs the guard-mcp extra)"),
    ):
        command = commands.add_parser(name, help=purpose, description=purpose)
        command.add_argument("--profile", metavar="FILE.json", help="any subset of the profile's fields")
        if name == "explain":
            command.add_argument("query", nargs="?", help="the query; standard input if left out")
            command.add_argument("--audience", action="append", help="rewrite for a principal of this class")
    return parser


def _serve(arguments: list[str]) -> int:
    try:
        from cypher_guard.proxy import main as serve
    except ImportError as error:
        print(f"cypher-guard mcp needs the extra guard-mcp: {error}", file=sys.stderr)
        return FAILED
    return int(serve(arguments) or 0)


def read_profile(path: str | None) -> Profile:
    """The profile of a JSON file, or BOUNDED; raises OSError or ValueError."""
    if path is None:
        return BOUNDED
    return Profile.from_mapping(json.loads(Path(path).read_text(encoding="utf-8")))


def _check(source: TextIO, target: TextIO, profile: Profile) -> int:
    lines: Iterable[bytes | str] = getattr(source, "buffer", source)
    for line in lines:
        if line.strip():
            target.write(json.dumps(check_line(line, profile)) + "\n")
            target.flush()
    return DONE


def check_line(line: bytes | str, profile: Profile) -> dict[str, object]:
    """The verdict on one JSON line; a line that is no query is a reject like any other."""
    identity: object = None
    try:
        row = _read_row(line)
        given = row.get("id")
        identity = given if isinstance(given, (str, int, float)) else None
        query = guard(row.get("text"), row.get("params"), profile)  # type: ignore[arg-type]
    except Violation as violation:
        shown = violation.as_dict()
        del shown["excerpt"]
        return {"id": identity, "verdict": "reject", **shown, "cypher": None, "params": None}
    return {
        "id": identity,
        "verdict": "accept",
        "code": None,
        "message": None,
        "line": None,
        "column": None,
        "suggestion": None,
        "cypher": query.text,
        "params": dict(query.params),
    }


def _read_row(line: bytes | str) -> dict[str, object]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Violation("syntax", f"the line is not JSON: {type(error).__name__}") from None
    if not isinstance(row, dict):
        raise Violation("syntax", "the line is no JSON object")
    return row


def _explain(text: str, target: TextIO, profile: Profile, audiences: list[str] | None) -> int:
    visibility = None if audiences is None else Visibility(frozenset(audiences))
    try:
        plan = explain(text, profile, visibility=visibility)
    except Violation as violation:
        print(json.dumps(violation.as_dict(), ensure_ascii=False, indent=2), file=target)
        return REFUSED
    for line in explanation(text, plan):
        print(line, file=target)
    return DONE


def explanation(text: str, plan: Plan) -> Iterable[str]:
    """The tree as parsed, what was rewritten and where, and the rendering with its literals."""
    yield "Tree"
    yield from outline(plan.tree, 1)
    yield "Rewritten"
    for line, column, rewrite in rewritten(text, plan):
        yield f"  line {line}, column {column}: {rewrite}"
    yield "Rendered"
    yield f"  {plan.text}"
    for name, value in plan.literals.items():
        yield f"  ${name} = {json.dumps(value)}"
    yield f"  hops {plan.hops}, columns {', '.join(plan.columns)}, estimated rows touched {plan.cost:.0f}"


if __name__ == "__main__":
    sys.exit(main())
