"""`cypher-guard mcp`: the guard before any Neo4j, over MCP on standard input and output."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cypher_guard.profile import Profile
from cypher_guard.visibility import Visibility

PASSWORD_VARIABLE = "NEO4J_PASSWORD"  # noqa: S105  the variable's name, not a password
DONE, FAILED, USAGE = 0, 1, 2


def main(arguments: Sequence[str]) -> int:
    """Serve, or write the profile that the live graph suggests; gives the exit code."""
    options = _parser().parse_args(arguments)
    password = os.environ.get(options.password_variable)
    if password is None:
        return _complain(f"set {options.password_variable} to the password of {options.user}", USAGE)
    try:
        profile = _read_profile(options.profile)
    except (OSError, ValueError) as error:
        return _complain(f"{options.profile}: {error}", USAGE)
    try:
        from cypher_guard import proxy_session
    except ImportError as missing:
        return _complain(f"{missing.name} is not installed: the proxy needs the extra guard-mcp", FAILED)
    visibility = Visibility(frozenset(options.audience), options.visibility_property) if options.audience else None
    connection = proxy_session.Connection(options.uri, options.user, password, options.database)
    try:
        if options.write_profile is not None:
            text = asyncio.run(proxy_session.suggest_profile(connection, visibility))
            options.write_profile.write_text(text)
        else:
            asyncio.run(proxy_session.serve(connection, profile, visibility))
    except proxy_session.Unreachable as error:
        return _complain(str(error), FAILED)
    except KeyboardInterrupt:
        pass
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cypher-guard mcp",
        description="Serve describe_schema and query_graph over MCP (stdio) before a Neo4j.",
    )
    parser.add_argument("--uri", required=True, help="bolt:// or neo4j:// address")
    parser.add_argument("--user", default="neo4j", help="name to log in with (%(default)s)")
    parser.add_argument("--database", help="database to query; the user's home database unless said")
    parser.add_argument(
        "--password-variable",
        default=PASSWORD_VARIABLE,
        metavar="NAME",
        help="environment variable that holds the password (%(default)s)",
    )
    parser.add_argument(
        "--profile", type=Path, metavar="FILE", help="JSON profile; inferred from the graph unless said"
    )
    parser.add_argument("--write-profile", type=Path, metavar="FILE", help="write the inferred profile there and end")
    parser.add_argument("--audience", action="append", default=[], metavar="NAME", help="show only nodes for these")
    parser.add_argument(
        "--visibility-property",
        default="visibleTo",
        metavar="NAME",
        help="list property that says who may see a node, where --audience is given (%(default)s)",
    )
    return parser


def _read_profile(path: Path | None) -> Profile | None:
    return None if path is None else Profile.from_mapping(json.loads(path.read_text()))


def _complain(message: str, code: int) -> int:
    print(f"cypher-guard mcp: {message}", file=sys.stderr)
    return code
