"""Synonyms as an engine looks for them: terms of the same analysis as the text's own, each group weighed as one."""

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.indexing.analysis import QueryTerm, query_terms
from service.ports import Expansion

MOST_FORMS = 96
"""Forms of terms that one search is expanded by; an engine bounds the clauses of a query."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """What a passage may hold in the place of the question's own terms: all of `terms`, which score `weight` each."""

    terms: tuple[QueryTerm, ...]
    weight: float


def alternatives(expansions: Sequence[Expansion]) -> list[list[Alternative]]:
    """A group each: of its alternatives the best one counts. Several terms together weigh as much as one."""
    left = MOST_FORMS
    groups = []
    for expansion in expansions:
        group = []
        for text in expansion.alternatives:
            terms = tuple(query_terms(text))
            forms = sum(len(term.forms) for term in terms)
            if terms and forms <= left:
                left -= forms
                group.append(Alternative(terms, expansion.weight / len(terms)))
        if group:
            groups.append(group)
    return groups
