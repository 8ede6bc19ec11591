"""all-MiniLM-L6-v2 in int8 on ONNX Runtime: 384 dimensions, English, about 30 passages a second on one core."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
import onnxruntime

from adapters.embedding.packages import WEIGHTS, ModelUnusable
from adapters.embedding.reference import LOWEST_COSINE, Reference, references
from adapters.embedding.word_pieces import SPECIAL_TOKENS, TOKENS_READ, WordPieces
from service.ports import Vector, Vectors

DIMENSIONS = 384


class MiniLM:
    """Fulfils the port Embedder.

    A text is run alone on one thread, several texts side by side: without padding there is nothing to waste, a core
    gets through more texts than in batches, and a vector can't depend on the texts that it came with.
    Queries have threads of their own, so that none waits behind a publish.
    """

    def __init__(self, session: onnxruntime.InferenceSession, pieces: WordPieces, *, threads: int) -> None:
        self._session = session
        self._pieces = pieces
        self._threads = threads
        self._pools = {
            purpose: ThreadPoolExecutor(threads, thread_name_prefix=f"minilm-{purpose}")
            for purpose in ("query", "passage")
        }

    @classmethod
    def load(cls, *, threads: int) -> "MiniLM":
        """Takes about 0.3 s. Raises ModelUnusable: a file is absent or changed, or its vectors are not the model's."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(WEIGHTS.read(), options, providers=["CPUExecutionProvider"])
        model = cls(session, WordPieces.load(), threads=threads)
        # One sentence warms the runtime up as well; `python -m adapters.embedding.check` tries all of them.
        model.verify(references()[:1])
        return model

    @property
    def model(self) -> str:
        return f"all-MiniLM-L6-v2/int8/{WEIGHTS.sha256[:12]}/mean/{TOKENS_READ}"

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    @property
    def tokens(self) -> WordPieces:
        return self._pieces

    @property
    def passage_tokens(self) -> int:
        return TOKENS_READ - SPECIAL_TOKENS

    async def embed(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Vectors:
        """Shape (texts, 384). Each call has at most `threads` texts in hand, so none queues without bound."""
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        loop = asyncio.get_running_loop()
        remaining = iter(range(len(texts)))

        async def work() -> None:
            for number in remaining:
                vectors[number] = await loop.run_in_executor(self._pools[purpose], self.vector, texts[number])

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._threads, len(texts))):
                group.create_task(work())
        return vectors

    def vector(self, text: str) -> Vector:
        """One text's vector, on the caller's thread: the mean of the token states, at unit length."""
        tokens = np.asarray([self._pieces.model_input(text)], dtype=np.int64)
        (states,) = self._session.run(
            None,
            {
                "input_ids": tokens,
                "attention_mask": np.ones_like(tokens),
                "token_type_ids": np.zeros_like(tokens),
            },
        )
        mean: Vector = states[0].mean(axis=0)
        return mean / np.linalg.norm(mean)

    def verify(self, expected: Sequence[Reference]) -> float:
        """The lowest cosine to the references. Raises ModelUnusable when one is below LOWEST_COSINE."""
        lowest = 1.0
        for reference in expected:
            cosine = float(self.vector(reference.text) @ reference.vector)
            # Not `<`: a NaN must fail.
            if not cosine >= LOWEST_COSINE:
                raise ModelUnusable(
                    f"onnxruntime {onnxruntime.__version__} on this machine gives the sentence "
                    f"'{reference.text[:60]}' a vector with cosine {cosine:.4f} to the model's own, below "
                    f"{LOWEST_COSINE}; run `make setup`, or set COGITAVE_QUERY_EMBEDDER=http."
                )
            lowest = min(lowest, cosine)
        return lowest

    async def close(self) -> None:
        for pool in self._pools.values():
            pool.shutdown(wait=True, cancel_futures=True)
