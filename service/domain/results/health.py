"""Whether the service can answer, and whether its stores agree."""

from pydantic import Field

from service.domain.results.result import Result


class Finding(Result):
    """One way in which a store differs from the snapshot: how often, and the first few names."""

    store: str
    code: str
    count: int
    examples: list[str]


class DoctorResult(Result):
    healthy: bool
    findings: list[Finding]
    content_root: str
    generation: int
    nodes: int = Field(description="Of the graph, as the list of kept snapshots counts them.")
    records: int = Field(
        description="What sources describe: the other nodes stand for what records only name, such as a product."
    )
    passages: int


class EngineReport(Result):
    engine: str
    role: str
    ready: bool
    reason: str | None = None


class PublishUnderWay(Result):
    """What the publish of this moment is doing."""

    stage: str
    done: int
    total: int = Field(description="0 where it is not known.")
    is_first: bool = Field(description="Nothing was published before, so that nothing can be found yet.")

    def __str__(self) -> str:
        if self.total:
            return f"{self.stage}, {self.done:,} of {self.total:,}"
        return f"{self.stage}, {self.done:,}" if self.done else self.stage


class ReadinessResult(Result):
    ready: bool
    engines: list[EngineReport]
    content_root: str
    generation: int
    passages: int
    vectors: int
    publishing: bool = Field(default=False, description="A publish is under way.")
    between_snapshots: bool = Field(
        default=False, description="A large publish is being applied: the graph is between two snapshots."
    )
    under_way: PublishUnderWay | None = Field(
        default=None, description="What it is doing, where that is known, to callers who may operate the service."
    )
