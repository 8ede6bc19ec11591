"""A configuration to evaluate: settings that differ from the service's own, and how each query is put.

As a file it is TOML, of which nothing is required:

    name = "stronger prior"                     # else the file's own
    asker = ["currentDocument", "profile"]      # what of the asker each search is told; else nothing
    keep_current = true                         # else the document that the reader stands on is no answer
    [settings]
    prior_gain = 0.1
    [request]                                   # what every search carries, as REST takes it
    filter = {kind = ["unit"]}
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.domain.errors import ConfigurationUnreadable
from service.domain.requests import CallerProfile, SearchRequest
from service.evaluation.sets import Query
from service.settings import Settings

DEPTH = 100
"""Documents of each ranking that are judged."""

PATIENCE = 60_000
"""Milliseconds for every deadline that a configuration does not set: rankings are judged here, not speed."""

Told = Literal["currentDocument", "profile"]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str | None = None
    asker: Annotated[list[Told], Field(default_factory=list)]
    keep_current: bool = False
    settings: dict[str, Any] = Field(default_factory=dict)
    request: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True)
class Configuration:
    """`settings` are whole; `request` is what every search carries; `told` what it is told of the asker."""

    name: str
    settings: Settings
    request: SearchRequest = field(default_factory=lambda: SearchRequest(text="-"))
    told: frozenset[Told] = frozenset()
    keep_current: bool = False

    @property
    def walks_from_the_reader(self) -> bool:
        """Whether the graph prior speaks, and starts at the document that the reader stands on."""
        silent = {*self.request.without_signals, *self.settings.signals_off}
        return "currentDocument" in self.told and self.settings.prior_gain > 0 and "prior" not in silent

    def ask(self, query: Query, limit: int) -> SearchRequest:
        """The query's search. It is not logged: nobody asked it."""
        known: dict[str, Any] = {}
        if "currentDocument" in self.told:
            known["current_document"] = query.current_document
        if "profile" in self.told:
            role = query.roles[0] if query.roles else None
            known["profile"] = CallerProfile(level=query.level, role=role)
            known["products"] = list(query.products)
        return self.request.model_copy(update={"text": query.text, "limit": limit, "logged": False, **known})


def own_configuration(settings: Settings) -> Configuration:
    """What the service does as it stands."""
    return Configuration("settings", patient(settings, {}))


def load_configuration(file: Path, settings: Settings) -> Configuration:
    """Read one configuration over the service's own settings. Raises ConfigurationUnreadable."""
    try:
        said = _File.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
        request = SearchRequest.model_validate({"text": "-", **said.request})
        whole = patient(settings, said.settings)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationUnreadable(f"The configuration {file} can't be read: {error}.") from error
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigurationUnreadable(f"The configuration {file}: {place}: {first['msg']}.") from None
    return Configuration(said.name or file.stem, whole, request, frozenset(said.asker), said.keep_current)


def patient(settings: Settings, overrides: dict[str, Any]) -> Settings:
    """Raises ValidationError."""
    deadlines = {name: max(getattr(settings, name), PATIENCE) for name in DEADLINES}
    own = {name: getattr(settings, name) for name in Settings.model_fields}
    return Settings.model_validate({**own, **deadlines, "search_limit_cap": DEPTH + 1, **overrides})


DEADLINES = (
    "request_deadline",
    "lexical_deadline",
    "vector_deadline",
    "graph_deadline",
    "prior_deadline",
    "related_prior_deadline",
    "facet_deadline",
)
