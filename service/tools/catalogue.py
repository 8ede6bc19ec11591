"""Every tool there is, once: what it is called, what it takes and gives, and when not to use it.

Surfaces are made from this list, and so is the test that sends the same requests through all of them: a tool that
stands here can't be forgotten anywhere.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from service.domain.principal import Scope
from service.domain.requests import (
    FetchRequest,
    GraphQueryRequest,
    LearningPathRequest,
    ListRequest,
    NodesRequest,
    RelatedRequest,
    ReplayRequest,
    Request,
    RunRequest,
    RunsRequest,
    SampleRequest,
    SchemaRequest,
    SearchRequest,
    SuggestRequest,
    WhyNotRequest,
    XrefRequest,
)
from service.domain.results import (
    GraphQueryResult,
    LearningPathResult,
    ListResult,
    NodeResult,
    NodesResult,
    RelatedResult,
    ReplayResult,
    Result,
    RunResult,
    RunsResult,
    SampleResult,
    SchemaResult,
    SearchResult,
    SuggestResult,
    WhyNotResult,
    XrefResult,
)
from service.domain.tuning import (
    ReplaceTuningRequest,
    RollbackTuningRequest,
    TuningDifferenceRequest,
    TuningDifferenceResult,
    TuningHistoryRequest,
    TuningHistoryResult,
    TuningRequest,
    TuningResult,
)

Asked = TypeVar("Asked", bound=Request)
Given = TypeVar("Given", bound=Result)


@dataclass(frozen=True)
class Tool(Generic[Asked, Given]):
    """One tool. `path` is where REST serves it below /v1; `not_for` says which other tool to use instead,
    `scope` what its caller must be allowed."""

    name: str
    path: str
    title: str
    description: str
    not_for: str
    request: type[Asked]
    result: type[Given]
    scope: Scope = Scope.SEARCH


SEARCH = Tool(
    name="docs_search",
    path="search",
    title="Search the documentation",
    description="The passages of the documentation and courses that answer a question, best first, with their pages.",
    not_for="Not for a node of known uid (docs_fetch), code alone (code_sample_search), or counting (query_graph).",
    request=SearchRequest,
    result=SearchResult,
)
WHY_NOT = Tool(
    name="why_not",
    path="search/why-not",
    title="Why a node is no hit",
    description="Names the filter, leg or depth that leaves a node out of a search, or the rank at which it stands.",
    not_for="Not for why a hit ranks where it does: search with `explain`.",
    request=WhyNotRequest,
    result=WhyNotResult,
)
LIST = Tool(
    name="list_nodes",
    path="nodes",
    title="List the estate",
    description="The nodes that match a filter, by identity, page after page to the end; nothing is ranked.",
    not_for="Not for a question in words: docs_search.",
    request=ListRequest,
    result=ListResult,
)
FETCH = Tool(
    name="docs_fetch",
    path="fetch",
    title="Fetch one node",
    description="One page, unit or other node by its uid or url: its properties, its text by section, and its edges.",
    not_for="Not for finding a uid: docs_search, or resolve_xref for a uid that may be misspelt.",
    request=FetchRequest,
    result=NodeResult,
)
FETCH_BATCH = Tool(
    name="docs_fetch_batch",
    path="fetch/batch",
    title="Fetch several nodes",
    description="Several nodes by their uids, in that order, each with its properties, text and edges or its refusal.",
    not_for="Not for finding uids: docs_search. Not for one section of a node: docs_fetch.",
    request=NodesRequest,
    result=NodesResult,
)
SAMPLES = Tool(
    name="code_sample_search",
    path="samples",
    title="Search code samples",
    description="Code that does what a text says or uses an identifier, with its language and the page that owns it.",
    not_for="Not for explanations: docs_search.",
    request=SampleRequest,
    result=SampleResult,
)
RELATED = Tool(
    name="get_related",
    path="related",
    title="What lies around a node",
    description="Nodes within two steps of a uid, nearest first, each with the path that relates it.",
    not_for="Not for an order to learn in: get_learning_path.",
    request=RelatedRequest,
    result=RelatedResult,
)
LEARNING_PATH = Tool(
    name="get_learning_path",
    path="learning-path",
    title="The way to a goal",
    description="Ordered steps from known skills to a goal (skill, module, path, page), prerequisites first.",
    not_for="Not for what merely resembles a page: get_related.",
    request=LearningPathRequest,
    result=LearningPathResult,
)
XREF = Tool(
    name="resolve_xref",
    path="xrefs",
    title="Resolve cross-references",
    description="What uids or pages' addresses stand for: exact, in another case, alias, redirected; else suggestions.",
    not_for="Not for questions in words: docs_search.",
    request=XrefRequest,
    result=XrefResult,
)
SUGGEST = Tool(
    name="suggest",
    path="suggest",
    title="Complete a name",
    description="Titles, uids and identifiers that begin as a text does, or that it misspells, closest first.",
    not_for="Not for questions: docs_search. Not for a uid that must be resolved: resolve_xref.",
    request=SuggestRequest,
    result=SuggestResult,
)
GRAPH_QUERY = Tool(
    name="query_graph",
    path="query-graph",
    title="Query the graph",
    description="A bounded, read-only Cypher query over the property graph; describe_schema says what it may hold.",
    not_for="Not for finding text: docs_search ranks passages, Cypher does not.",
    request=GraphQueryRequest,
    result=GraphQueryResult,
    scope=Scope.GRAPH,
)
SCHEMA = Tool(
    name="describe_schema",
    path="schema",
    title="Describe the graph",
    description="Labels, edge types, properties, limits and examples of query_graph, counted from the live graph.",
    not_for="Not for the content of nodes: docs_fetch.",
    request=SchemaRequest,
    result=SchemaResult,
    scope=Scope.GRAPH,
)

RUNS = Tool(
    name="list_runs",
    path="runs",
    title="List runs",
    description="Answered searches as they were kept, newest first.",
    not_for="Not for searching.",
    request=RunsRequest,
    result=RunsResult,
    scope=Scope.OPERATE,
)
RUN = Tool(
    name="show_run",
    path="runs/show",
    title="Show a run",
    description="One answered search with every number that its hits' places came from.",
    not_for="Not for a search of now: docs_search with `explain`.",
    request=RunRequest,
    result=RunResult,
    scope=Scope.OPERATE,
)
REPLAY = Tool(
    name="replay_run",
    path="runs/replay",
    title="Replay a run",
    description="Asks a kept run's search again, and says which hits stand elsewhere now.",
    not_for="Not for a search of now: docs_search.",
    request=ReplayRequest,
    result=ReplayResult,
    scope=Scope.OPERATE,
)

TUNING = Tool(
    name="show_tuning",
    path="tuning/show",
    title="Show a tuning",
    description="The pinned results and synonyms of a workspace: the current version of them, or an earlier one.",
    not_for="Not for what they did to a search: docs_search with `explain`.",
    request=TuningRequest,
    result=TuningResult,
    scope=Scope.OPERATE,
)
TUNING_HISTORY = Tool(
    name="tuning_history",
    path="tuning/history",
    title="List a tuning's versions",
    description="Who changed the pinned results and synonyms of a workspace, when and why, newest first.",
    not_for="Not for what changed: tuning_difference.",
    request=TuningHistoryRequest,
    result=TuningHistoryResult,
    scope=Scope.OPERATE,
)
TUNING_DIFFERENCE = Tool(
    name="tuning_difference",
    path="tuning/difference",
    title="Compare two versions of a tuning",
    description="The pinned results and synonyms that one version has and another has not.",
    not_for="Not for a whole version: show_tuning.",
    request=TuningDifferenceRequest,
    result=TuningDifferenceResult,
    scope=Scope.OPERATE,
)
REPLACE_TUNING = Tool(
    name="replace_tuning",
    path="tuning/replace",
    title="Change a tuning",
    description="A new version of a workspace's pinned results and synonyms, in place of the one that is named.",
    not_for="Not for an earlier version's content: rollback_tuning.",
    request=ReplaceTuningRequest,
    result=TuningResult,
    scope=Scope.OPERATE,
)
ROLLBACK_TUNING = Tool(
    name="rollback_tuning",
    path="tuning/rollback",
    title="Bring back a tuning",
    description="An earlier version's pinned results and synonyms as a new version.",
    not_for="Not for a snapshot of the estate: rollback.",
    request=RollbackTuningRequest,
    result=TuningResult,
    scope=Scope.OPERATE,
)

OPERATOR_TOOLS: tuple[Tool[Request, Result], ...] = (  # type: ignore[assignment]
    RUNS,
    RUN,
    REPLAY,
    TUNING,
    TUNING_HISTORY,
    TUNING_DIFFERENCE,
    REPLACE_TUNING,
    ROLLBACK_TUNING,
)
"""What an operator asks over REST and on the command line; agents and readers are not offered them."""

TOOLS: tuple[Tool[Request, Result], ...] = (  # type: ignore[assignment]
    SEARCH,
    SAMPLES,
    RELATED,
    LEARNING_PATH,
    XREF,
    SUGGEST,
    GRAPH_QUERY,
    FETCH,
    FETCH_BATCH,
    SCHEMA,
    LIST,
    WHY_NOT,
)
