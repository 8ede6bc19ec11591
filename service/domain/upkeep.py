"""What the commands of upkeep answer. Field names are camelCase on the wire."""

from pydantic import Field

from service.domain.results import Result


class BackupResult(Result):
    """What an archive holds."""

    file: str
    content_root: str
    generation: int
    nodes: int
    size: int = Field(description="Bytes of its parts.")
    seconds: float


class ReembedEstimate(Result):
    """How much the model has to read, and how long that will take."""

    model: str
    passages: int = Field(description="Of the snapshot.")
    missing: int = Field(description="Passages that the model's index lacks.")
    texts: int = Field(description="Texts among them that the model has not read yet.")
    sample: int = Field(description="Texts that were read to tell; their vectors are kept.")
    texts_a_second: float = Field(description="0 where there was nothing to read.")
    seconds: float = Field(description="For the texts that are left.")


class ReembedResult(Result):
    """The model's index holds the whole snapshot."""

    model: str
    content_root: str
    generation: int
    passages: int
    added: int
    removed: int
    embedded: int = Field(description="Texts that the model read, the sample included.")
    seconds: float
