"""Vectors from an OpenAI-compatible endpoint: `POST {url}/embeddings` with `model` and `input`."""

import asyncio
from collections.abc import Sequence
from typing import Literal

import httpx
import numpy as np
from pydantic import BaseModel, SecretStr, ValidationError
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential
from tenacity.stop import stop_before_delay

from adapters.embedding.word_pieces import SPECIAL_TOKENS, TOKENS_READ, WordPieces, encodable
from service.domain.errors import EngineLate, EngineUnavailable
from service.ports import Vectors

ENGINE = "embedding endpoint"

_BROKEN_OFF = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
"""An open connection that fails is worth another try; one that can't be opened is not."""


class HttpEmbedder:
    """Fulfils the port Embedder.

    Tokens are counted with the packaged model's tokenizer and passages are cut as short as its own: whatever the
    endpoint's tokenizer, 254 of these stay within the 512 that the smallest models read.
    """

    def __init__(self, client: httpx.AsyncClient, model: str, dimensions: int, *, deadline_ms: int, batch: int) -> None:
        self._client = client
        self._model = model
        self._dimensions = dimensions
        self._deadline_ms = deadline_ms
        self._batch = batch
        self._pieces = WordPieces.load()

    @classmethod
    async def connect(
        cls, url: str, model: str, key: SecretStr, *, dimensions: int, deadline_ms: int, batch: int
    ) -> "HttpEmbedder":
        """`url` ends in /v1; `dimensions` 0 asks the endpoint, and then raises EngineUnavailable when it is down."""
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key.get_secret_value() else {}
        client = httpx.AsyncClient(base_url=url, headers=headers, timeout=deadline_ms / 1000)
        embedder = cls(client, model, dimensions, deadline_ms=deadline_ms, batch=batch)
        if dimensions == 0:
            try:
                embedder._dimensions = (await embedder._request(["dimensions"])).shape[1]
            except BaseException:
                await embedder.close()
                raise
        return embedder

    @property
    def model(self) -> str:
        return f"{self._model}/{self._dimensions}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def tokens(self) -> WordPieces:
        return self._pieces

    @property
    def passage_tokens(self) -> int:
        return TOKENS_READ - SPECIAL_TOKENS

    async def embed(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Vectors:  # noqa: ARG002
        """Shape (texts, dimensions), one request a batch. Raises EngineLate and EngineUnavailable."""
        vectors = np.empty((len(texts), self._dimensions), dtype=np.float32)
        for start in range(0, len(texts), self._batch):
            batch = texts[start : start + self._batch]
            answered = await self._request(batch)
            if answered.shape[1] != self._dimensions:
                raise EngineUnavailable(
                    ENGINE, f"it gave vectors of {answered.shape[1]} dimensions where {self._dimensions} are indexed"
                )
            vectors[start : start + len(batch)] = answered
        return vectors

    async def close(self) -> None:
        await self._client.aclose()

    async def _request(self, texts: Sequence[str]) -> Vectors:
        """One batch, tried again while the endpoint is busy and the deadline allows."""
        seconds = self._deadline_ms / 1000
        attempts = AsyncRetrying(
            retry=retry_if_exception_type(_Busy), stop=stop_before_delay(seconds), wait=_wait, reraise=True
        )
        try:
            async with asyncio.timeout(seconds):
                return _checked(await attempts(self._attempt, [encodable(text) for text in texts]), len(texts))
        except (TimeoutError, httpx.TimeoutException):
            raise EngineLate(ENGINE, f"no answer within {self._deadline_ms} ms") from None
        except _Busy as busy:
            raise EngineUnavailable(ENGINE, busy.reason) from None
        except httpx.HTTPError as error:
            raise EngineUnavailable(ENGINE, f"it could not be reached ({type(error).__name__})") from None

    async def _attempt(self, texts: list[str]) -> httpx.Response:
        try:
            response = await self._client.post("embeddings", json={"model": self._model, "input": texts})
        except _BROKEN_OFF as error:
            raise _Busy(f"it broke off ({type(error).__name__})", 0.0) from None
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS or response.is_server_error:
            raise _Busy(f"it answered with status {response.status_code}", _seconds_asked_for(response))
        if not response.is_success:
            # The body is left out: an endpoint may repeat the key in it.
            raise EngineUnavailable(
                ENGINE, f"it refused with status {response.status_code}; check its URL, model and key"
            )
        return response


class _Busy(Exception):
    """Worth another try, after `seconds` at the earliest."""

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(reason)
        self.reason = reason
        self.seconds = seconds


class _Embedding(BaseModel):
    index: int
    embedding: list[float]


class _Answer(BaseModel):
    data: list[_Embedding]


_backoff = wait_random_exponential(multiplier=0.1, max=2.0)


def _wait(state: RetryCallState) -> float:
    """Random exponential, or what the endpoint asked for when that is longer."""
    raised = state.outcome.exception() if state.outcome else None
    return max(_backoff(state), raised.seconds if isinstance(raised, _Busy) else 0.0)


def _seconds_asked_for(response: httpx.Response) -> float:
    """Retry-After in seconds; its date form is taken for none."""
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else 0.0


def _checked(response: httpx.Response, expected: int) -> Vectors:
    """The answer's vectors in the order of the texts, each of unit length. Raises EngineUnavailable."""
    try:
        answer = _Answer.model_validate_json(response.content)
        rows = {item.index: item.embedding for item in answer.data}
        vectors = np.asarray([rows[number] for number in range(expected)], dtype=np.float32)
    except (ValidationError, KeyError, ValueError):
        raise EngineUnavailable(ENGINE, f"it did not answer with {expected} vectors of one length") from None
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if vectors.shape[1] == 0 or not np.isfinite(lengths).all() or not lengths.all():
        raise EngineUnavailable(ENGINE, "it answered with a vector that has no direction (zero, infinite or no number)")
    unit: Vectors = vectors / lengths
    return unit
