"""Does the vector leg know when it knows nothing? Fits the coefficients of `service.retrieval.evidence` on one estate
and measures the verdict on another: nonsense against real queries of every kind, none of which the fit has seen.

    python -m bench.evidence          measures the coefficients of the settings
    python -m bench.evidence --fit    prints coefficients fitted anew, and measures those
"""

import argparse
import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from adapters.embedding.word_pieces import SPECIAL_TOKENS, TOKENS_READ, WordPieces
from adapters.indexing.analysis import document_terms, query_terms
from bench.corpora import link_set, quiz_set, records_of
from bench.nonsense import KINDS, nonsense
from bench.report import Measurement, say, say_stack
from bench.vector_cache import embedded
from service.domain.content import NodeRecord, Passage
from service.domain.graph import NodeKind
from service.evaluation.sets import EvaluationSet
from service.ports import PassageHit, Vectors
from service.publishing.passages import cut
from service.retrieval.evidence import VectorEvidence, gather, is_supported, support
from service.settings import Settings

DEPTH = 100
TOP = 10
COUNT = 250
PIECES = WordPieces.load()

Examples = dict[str, list[VectorEvidence]]
"""Kind of query → what is known of each query at query time."""


@dataclass(frozen=True)
class Index:
    """Passages as both legs see them."""

    passages: Sequence[Passage]
    vectors: Vectors
    terms: Sequence[frozenset[str]]
    frequencies: Mapping[str, int]

    @classmethod
    async def of(cls, records: Sequence[NodeRecord]) -> "Index":
        passages = [passage for record in records for passage in cut(record, PIECES, TOKENS_READ - SPECIAL_TOKENS)]
        terms = [
            frozenset(document_terms(f"{passage.node.title} {passage.heading} {passage.text}", english=True))
            for passage in passages
        ]
        vectors = await embedded([passage.embedded_text for passage in passages])
        return cls(passages, vectors, terms, Counter(term for held in terms for term in held))

    def nearest(self, vector: npt.NDArray[np.float32], among: npt.NDArray[np.int64]) -> list[PassageHit]:
        cosines = self.vectors[among] @ vector
        best: dict[str, PassageHit] = {}
        for place in np.argsort(-cosines, kind="stable"):
            key = self.passages[among[place]].key
            best.setdefault(key.identity.uid, PassageHit(key, float(cosines[place])))
            if len(best) == DEPTH:
                break
        return list(best.values())


async def examples(index: Index, judged: EvaluationSet, seed: int, german: Mapping[str, str]) -> Examples:
    """Queries of every kind put to one estate. A real query counts where the vector leg does find what is relevant."""
    draw = random.Random(seed)
    found: Examples = {}
    texts = {query.id: query.text for query in judged.queries}
    relevant = {query: {d for d, gain in gains.items() if gain > 0} for query, gains in judged.judgments.items()}
    found["question"] = await _found(index, texts, relevant)
    found["two words"] = await _found(index, {query: _two_words(text, draw) for query, text in texts.items()}, relevant)
    found["a typing error"] = await _found(
        index, {query: _mistyped(text, draw) for query, text in texts.items()}, relevant
    )
    if german:
        found["German"] = await _found(index, german, {uid: {uid} for uid in german})
    found["no shared term"] = await _no_shared_term(index, texts, relevant)
    rare = sorted(term for term, count in index.frequencies.items() if count <= 2 and term.isalpha() and len(term) > 3)
    found["rare term"] = await _everything(index, draw.sample(rare, min(COUNT, len(rare))))
    for kind in KINDS:
        found[kind] = await _everything(index, nonsense(kind, COUNT, seed))
    return found


async def _found(index: Index, texts: Mapping[str, str], relevant: Mapping[str, Iterable[str]]) -> list[VectorEvidence]:
    """Of these texts, by query id, those that the vector leg has something relevant for."""
    everything = np.arange(len(index.vectors))
    found = []
    for (query, text), vector in zip(texts.items(), await embedded(list(texts.values())), strict=True):
        hits = index.nearest(vector, everything)
        if not {hit.passage.identity.uid for hit in hits[:TOP]}.isdisjoint(relevant[query]):
            found.append(_evidence(text, index.frequencies, len(everything), hits))
    return found


async def _no_shared_term(
    index: Index, texts: Mapping[str, str], relevant: Mapping[str, Iterable[str]]
) -> list[VectorEvidence]:
    """Each question put to the passages that share no term with it: only the meaning can find what is left."""
    found = []
    for (query, text), vector in zip(texts.items(), await embedded(list(texts.values())), strict=True):
        asked = {form for term in query_terms(text) for form in term.forms}
        rest = np.asarray([n for n, held in enumerate(index.terms) if asked.isdisjoint(held)], dtype=np.int64)
        if len(rest) < DEPTH:
            continue
        hits = index.nearest(vector, rest)
        if not {hit.passage.identity.uid for hit in hits[:TOP]}.isdisjoint(relevant[query]):
            found.append(_evidence(text, {}, len(rest), hits))
    return found


async def _everything(index: Index, texts: Sequence[str]) -> list[VectorEvidence]:
    everything = np.arange(len(index.vectors))
    return [
        _evidence(text, index.frequencies, len(everything), index.nearest(vector, everything))
        for text, vector in zip(texts, await embedded(texts), strict=True)
    ]


def _evidence(text: str, frequencies: Mapping[str, int], passages: int, hits: list[PassageHit]) -> VectorEvidence:
    known = {term.name: max(frequencies.get(form, 0) for form in term.forms) for term in query_terms(text)}
    return gather(text, known, passages, hits, PIECES)


def _two_words(text: str, draw: random.Random) -> str:
    long = [word for word in text.split() if len(word) > 4]
    return " ".join(draw.sample(long, 2)) if len(long) > 2 else text


def _mistyped(text: str, draw: random.Random) -> str:
    """Two neighbouring letters of the longest word change places."""
    words = text.split()
    longest = max(range(len(words)), key=lambda n: len(words[n]))
    word = words[longest]
    if len(word) > 3:
        at = draw.randrange(1, len(word) - 2)
        words[longest] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)


COEFFICIENTS = ("evidence_known", "evidence_cosine", "evidence_margin", "evidence_pieces")


def fit(found: Examples) -> dict[str, float]:
    """Logistic regression by Newton's method with a weak ridge; real queries and nonsense weigh the same in the whole,
    and so does each kind within its side."""
    rows, labels, weights = [], [], []
    real = [kind for kind in found if kind not in KINDS]
    for kind, evidence in found.items():
        side = real if kind in real else KINDS
        for one in evidence:
            rows.append([1.0, one.known, one.cosine, one.margin, float(np.log(max(1.0, one.pieces)))])
            labels.append(float(kind in real))
            weights.append(0.5 / len(side) / len(evidence))
    x, y, w = np.asarray(rows), np.asarray(labels), np.asarray(weights) * len(rows)
    ridge = np.diag([0.0, 1.0, 1.0, 1.0, 1.0])
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ beta))
        gradient = x.T @ (w * (y - p)) - ridge @ beta
        hessian = (x * (w * p * (1 - p))[:, None]).T @ x + ridge
        beta = beta + np.linalg.solve(hessian, gradient)
    return dict(zip(("evidence_intercept", *COEFFICIENTS), (round(float(b), 2) for b in beta), strict=True))


def auroc(real: Sequence[float], nonsense: Sequence[float]) -> float:
    """The chance that a real query scores above nonsense (Mann and Whitney's U), ties by half."""
    ranks = rankdata([*real, *nonsense])
    return float((ranks[: len(real)].sum() - len(real) * (len(real) + 1) / 2) / (len(real) * len(nonsense)))


def report(name: str, found: Examples, settings: Settings) -> None:
    scored: dict[str, list[float]] = {kind: [support(one, settings) for one in e] for kind, e in found.items()}
    cosine: dict[str, list[float]] = {kind: [one.cosine for one in e] for kind, e in found.items()}

    def pooled(scores: Mapping[str, list[float]], kinds: Callable[[str], bool]) -> list[float]:
        return [score for kind, of_kind in scores.items() if kinds(kind) for score in of_kind]

    for real in [kind for kind in found if kind not in KINDS]:
        value = auroc(scored[real], pooled(scored, KINDS.__contains__))
        alone = auroc(cosine[real], pooled(cosine, KINDS.__contains__))
        kept = np.mean([is_supported(one, settings) for one in found[real]])
        remark = f"beside the cosine alone; {kept:.1%} of {len(found[real])} keep their hits"
        say(Measurement(f"{name}: nonsense against '{real}'", value, "AUROC", alone), remark)
    real_scores = pooled(scored, lambda kind: kind not in KINDS)
    say(
        Measurement(
            f"{name}: nonsense against all real queries",
            auroc(real_scores, pooled(scored, KINDS.__contains__)),
            "AUROC",
            auroc(pooled(cosine, lambda kind: kind not in KINDS), pooled(cosine, KINDS.__contains__)),
        )
    )
    for kind in KINDS:
        refused = float(np.mean([not is_supported(one, settings) for one in found[kind]]))
        say(Measurement(f"{name}: nonsense ({kind}) left unanswered", refused, "of queries"))


async def run(fit_anew: bool) -> None:
    say_stack("cogitave-query", "onnxruntime", "numpy")
    titles = {r.node.identity.uid: r.node.title for r in records_of("learn-de-de") if r.node.kind is NodeKind.UNIT}
    halves = [dict(sorted(titles.items())[start::2]) for start in (0, 1)]
    records = records_of("learn-en-us")
    learn, quiz = await Index.of(records), quiz_set()
    settings = Settings()
    if fit_anew:
        training = await examples(learn, quiz, 1, halves[0])
        coefficients = fit(training)
        print("  fitted:", coefficients)
        settings = settings.model_copy(update=coefficients)
        report("fitted on learn-en-us", training, settings)
    held = {"German": await _found(learn, halves[1], {uid: {uid} for uid in halves[1]})}
    held |= {kind: await _everything(learn, nonsense(kind, COUNT, 3)) for kind in KINDS}
    report("held out, German titles on learn-en-us", held, settings)
    records = records_of("entity-framework")
    framework = await Index.of(records)
    report("held out, entity-framework", await examples(framework, link_set(records), 2, {}), settings)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true")
    asyncio.run(run(parser.parse_args().fit))
