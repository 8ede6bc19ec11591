"""Whether the vector leg's answer means anything: it finds a nearest passage for any text, nonsense included.

What is known at query time goes through a logistic model to the probability that the query says something about this
estate. `python -m bench.evidence` fits the coefficients and measures them on queries that it held out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.ports import PassageHit, TokenCounter
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class VectorEvidence:
    """What speaks for the vector leg's answer.

    known: the share of the query's terms, weighted by their rarity, that the lexical index holds; 0 for no terms.
    cosine: of the best hit. margin: of the best hit over the mean of the leg's hits.
    pieces: word pieces of the sentence model a word; 1 where it knows every word, more for what it never met.
    """

    known: float
    cosine: float
    margin: float
    pieces: float


def gather(
    text: str, known_terms: Mapping[str, int], passages: int, hits: Sequence[PassageHit], tokens: TokenCounter
) -> VectorEvidence:
    """`known_terms` as LexicalIndex gives them, among `passages` passages; `hits` are the vector leg's, best first."""
    cosines = [hit.score for hit in hits]
    best = max(cosines, default=0.0)
    return VectorEvidence(
        known=_known(known_terms, passages),
        cosine=best,
        margin=best - sum(cosines) / len(cosines) if cosines else 0.0,
        pieces=len(tokens.spans(text)) / max(1, len(text.split())),
    )


def support(evidence: VectorEvidence, settings: Settings) -> float:
    """The probability, 0 to 1, that the query says something about the estate."""
    return 1 / (1 + math.exp(-_log_odds(evidence, settings)))


def is_supported(evidence: VectorEvidence, settings: Settings) -> bool:
    """False: a hit that the vector leg alone has found is no answer."""
    return support(evidence, settings) >= settings.evidence_threshold


def needs_terms(hits: Sequence[PassageHit], text: str, tokens: TokenCounter, settings: Settings) -> bool:
    """Whether the verdict hangs on the query's terms: False where a query of unknown words would be supported too."""
    return not is_supported(gather(text, {}, 0, hits, tokens), settings)


def _log_odds(evidence: VectorEvidence, settings: Settings) -> float:
    return (
        settings.evidence_intercept
        + settings.evidence_known * evidence.known
        + settings.evidence_cosine * evidence.cosine
        + settings.evidence_margin * evidence.margin
        + settings.evidence_pieces * math.log(max(1.0, evidence.pieces))
    )


def _known(known_terms: Mapping[str, int], passages: int) -> float:
    """Σ idf of the known terms / Σ idf of all, with BM25's idf (Robertson and Zaragoza, 2009)."""
    weights = {term: _idf(frequency, passages) for term, frequency in known_terms.items()}
    total = sum(weights.values())
    return sum(weights[term] for term, frequency in known_terms.items() if frequency > 0) / total if total else 0.0


def _idf(frequency: int, passages: int) -> float:
    held = max(passages, frequency)
    return math.log(1 + (held - frequency + 0.5) / (frequency + 0.5))
