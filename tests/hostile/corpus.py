"""The corpus of queries that the guard must accept or refuse, each with the reason.

One JSON row a line: `id`; `text`, or `build` for a text too long to write out (before + open·times + middle +
close·times + after); `profile`, a name in profiles.json, `bounded` unless said; `params`, absent where the check of
parameters is to be skipped; `expect`: accept, reject, or either (refused or answered, but never anything else);
`code`, the violation's, where the design fixes it; `why`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from cypher_guard import Profile
from tests.shared_data import GUARD

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Row:
    id: str
    text: str
    profile: str
    params: Mapping[str, Any] | None
    expect: Literal["accept", "reject", "either"]
    code: str | None
    why: str


@cache
def profiles() -> Mapping[str, Profile]:
    own = json.loads((HERE / "profiles.json").read_text())
    shared = json.loads((GUARD / "profile.json").read_text())
    return {name: Profile.from_mapping(fields) for name, fields in {**own, "shared": shared}.items()}


@cache
def own_rows() -> tuple[Row, ...]:
    """The corpus beside this file, in its order."""
    return tuple(_row(json.loads(line)) for line in (HERE / "corpus.jsonl").read_text().splitlines())


@cache
def shared_rows() -> tuple[Row, ...]:
    """The corpus that lies beside the checkout; a row of policy may go either way, so may a nice-to-have."""
    return tuple(_shared_row(json.loads(line)) for line in (GUARD / "corpus.jsonl").read_text().splitlines())


def rows(expect: str) -> Iterable[Row]:
    return [row for row in (*own_rows(), *shared_rows()) if row.expect == expect]


def _row(fields: Mapping[str, Any]) -> Row:
    return Row(
        id=fields["id"],
        text=fields["text"] if "text" in fields else _built(**fields["build"]),
        profile=fields.get("profile", "bounded"),
        params=fields.get("params"),
        expect=fields["expect"],
        code=fields.get("code"),
        why=fields["why"],
    )


def _built(before: str, open: str, times: int, middle: str, close: str, after: str) -> str:
    return before + open * times + middle + close * times + after


def _shared_row(fields: Mapping[str, Any]) -> Row:
    expect = fields["expect"]
    if expect == "policy" or (expect == "accept" and fields["tier"] == "ext"):
        expect = "either"
    return Row(
        id=f"shared-{fields['id']}",
        text=fields["text"],
        profile="shared",
        params=None,
        expect=expect,
        code=None,
        why=f"{fields['kind']}: {fields['note'] or 'an honest read'}",
    )
