"""BM25 over passages in the process, by tantivy (Lucene's formula, k1 = 1.2, b = 0.75)."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import tantivy
from tantivy import Occur, Query

from adapters.embedded.holdings import Holdings
from adapters.embedded.lexical_document import column, passage_document, passage_schema, stored_passage
from adapters.embedded.memo import Memo
from adapters.embedded.threads import EngineThreads, engine_failure
from adapters.indexing.analysis import QueryTerm, is_english, query_terms, spans_of
from adapters.indexing.expansion import Alternative, alternatives
from adapters.indexing.ranked_hits import in_order
from adapters.indexing.reach import Reach
from adapters.indexing.stored_passage import engine_text, record_term
from service.domain.content import Passage, PassageKey
from service.domain.deadline import Deadline
from service.domain.errors import EngineLate
from service.domain.filters import SearchScope
from service.domain.graph import EVERYONE, NodeIdentity
from service.observation import Reading
from service.ports import Expansion, PassageHit, Span

ENGINE = "tantivy"


class TantivyIndex:
    """LexicalIndex in a folder of its own. Searches see the last commit; one writer."""

    def __init__(
        self,
        index: tantivy.Index,
        *,
        title_boost: float,
        heading_boost: float,
        memory: int,
        kept_keys: int,
        kept_passages: int,
        workers: int,
        waiting: int,
    ) -> None:
        self._index = index
        self._schema = index.schema
        self._boosts = (("title", title_boost), ("heading", heading_boost), ("text", 1.0))
        self._writer: tantivy.IndexWriter | None = index.writer(memory, 1)
        self._writing = threading.Lock()
        # Swapped as one: what the searcher finds is what the holdings speak of.
        self._state = (searcher := index.searcher()), self._survey(searcher)
        self._reach = Reach()
        self._keys: Memo[int, PassageKey] = Memo(kept_keys)
        self._passages: Memo[PassageKey, Passage] = Memo(kept_passages)
        self._readers = EngineThreads(ENGINE, workers=workers, waiting=waiting, is_own=_is_own)
        self._writers = EngineThreads(ENGINE, workers=1, waiting=waiting, is_own=_is_own)

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        title_boost: float = 0.75,
        heading_boost: float = 0.5,
        memory: int = 64_000_000,
        kept_keys: int = 200_000,
        kept_passages: int = 10_000,
        workers: int = 2,
        waiting: int = 64,
    ) -> "TantivyIndex":
        """Open the index in `folder`, making it where there is none.

        memory: bytes that uncommitted passages may take; kept_keys, kept_passages: how many are remembered.
        Raises EngineUnavailable (also when another writer holds it) or DataFolderUnwritable.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            index = tantivy.Index(passage_schema(), path=str(folder))
            index.config_reader("manual", 0)
            return cls(
                index,
                title_boost=title_boost,
                heading_boost=heading_boost,
                memory=memory,
                kept_keys=kept_keys,
                kept_passages=kept_passages,
                workers=workers,
                waiting=waiting,
            )
        except (ValueError, OSError) as error:
            raise engine_failure(ENGINE, error) from error

    @property
    def engine(self) -> str:
        return ENGINE

    async def add(self, passages: Sequence[Passage], generation: int) -> None:
        def work(writer: tantivy.IndexWriter, holdings: Holdings) -> Holdings:
            for passage in passages:
                writer.delete_documents_by_term("key", engine_text(str(passage.key)))
                writer.add_document(passage_document(passage, generation))
            return holdings.with_added(passages, generation)

        if passages:
            await self._write(work)
            for passage in passages:
                self._passages.forget(passage.key)

    def terms(self, text: str) -> tuple[str, ...]:
        return tuple(term.name for term in query_terms(text))

    async def search(
        self, text: str, scope: SearchScope, *, depth: int, deadline: Deadline, expansions: Sequence[Expansion] = ()
    ) -> list[PassageHit]:
        terms = query_terms(text)
        if not terms:
            return []
        return await self._readers.run(lambda: self._search(terms, expansions, scope, depth), deadline)

    async def passages(
        self, keys: Sequence[PassageKey], scope: SearchScope, *, deadline: Deadline
    ) -> dict[PassageKey, Passage]:
        if deadline.has_passed:
            raise EngineLate(ENGINE)
        known = self._by_heart(keys, scope) if keys else {}
        if known is not None:
            return known
        return await self._readers.run(lambda: self._fetch(keys, scope), deadline)

    async def highlight(self, text: str, passages: Sequence[Passage], *, deadline: Deadline) -> list[tuple[Span, ...]]:
        if deadline.has_passed:
            raise EngineLate(ENGINE)
        forms = frozenset(form for term in query_terms(text) for form in term.forms)
        return [_highlights(passage, forms) for passage in passages]

    async def known_terms(self, text: str, scope: SearchScope, *, deadline: Deadline) -> Mapping[str, int]:
        terms = query_terms(text)
        if not terms:
            return {}
        return await self._readers.run(lambda: {term.name: self._count([term], scope) for term in terms}, deadline)

    async def remove(self, records: Collection[tuple[NodeIdentity, str]]) -> None:
        def work(writer: tantivy.IndexWriter, holdings: Holdings) -> Holdings:
            for identity, content_hash in records:
                writer.delete_documents_by_term("record", record_term(identity, content_hash))
            return holdings

        if records:
            await self._write(work)
            self._passages.clear()

    async def remove_after(self, generation: int) -> None:
        later = Query.range_query(self._schema, "generation", tantivy.FieldType.Unsigned, generation + 1, None)

        def work(writer: tantivy.IndexWriter, holdings: Holdings) -> Holdings:
            writer.delete_documents_by_query(later)
            return Holdings(min(holdings.latest, generation), holdings.all_public)

        await self._write(work)
        self._passages.clear()

    async def keys(self, generation: int) -> set[PassageKey]:
        def work() -> set[PassageKey]:
            searcher, _ = self._state
            held = max(1, searcher.num_docs)
            found = searcher.search(self._up_to(generation), held, count=False).hits
            addresses = [address for _, address in found]
            numbers = column(searcher, "number", addresses)
            return {self._key(searcher, *place) for place in zip(addresses, numbers, strict=True)}

        return await self._readers.run(work)

    async def check(self, deadline: Deadline) -> None:
        await self._readers.run(lambda: self._state[0].num_docs, deadline)

    def readings(self) -> Iterator[Reading]:
        """How long its queues are."""
        yield from self._readers.readings("reading")
        yield from self._writers.readings("writing")

    async def close(self) -> None:
        await self._readers.close()
        await self._writers.close()
        self._writer = None

    async def _write(self, work: Callable[[tantivy.IndexWriter, Holdings], Holdings]) -> None:
        """Do the work and commit it, or undo it; searches see it when this returns."""

        def write() -> None:
            with self._writing:
                writer = self._writer
                if writer is None:
                    raise ValueError("it is closed")
                try:
                    holdings = work(writer, self._state[1])
                    writer.commit()
                except BaseException:
                    writer.rollback()
                    raise
                self._index.reload()
                self._state = self._index.searcher(), holdings

        await self._writers.run(write)

    def _search(
        self, terms: Sequence[QueryTerm], expansions: Sequence[Expansion], scope: SearchScope, depth: int
    ) -> list[PassageHit]:
        searcher, holdings = self._state
        wanted = self._any_of(terms)
        if groups := alternatives(expansions):
            besides = [self._best_of(group) for group in groups]
            wanted = Query.boolean_query([(Occur.Should, one) for one in (wanted, *besides)])
        query = self._query(wanted, scope, holdings)
        limit = self._reach.first(depth)
        while True:
            hits = searcher.search(query, limit, count=False).hits
            records = column(searcher, "record_number", [address for _, address in hits])
            best: dict[int, int] = {}
            for place, record in enumerate(records):
                best.setdefault(record, place)
            if len(best) >= depth or len(hits) < limit:
                break
            limit = self._reach.next(limit)
        places = list(best.values())[:depth]
        if len(places) == depth:
            self._reach.learn(depth, places[-1] + 1)
        chosen = [hits[place] for place in places]
        numbers = column(searcher, "number", [address for _, address in chosen])
        ranked = [
            PassageHit(self._key(searcher, address, number), score)
            for (score, address), number in zip(chosen, numbers, strict=True)
        ]
        return in_order(ranked)

    def _by_heart(self, keys: Sequence[PassageKey], scope: SearchScope) -> dict[PassageKey, Passage] | None:
        """The passages without asking the engine; None where one is not remembered, or the scope may leave one out."""
        _, holdings = self._state
        if scope.filter.constraints() or not (holdings.all_current(scope) and holdings.all_visible(scope)):
            return None
        found = {key: passage for key in keys if (passage := self._passages.get(key)) is not None}
        return found if all(key in found for key in keys) else None

    def _fetch(self, keys: Sequence[PassageKey], scope: SearchScope) -> dict[PassageKey, Passage]:
        state = searcher, holdings = self._state
        names = [engine_text(str(key)) for key in keys]
        query = self._query(Query.term_set_query(self._schema, "key", names), scope, holdings)
        found = searcher.search(query, len(names), count=False).hits
        addresses = [address for _, address in found]
        passages: dict[PassageKey, Passage] = {}
        for address, number in zip(addresses, column(searcher, "number", addresses), strict=True):
            key = self._keys.get(number)
            passage = self._passages.get(key) if key is not None else None
            if passage is None:
                passage = stored_passage(searcher, address)
                self._keys.put(number, passage.key)
                self._passages.put(passage.key, passage)
            passages[passage.key] = passage
        if self._state is not state:
            # Removed meanwhile, perhaps: what this search saw is not to be remembered.
            self._passages.clear()
        return passages

    def _count(self, terms: Sequence[QueryTerm], scope: SearchScope) -> int:
        searcher, holdings = self._state
        query = self._query(self._any_of(terms), scope, holdings)
        return int(searcher.search(query, 1, count=True).count)  # type: ignore[attr-defined]

    def _key(self, searcher: tantivy.Searcher, address: tantivy.DocAddress, number: int) -> PassageKey:
        key = self._keys.get(number)
        if key is None:
            key = stored_passage(searcher, address).key
            self._keys.put(number, key)
        return key

    def _any_of(self, terms: Sequence[QueryTerm]) -> Query:
        clauses: list[tuple[Occur, Query]] = []
        for term in terms:
            for form in term.forms:
                for field, boost in self._boosts:
                    clause = Query.term_query(self._schema, field, form, "freq")
                    clauses.append((Occur.Should, clause if boost == 1.0 else Query.boost_query(clause, boost)))
        return Query.boolean_query(clauses)

    def _best_of(self, group: Sequence[Alternative]) -> Query:
        """A synonym's best alternative: what several of them say together is still one thing."""
        found = [Query.boost_query(self._all_of(one.terms), one.weight) for one in group]
        return found[0] if len(found) == 1 else Query.disjunction_max_query(found)

    def _all_of(self, terms: Sequence[QueryTerm]) -> Query:
        return Query.boolean_query([(Occur.Must, self._any_of([term])) for term in terms])

    def _query(self, wanted: Query, scope: SearchScope, holdings: Holdings) -> Query:
        """What is wanted, within the scope; the scope's conditions score nothing."""
        clauses = [self._one_of(name, values) for name, values in scope.filter.constraints().items()]
        if not holdings.all_current(scope):
            clauses.append(_must(self._up_to(scope.generation)))
        if not holdings.all_visible(scope):
            clauses.append(self._one_of("visibleTo", scope.audiences))
        return Query.boolean_query([(Occur.Must, wanted), *clauses]) if clauses else wanted

    def _survey(self, searcher: tantivy.Searcher) -> Holdings:
        """What a reopened index holds."""
        newest = searcher.search(Query.all_query(), 1, count=False, order_by_field="generation").hits
        public = Query.term_query(self._schema, "visibleTo", EVERYONE)
        public_too = searcher.search(public, 1, count=True).count  # type: ignore[attr-defined]
        return Holdings(
            latest=column(searcher, "generation", [newest[0][1]])[0] if newest else 0,
            all_public=public_too == searcher.num_docs,
        )

    def _one_of(self, field: str, values: Iterable[str]) -> tuple[Occur, Query]:
        return _must(Query.term_set_query(self._schema, field, [engine_text(value) for value in values]))

    def _up_to(self, generation: int) -> Query:
        return Query.range_query(self._schema, "generation", tantivy.FieldType.Unsigned, 0, generation)


def _must(query: Query) -> tuple[Occur, Query]:
    return Occur.Must, Query.const_score_query(query, 0.0)


def _is_own(error: Exception) -> bool:
    return isinstance(error, ValueError | OSError)


def _highlights(passage: Passage, terms: frozenset[str]) -> tuple[Span, ...]:
    spans = spans_of(passage.text, terms, english=is_english(passage.node.identity.locale))
    return tuple(Span(start, end) for start, end in spans)
