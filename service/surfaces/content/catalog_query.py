"""The parameters of /catalog, in the spelling of Microsoft Learn's catalog, as a request of ours."""

import re
from datetime import date, timedelta
from difflib import get_close_matches

from fastapi import Request
from pydantic import BaseModel, Field

from service.domain.errors import FilterUnknown, FilterValueUnknown
from service.domain.requests import CatalogRequest, FilterValues

ENTRIES = {"learningPaths": "learningPath", "modules": "module", "units": "unit", "pages": "page"}
"""List → the kind of node in it."""

VOCABULARIES = {"levels": "level", "roles": "role", "products": "product", "subjects": "topic"}
"""List → the facet that it counts."""

_FILTERS = {"locale": "locale", "level": "level", "role": "role", "product": "product", "subject": "topic"}

_ABSENT = {
    "popularity": "The estate does not record how popular its content is",
    "rating": "The estate does not record ratings",
}

_DAY = r"\d{4}-\d{2}-\d{2}"
_MODIFIED = re.compile(rf"(?:(?P<how>gte|gt|lte|lt|eq)[ +])?(?P<day>{_DAY})")

_LIST = "Comma-separated, or repeated: any of them suffices."


class CatalogQuery(BaseModel):
    """What narrows the catalog. Another name is refused."""

    type: list[str] = Field(default_factory=list, description=f"Lists to give; all by default. {_LIST}")
    uid: list[str] = Field(default_factory=list, description=_LIST)
    locale: list[str] = Field(default_factory=list, description=_LIST)
    level: list[str] = Field(default_factory=list, description=_LIST)
    role: list[str] = Field(default_factory=list, description=_LIST)
    product: list[str] = Field(default_factory=list, description=_LIST)
    subject: list[str] = Field(default_factory=list, description=_LIST)
    last_modified: list[str] = Field(
        default_factory=list,
        description="A date with gte, gt, lte, lt or eq before it, gte by default; both bounds may be given.",
        examples=[["gte 2026-01-01"]],
    )
    limit: int | None = Field(default=None, description="Entries on a page; as many as fit by default.")
    cursor: str | None = Field(default=None, description="The `nextCursor` of the page before.")


def catalog_request(query: CatalogQuery, http: Request) -> CatalogRequest:
    """Raises FilterUnknown for a parameter that is none, FilterValueUnknown for a list or a date that is none."""
    _refuse_unknown(http)
    lists = _split(query.type) or [*ENTRIES, *VOCABULARIES]
    for name in lists:
        if name not in ENTRIES and name not in VOCABULARIES:
            known = [*ENTRIES, *VOCABULARIES]
            nearest = get_close_matches(name, known, n=1)
            raise FilterValueUnknown(
                f"This catalog has no list of that type. Lists: {', '.join(known)}.",
                suggestion=nearest[0] if nearest else None,
            )
    kinds = [ENTRIES[name] for name in lists if name in ENTRIES]
    narrowed: FilterValues = {
        name: values for given, name in _FILTERS.items() if (values := _split(getattr(query, given)))
    }
    since, before = _bounds(query.last_modified)
    return CatalogRequest(
        filter={**({"kind": kinds} if kinds else {}), **narrowed},
        # A uid may hold a comma, so each stands for itself as well.
        uids=list(dict.fromkeys([*query.uid, *_split(query.uid)])),
        since=since,
        before=before,
        entries=bool(kinds),
        vocabularies=[VOCABULARIES[name] for name in lists if name in VOCABULARIES],
        limit=query.limit,
        cursor=query.cursor,
    )


def _refuse_unknown(http: Request) -> None:
    known = list(CatalogQuery.model_fields)
    for name in http.query_params:
        if name not in known:
            nearest = get_close_matches(name, known, n=1)
            why = _ABSENT.get(name, "There is no filter of that name")
            raise FilterUnknown(
                f"{why}. Filters of the catalog: {', '.join(known)}.", suggestion=nearest[0] if nearest else None
            )


def _split(values: list[str]) -> list[str]:
    return [part for value in values for part in (one.strip() for one in value.split(",")) if part]


def _bounds(conditions: list[str]) -> tuple[str | None, str | None]:
    """The first day that counts, and the first that does not."""
    since, before = [], []
    for condition in conditions:
        found = _MODIFIED.fullmatch(condition.strip())
        day = _day(found["day"]) if found else None
        if found is None or day is None:
            raise FilterValueUnknown(
                "last_modified takes a date such as 2026-01-31, after one of gte, gt, lte, lt and eq if need be.",
                suggestion="gte 2026-01-31",
            )
        after = day + timedelta(days=1) if day < date.max else day
        match found["how"] or "gte":
            case "gte":
                since.append(day)
            case "gt":
                since.append(after)
            case "lt":
                before.append(day)
            case "lte":
                before.append(after)
            case _:
                since.append(day)
                before.append(after)
    return (max(since).isoformat() if since else None, min(before).isoformat() if before else None)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
