"""The checked-in vectors are what the full-precision weights give, by an implementation that is not ONNX Runtime."""

import numpy as np
from safetensors.numpy import load_file

from adapters.embedding.packages import REFERENCE_WEIGHTS
from adapters.embedding.reference import references
from adapters.embedding.word_pieces import WordPieces
from bench.reference_vectors import SENTENCES, reference_vector


def test_the_file_holds_what_the_weights_say():
    weights = load_file(REFERENCE_WEIGHTS.locate())
    pieces = WordPieces.load()
    for reference in references():
        computed = reference_vector(weights, pieces.model_input(reference.text))
        assert np.allclose(computed, reference.vector, atol=2e-6)  # the file has six decimals


def test_every_sentence_is_in_the_file():
    assert sorted(reference.text for reference in references()) == sorted(SENTENCES)


def test_the_sentences_reach_beyond_what_the_model_reads():
    pieces = WordPieces.load()
    assert max(len(pieces.spans(sentence)) for sentence in SENTENCES) > 256
