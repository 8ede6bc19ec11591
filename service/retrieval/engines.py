"""What a query runs on: the engines, and what stands before each of them."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cypher_guard import Profile
from service.domain.deadline import Deadline
from service.observation import SILENT, Lookups, Observer, Reading
from service.ports import GraphReader, LexicalIndex, RunLog, TokenCounter, VectorIndex
from service.retrieval.anchors import Anchor
from service.retrieval.breaker import Breaker
from service.retrieval.cards import CardCache
from service.retrieval.computations import Computations
from service.retrieval.facets import FacetCounter
from service.retrieval.known_graph import PublishedSnapshots
from service.retrieval.query_vectors import QueryVectors
from service.retrieval.ranker import Ranker
from service.retrieval.tuning import KnownTunings
from service.settings import Settings

LEXICAL = "lexical"
VECTOR = "vector"

_SHARE_OF_TOOLS = 0.95


@dataclass
class Retrieval:
    """The engines of the pipeline, and what is remembered of earlier queries. Made once, by `bootstrap`."""

    lexical: LexicalIndex
    vectors: VectorIndex
    graph: GraphReader
    store: PublishedSnapshots
    query_vectors: QueryVectors
    tokens: TokenCounter
    cards: CardCache
    ranker: Ranker
    facets: FacetCounter
    profile: Profile
    run_log: RunLog
    tunings: KnownTunings
    settings: Settings
    observer: Observer = SILENT
    breakers: Mapping[str, Breaker] = field(init=False)
    covered_generation: int = field(default=-1, init=False)
    anchors: Computations[Hashable, list[Anchor]] = field(init=False)
    verdicts: Computations[Hashable, bool] = field(init=False)
    pins: Computations[Hashable, Mapping[str, Sequence[str]]] = field(init=False)

    def deadline(self) -> Deadline:
        """By when a tool that is called now must know its answer, or which engine kept it waiting: the rest of the
        request's time is its surface's, to say so."""
        return Deadline.after(self.settings.request_deadline * _SHARE_OF_TOOLS)

    def forget(self) -> None:
        """Forget all that was read of the current generation: its graph was mended."""
        self.cards.forget()
        self.facets.forget()
        self.ranker.forget()
        self._start_afresh()

    def readings(self) -> Iterator[Reading]:
        """How the breakers and the caches are."""
        for leg, breaker in self.breakers.items():
            yield Reading("cogitave_query_breaker_open", breaker.has_opened, (("leg", leg),))
        for cache, lookups in (
            ("query_vectors", self.query_vectors.lookups),
            ("cards", self.cards.lookups),
            ("priors", self.ranker.priors.lookups),
            ("facets", self.facets.lookups),
            ("anchors", self._anchor_lookups),
            ("verdicts", self._verdict_lookups),
        ):
            yield from lookups.readings(cache)

    def _start_afresh(self) -> None:
        self.covered_generation = -1
        self.anchors = Computations("anchors", self.settings.query_cache, self._anchor_lookups)
        self.verdicts = Computations("evidence", self.settings.query_cache, self._verdict_lookups)
        self.pins = Computations("pins", self.settings.query_cache)

    def __post_init__(self) -> None:
        self._anchor_lookups, self._verdict_lookups = Lookups(), Lookups()
        self._start_afresh()
        self.breakers = {
            name: Breaker(self.settings.breaker_failures, self.settings.breaker_pause / 1000)
            for name in (LEXICAL, VECTOR)
        }
