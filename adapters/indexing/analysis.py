"""Text → terms, the same for documents, queries and highlights: words stemmed, code identifiers whole and split."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from service.domain.graph import NEUTRAL_LOCALE

# A word with what joins it to the next in code and product names: net-maui-8.0, --no-restore, C#, C++, .NET, don't.
_WORD = re.compile(r"(?:(?<![\w.\-])(?:--?|[.@$#]))?\w+(?:(?:[.\-+'’]|--)\w+)*(?:\+\+|#)?")

_PIECE = re.compile(
    r"0[xX][0-9a-fA-F]+"
    r"|\d+(?:\.\d+)*"  # 8.0
    r"|[A-Z]+(?=[A-Z][a-z])"  # HTTP of HTTPClient
    r"|[A-Z]?[a-z]+\d*"  # Client, net8
    r"|[A-Z]+\d*"
    r"|[^\W\d_]+"
)

# Scripts that are written without spaces: their runs are cut into overlapping pairs.
_UNSPACED = re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿฀-๿]+")

_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)

# Longer words are data (a hash, a base64 blob), not something that is searched for.
_LONGEST_TERM = 128

_stop_and_stem: TextAnalyzer = (
    TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.stopword("english")).filter(Filter.stemmer("english")).build()
)


def is_english(locale: str) -> bool:
    """Whether the locale's text is stemmed; names that belong to no language are English ones."""
    return locale == NEUTRAL_LOCALE or locale.lower().partition("-")[0] == "en"


def document_terms(text: str, *, english: bool) -> list[str]:
    """Every term of the text, repeated as often as it occurs. English is stemmed; other languages are not."""
    of_chunk = _english_chunk if english else _plain_chunk
    return [term for chunk in text.split() for term in of_chunk(chunk)]


def spans_of(text: str, terms: frozenset[str], *, english: bool) -> list[tuple[int, int]]:
    """Where the words stand that hold one of the terms, code identifiers in one piece: text[start:end]."""
    of_chunk, of_word = (_english_chunk, english_terms) if english else (_plain_chunk, plain_terms)
    chunks = text.split()
    chosen = {chunk for chunk in set(chunks) if not terms.isdisjoint(of_chunk(chunk))}
    spans: list[tuple[int, int]] = []
    at = 0
    # Nothing but blanks lies between two chunks, so the next one is found where it stands.
    for chunk in chunks if chosen else ():
        start = text.index(chunk, at)
        at = start + len(chunk)
        if chunk in chosen:
            words = _WORD.finditer(chunk)
            spans.extend((start + w.start(), start + w.end()) for w in words if not terms.isdisjoint(of_word(w[0])))
    return spans


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One term of a query in the forms that documents may hold it: stemmed in English, as it is in other languages."""

    forms: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.forms[0]


# These make a sentence a question and say nothing of its subject. `where` is not among them: it is a word of SQL.
QUESTION_WORDS = frozenset(
    "what which who whom whose when why how do does did can could should would i you we my your our".split()
)


def query_terms(text: str) -> list[QueryTerm]:
    """The query's different terms in order; English stop words are none, and question words only where nothing else
    is asked."""
    found: dict[str, QueryTerm] = {}
    for word in _WORD.findall(text):
        for plain in plain_terms(word):
            for stem in _stemmed(plain):
                found.setdefault(stem, QueryTerm(tuple(dict.fromkeys((stem, plain)))))
    terms = list(found.values())
    return [term for term in terms if QUESTION_WORDS.isdisjoint(term.forms)] or terms


@lru_cache(maxsize=65_536)
def english_terms(word: str) -> tuple[str, ...]:
    """The terms of one word, stop words left out, the rest stemmed; a compound is kept whole beside its pieces."""
    return tuple(dict.fromkeys(stem for plain in plain_terms(word) for stem in _stemmed(plain)))


@lru_cache(maxsize=65_536)
def plain_terms(word: str) -> tuple[str, ...]:
    """The terms of one word in a language that we have no rules for: folded, neither stopped nor stemmed."""
    return tuple(dict.fromkeys(term for term in _split(word) if term))


# No word holds a blank, so a text is analysed chunk by chunk, and most chunks were met before.
@lru_cache(maxsize=131_072)
def _english_chunk(chunk: str) -> tuple[str, ...]:
    return tuple(term for word in _WORD.findall(chunk) for term in english_terms(word))


@lru_cache(maxsize=131_072)
def _plain_chunk(chunk: str) -> tuple[str, ...]:
    return tuple(term for word in _WORD.findall(chunk) for term in plain_terms(word))


def _split(word: str) -> Iterator[str]:
    """The whole word folded, then its pieces where it has several."""
    if len(word) > _LONGEST_TERM:
        return
    if unspaced := _UNSPACED.findall(word):
        for run in unspaced:
            yield from (run[at : at + 2] for at in range(max(1, len(run) - 1)))
        for part in _UNSPACED.split(word):
            yield from (piece.casefold() for piece in _PIECE.findall(_unaccented(part)))
        return
    word = _unaccented(_POSSESSIVE.sub("", word))
    whole = word.replace("'", "").replace("’", "")
    yield whole.casefold()
    pieces = _PIECE.findall(word) if whole == word else []
    if len(pieces) > 1 or (pieces and len(pieces[0]) < len(word)):
        # A single letter or digit tells nothing: the C of C# is not the C that someone asks for.
        yield from (piece.casefold() for piece in pieces if len(piece) > 1)


def _unaccented(word: str) -> str:
    """Accents don't tell words apart, nor do the forms that a letter is printed in."""
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFKD", word)
    # Some ligatures come apart into several words; a term is one.
    return "".join(letter for letter in letters if not unicodedata.combining(letter) and not letter.isspace())


def _stemmed(term: str) -> list[str]:
    """Only plain words are stemmed: a compound is a name."""
    return _stop_and_stem.analyze(term) if term.isalpha() else [term]
