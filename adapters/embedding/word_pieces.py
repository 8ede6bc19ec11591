"""The model's tokenizer (WordPiece): what the model reads of a text, and where each token stands in it."""

from tokenizers import Tokenizer

from adapters.embedding.packages import TOKENIZER, ModelUnusable
from service.ports import Span

TOKENS_READ = 256
"""The longest input that the model was made for, its two special tokens included; the rest of a text is not read."""

SPECIAL_TOKENS = 2


class WordPieces:
    """Fulfils the port TokenCounter."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        # The file asks for 128 tokens, always: padding makes a query four times as slow.
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self._first, self._last = _token_id(tokenizer, "[CLS]"), _token_id(tokenizer, "[SEP]")

    @classmethod
    def load(cls) -> "WordPieces":
        """Raises ModelUnusable."""
        return cls(Tokenizer.from_buffer(TOKENIZER.read()))

    def spans(self, text: str) -> list[Span]:
        """One span a token, in order. Tokens of one decomposed character (한) share its span."""
        offsets = self._tokenizer.encode(encodable(text), add_special_tokens=False).offsets
        return [Span(start, end) for start, end in offsets]

    def model_input(self, text: str) -> list[int]:
        """Token ids with the special ones around them, at most TOKENS_READ."""
        ids = self._tokenizer.encode(encodable(text), add_special_tokens=False).ids
        return [self._first, *ids[: TOKENS_READ - SPECIAL_TOKENS], self._last]


def _token_id(tokenizer: Tokenizer, token: str) -> int:
    found = tokenizer.token_to_id(token)
    if found is None:
        raise ModelUnusable(f"the tokenizer has no token {token}.")
    return int(found)


def encodable(text: str) -> str:
    """Lone surrogates, which no tokenizer takes, become question marks one for one, so spans stay true."""
    return text.encode("utf-8", "replace").decode("utf-8")
