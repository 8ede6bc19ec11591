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


class ReadinessResult(Result):
    ready: bool
    engines: list[EngineReport]
    content_root: str
    generation: int
    passages: int
    vectors: int
    publishing: bool = Field(
        default=False, description="A large publish is being applied: the graph is between two snapshots."
    )
