"""Every limit, weight and default, in one table: name, default, unit, help.

A value comes from the first of: the environment (`COGITAVE_QUERY_` and the name in capitals), a TOML file, the default
here. Secrets come from the environment alone and are never printed.
"""

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
)
from pydantic.fields import FieldInfo

from service.domain.errors import SettingInvalid
from service.domain.principal import Scope

ENVIRONMENT_PREFIX = "COGITAVE_QUERY_"


def _row(default: Any, help: str, unit: str = "", **bounds: Any) -> Any:
    return Field(default=default, description=help, json_schema_extra={"unit": unit}, **bounds)


Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures that a public key checks: one that shares a secret is none of them, nor is the lack of a signature."""


class ClaimRule(BaseModel):
    """What a token's holder may, who has `value` in `claim` (a name, or the path of a nested one); `*`: any value.

    `{value}` in a class stands for the value that was found.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    claim: Annotated[tuple[str, ...], BeforeValidator(lambda claim: (claim,) if isinstance(claim, str) else claim)] = (
        Field(min_length=1)
    )
    value: str = "*"
    scopes: tuple[Scope, ...] = ()
    classes: tuple[str, ...] = ()


def _network(text: str) -> str:
    """Raises ValueError for what is neither an address nor a network."""
    return text if ip_network(text).num_addresses > 1 else text.partition("/")[0]


class Settings(BaseModel):
    """The table. To change one behaviour, change one row."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    # Serving
    host: str = _row("127.0.0.1", "Address that the server binds to; anything but loopback needs authentication.")
    port: int = _row(8080, "Port that the server binds to; 0 takes a free one.", "port", ge=0, le=65535)
    request_bytes: int = _row(1_048_576, "Largest request body that a surface reads.", "bytes", ge=1024)
    request_deadline: int = _row(5_000, "Time in which a request must be answered.", "milliseconds", ge=10)
    readiness_deadline: int = _row(2_000, "Time in which /readyz asks every engine.", "milliseconds", ge=1)
    shutdown_deadline: int = _row(5_000, "Time that a stopping server gives the requests it has.", "milliseconds", ge=0)
    allowed_origins: tuple[str, ...] = _row(
        (), "Origins, such as https://chat.example.org, of web pages that may call /mcp; this machine's own always may."
    )
    connections: int = _row(256, "Most connections at once; one more is answered 503.", "connections", ge=1)
    keep_alive: int = _row(
        75,
        "How long a connection is kept for its next request: longer than a proxy before the server keeps it, which "
        "else sends into one that is just being closed.",
        "seconds",
        ge=1,
    )
    memory_heaps: int = _row(
        2,
        "Heaps that the threads of a server share, where the C library is glibc; 0 leaves it to glibc.",
        "heaps",
        ge=0,
    )
    startup_deadline: int = _row(10_000, "Time a command waits for the owner of the data folder.", "milliseconds", ge=0)

    # Access
    authentication: Literal["off", "required"] = _row(
        "off", "Whether callers must say who they are (`required`); `off` serves loopback addresses alone."
    )
    anonymous_scopes: tuple[Scope, ...] = _row(
        (), "Where authentication is required: scopes of a caller who brings no credentials, such as search."
    )

    # Traces
    trace_endpoint: str = _row(
        "",
        "Base URL of a receiver of traces over OTLP/HTTP, such as http://collector:4318; empty sends none.",
    )
    trace_headers: SecretStr = _row(
        SecretStr(""), "Headers sent to it, NAME=VALUE with commas between; from the environment only."
    )
    trace_share: float = _row(1.0, "Share of the traces that is sent.", "", ge=0, le=1)
    trace_texts: bool = _row(False, "Whether traces hold the texts of questions.")
    trace_queue: int = _row(2_048, "Spans that may wait to be sent; more are dropped.", "spans", ge=1)
    trace_deadline: int = _row(5_000, "Time that sending one batch of spans may take.", "milliseconds", ge=1)
    public_url: str = _row("", "Where callers reach this server, such as https://docs.example.org.")
    allowed_hosts: tuple[str, ...] = _row(
        (),
        "Names by which this server may be asked for (Host). Without authentication, names that are neither loopback's "
        "nor without a dot must stand here; with it, none means any.",
    )
    trusted_proxies: tuple[Annotated[str, AfterValidator(_network)], ...] = _row(
        (),
        "Addresses or networks, such as 10.0.0.0/8, of proxies whose X-Forwarded-For is believed; none: nobody's.",
    )
    session_secret: SecretStr = _row(
        SecretStr(""),
        "What the console's sessions are signed with, the same on every server; from the environment only. Empty makes "
        "one up at each start.",
    )
    session_lifetime: int = _row(28_800, "How long a sign-in to the console lasts.", "seconds", ge=60)
    visibility_classes: int = _row(64, "Most visibility classes of one caller.", "classes", ge=1)
    oidc_issuer: str = _row("", "Issuer of the access tokens that are taken, as they name it; empty takes none.")
    oidc_audiences: tuple[str, ...] = _row((), "Audiences, one of which a token must be meant for.")
    oidc_keys_url: str = _row("", "Where the issuer's keys are; empty asks its discovery document.")
    oidc_algorithms: tuple[Algorithm, ...] = _row(("RS256",), "Algorithms that a token may be signed by.")
    oidc_rules: tuple[ClaimRule, ...] = _row(
        (),
        'What claims allow: objects of claim, value, scopes and classes, such as {"claim": "groups", "value": "staff", '
        '"scopes": ["search"], "classes": ["internal"]}.',
    )
    oidc_leeway: int = _row(30, "How far the issuer's clock may be off.", "seconds", ge=0, le=300)
    oidc_deadline: int = _row(2_000, "Time in which the issuer must hand out its keys.", "milliseconds", ge=1)
    oidc_keys_age: int = _row(300, "Age at which the issuer's keys are fetched anew.", "seconds", ge=1)
    oidc_pause: int = _row(10, "Least time between two fetches of the issuer's keys.", "seconds", ge=0)
    oidc_outage: int = _row(3_600, "How long old keys go on counting while new ones can't be had.", "seconds", ge=0)
    key_deadline: int = _row(1_000, "Time that the key store may take.", "milliseconds", ge=1)
    key_staleness: int = _row(
        2_000, "How long a key is known by heart: a revoked one may still be let in.", "milliseconds", ge=0
    )
    key_outage: int = _row(900, "How long a known key is honoured while the key store can't be asked.", "seconds", ge=0)
    key_cache: int = _row(1_024, "Keys that are known by heart.", "keys", ge=1)
    requests_at_once: int = _row(
        128, "Requests that are worked on at once; one more is answered 503.", "requests", ge=1
    )
    caller_requests: int = _row(16, "Requests of one caller that are worked on at once, before 429.", "requests", ge=1)
    caller_rate: int = _row(1_200, "Requests a minute that one caller may make, where callers say who they are.", ge=1)
    address_rate: int = _row(300, "Requests a minute from one address, of callers without credentials.", ge=1)
    redis_url: SecretStr = _row(
        SecretStr(""),
        "URL of a Redis in which several servers count together; from the environment only. Empty counts in memory.",
    )
    redis_deadline: int = _row(100, "Time that Redis may take; then a server counts for itself.", "milliseconds", ge=1)
    drain_notice: int = _row(
        0,
        "How long a server that is told to stop (SIGTERM) goes on answering once /readyz has said so.",
        "milliseconds",
        ge=0,
    )
    audit_bytes: int = _row(10_000_000, "Size at which a file of the audit log is put aside.", "bytes", ge=1_000)
    audit_files: int = _row(5, "Files of the audit log that are kept of each kind.", "files", ge=1)
    judgments_kept: int = _row(100_000, "Grades given in the console that are kept for `evaluate`.", "grades", ge=1)
    key_use_interval: int = _row(60, "How often a key's last use is written down.", "seconds", ge=1)

    support_lines: int = _row(1_000, "Last log lines that a server keeps for a support bundle.", "lines", ge=0)

    # Requests
    query_characters: int = _row(2_000, "Longest query text; a longer one is refused.", "characters", ge=1)
    search_limit: int = _row(10, "Hits on a page when the request names no limit.", "hits", ge=1)
    search_limit_cap: int = _row(100, "Most hits on a page; a higher limit is refused.", "hits", ge=1)
    cursor_characters: int = _row(4_096, "Longest cursor that is read.", "characters", ge=64)
    result_bytes: int = _row(
        4_194_304, "Largest answer, as JSON; a larger one is cut, and says so.", "bytes", ge=65_536
    )
    summary_page: int = _row(500, "Nodes that are read from the graph at once for a catalog or a map.", "nodes", ge=1)
    document_page: int = _row(16, "Documents that are read at once for a stream of the estate.", "documents", ge=1)
    stream_silence: int = _row(
        30_000, "How long a reader of a stream may take nothing before it is given up.", "milliseconds", ge=10
    )
    agent_tokens: int = _row(
        10_000, "Tokens of text in one answer to an agent whose request names no `maxTokens`.", "tokens", ge=1
    )
    filter_values: int = _row(64, "Most values of one filter.", "values", ge=1)

    # Retrieval
    leg_depth: int = _row(100, "Nodes that each leg contributes, counted after collapsing passages.", "nodes", ge=1)
    lexical_deadline: int = _row(1_000, "Time that the lexical leg may take.", "milliseconds", ge=1)
    vector_deadline: int = _row(
        1_000, "Time that the vector leg may take, the query's embedding included.", "milliseconds", ge=1
    )
    graph_deadline: int = _row(
        500, "Time that one statement of the service may take in the graph.", "milliseconds", ge=1
    )
    fusion_k: int = _row(60, "Reciprocal Rank Fusion's k; ranks count from 1.", "ranks", ge=1)
    lexical_weight: float = _row(1.0, "The lexical leg's vote in the fusion.", "", ge=0)
    vector_weight: float = _row(1.0, "The vector leg's vote in the fusion.", "", ge=0)
    why_not_depth: int = _row(1_000, "Nodes of each leg that `why not` looks through.", "nodes", ge=1)
    related_frontier: int = _row(100, "Nodes that `related` steps on from.", "nodes", ge=1)
    related_prior_deadline: int = _row(1_000, "Time that `related` waits for the graph prior.", "milliseconds", ge=1)
    learning_nodes: int = _row(2_000, "Most nodes that a learning path is looked for in.", "nodes", ge=1)
    xrefs: int = _row(500, "Most uids of one request to resolve.", "uids", ge=1)
    xref_suggestions: int = _row(5, "Suggestions for a uid that is not found.", "uids", ge=0)
    suggest_limit: int = _row(8, "Suggestions when the request names no limit.", "suggestions", ge=1)
    suggest_limit_cap: int = _row(50, "Most suggestions; a higher limit is refused.", "suggestions", ge=1)
    suggest_candidates: int = _row(100, "Nodes that suggestions are chosen from.", "nodes", ge=1)
    fetch_batch: int = _row(20, "Most nodes that are fetched at once.", "nodes", ge=1)
    node_edges: int = _row(200, "Most edges shown of one node.", "edges", ge=1)
    anchor_limit: int = _row(8, "Most nodes that a query is anchored to.", "nodes", ge=0)
    breaker_failures: int = _row(5, "Failures in a row after which a leg is left out for a while.", "failures", ge=1)
    breaker_pause: int = _row(
        5_000, "Time that a failing leg is left out before it is tried again.", "milliseconds", ge=1
    )
    title_boost: float = _row(0.75, "BM25 boost of a match in the title.", "", ge=0)
    heading_boost: float = _row(0.5, "BM25 boost of a match in the heading.", "", ge=0)
    # Fitted by `python -m bench.evidence --fit`.
    evidence_intercept: float = _row(-1.12, "Log-odds that a query means something here, before any evidence.")
    evidence_known: float = _row(5.59, "What the share of known terms, by rarity, adds to the log-odds.", ge=0)
    evidence_cosine: float = _row(7.41, "What the best cosine adds to them.")
    evidence_margin: float = _row(2.54, "What its margin over the mean of the leg's hits adds.")
    evidence_pieces: float = _row(-3.07, "What the logarithm of word pieces a word adds.")
    evidence_threshold: float = _row(0.5, "Probability below which the vector leg's own hits are dropped.", ge=0, le=1)
    query_cache: int = _row(1_024, "Queries whose vectors are kept in memory.", "queries", ge=0)

    caller_profiles: int = _row(16, "Callers' profiles for which the signals' factors are kept.", "profiles", ge=1)
    node_cards: int = _row(20_000, "Nodes whose ranking and display fields are kept in memory.", "nodes", ge=1)

    # Tuning by people
    tuning_pins: int = _row(2_000, "Most pinned results of one workspace.", "pins", ge=0)
    tuning_synonyms: int = _row(2_000, "Most synonyms of one workspace.", "synonyms", ge=0)
    tuning_terms: int = _row(16, "Most terms of one synonym.", "terms", ge=2)
    tuning_characters: int = _row(200, "Longest words of a pin, term of a synonym, note or reason.", "characters", ge=1)
    tuning_places: int = _row(10, "Lowest place that a result can be pinned to.", "places", ge=1)
    tuning_versions: int = _row(200, "Versions of a workspace's tuning that are kept.", "versions", ge=1)
    tuning_workspaces: int = _row(64, "Workspaces that can be tuned.", "workspaces", ge=1)
    tuning_pins_shown: int = _row(10, "Most results pinned in one answer.", "pins", ge=1)
    tuning_expansions: int = _row(16, "Most synonyms that one question is expanded by.", "synonyms", ge=0)
    synonym_weight: float = _row(
        0.8, "BM25 weight of a synonym beside the question's own terms; at most theirs.", "", ge=0, le=1
    )
    tuning_deadline: int = _row(500, "Time that the tuning store may take.", "milliseconds", ge=1)
    tuning_staleness: int = _row(
        2_000, "How long a tuning is known by heart; other servers' changes show after it.", "milliseconds", ge=0
    )

    # Graph prior: weights and γ chosen by `python -m bench.prior --choose`.
    edge_weights: dict[str, tuple[float, float]] = _row(
        {
            "partOf": (1.0, 0.5),
            "dependsOn": (1.0, 0.5),
            "xref": (1.0, 0.25),
            "appliesTo": (0.0, 0.05),
            "forRole": (0.0, 0.05),
            "teachesSkill": (0.5, 0.25),
            "supersededBy": (1.0, 0.0),
            "implementedBy": (0.1, 0.0),
            "derivedFrom": (0.5, 0.25),
        },
        "What a random walk's step along, and against, an edge of each type is worth.",
    )
    page_rank_damping: float = _row(0.85, "Chance that a random walk goes on and does not start again.", "", gt=0, lt=1)
    page_rank_iterations: int = _row(20, "Steps of the power iteration.", "iterations", ge=1)
    prior_gain: float = _row(0.07, "γ: how much the graph prior may lift a hit, score · (1 + γ·prior).", "", ge=0)
    prior_deadline: int = _row(250, "Time that a query waits for the graph prior.", "milliseconds", ge=1)
    prior_compute_deadline: int = _row(30_000, "Time that one anchor's vector may take.", "milliseconds", ge=1)
    prior_vectors: int = _row(1_024, "Anchors whose vectors are kept in memory.", "vectors", ge=1)
    prior_classes: int = _row(64, "Visibility classes whose global scores are kept in memory.", "classes", ge=1)
    prior_l1_bound: float = _row(
        0.01, "Share of a vector's mass that it may lie off, extrapolated and truncated.", "", ge=0, lt=1
    )

    # Signals
    boost_clamp: float = _row(1.15, "Most that all boosts together may multiply a score by.", "", ge=1)
    moniker_inside: float = _row(1.05, "Factor of a page for the caller's version.", "", gt=0)
    moniker_outside: float = _row(0.35, "Factor of a page for other versions of the caller's product.", "", gt=0)
    age_floor: float = _row(0.99, "Factor that an ageing page tends to.", "", gt=0, le=1)
    age_half_life: float = _row(540, "Time in which half of an age's demotion sets in.", "days", gt=0)
    profile_match: float = _row(1.02, "Factor of a match with the caller's role, level, locale and the like.", "", gt=0)
    locale_fallback: float = _row(0.9, "Factor of a page in another language than the caller's.", "", gt=0)
    prerequisite_met: float = _row(1.05, "Factor when the caller knows all that a page requires.", "", gt=0)
    prerequisite_missing: float = _row(0.8, "Factor of each prerequisite that the caller lacks.", "", gt=0, le=1)
    prerequisite_floor: float = _row(0.6, "Least factor of missing prerequisites.", "", gt=0, le=1)
    level_far: float = _row(0.8, "Factor of a page two levels from the caller's.", "", gt=0)
    authority_weight: float = _row(0.005, "How much the highest global PageRank adds.", "", ge=0)
    superseded: float = _row(0.25, "Factor of a page that another supersedes.", "", gt=0)
    signals_off: tuple[str, ...] = _row((), "Signals that are switched off, by name.")

    # Facets
    facet_values: int = _row(1_000, "Most values of one facet.", "values", ge=1)
    facet_deadline: int = _row(250, "Time that a search waits for facets not counted yet.", "milliseconds", ge=1)
    facet_compute_deadline: int = _row(10_000, "Time that counting one facet may take.", "milliseconds", ge=1)
    facet_cache: int = _row(4_096, "Counted facets that are kept in memory.", "facets", ge=1)
    facet_combinations: int = _row(
        5_000,
        "Most different combinations of filterable values that facets are added up from in memory; "
        "where there are more, each facet is a query to the graph.",
        "combinations",
        ge=0,
    )
    facet_classes: int = _row(16, "Visibility classes whose combinations are kept in memory.", "classes", ge=1)

    # Graph queries
    graph_query_deadline: int = _row(
        250, "Wall clock that a query_graph may take, abort included.", "milliseconds", ge=1
    )
    graph_query_rows: int = _row(100, "Rows that a query_graph returns when it names no LIMIT.", "rows", ge=1)
    graph_query_rows_cap: int = _row(1_000, "Most rows that a query_graph returns.", "rows", ge=1)

    # GraphQL
    graphql_introspection: bool = _row(True, "Whether /graphql describes its own schema.")
    graphql_tokens: int = _row(2_000, "Longest GraphQL document.", "tokens", ge=10)
    graphql_depth: int = _row(20, "Deepest level of fields, fragments written out.", "levels", ge=1)
    graphql_fields: int = _row(500, "Most fields, fragments written out.", "fields", ge=1)
    graphql_aliases: int = _row(50, "Most aliases, fragments written out.", "aliases", ge=0)
    graphql_directives: int = _row(50, "Most directives, fragments written out.", "directives", ge=0)
    graphql_cost: int = _row(20_000, "Most values in an answer, as estimated from its page sizes.", "values", ge=1)
    graphql_calls: int = _row(20, "Most calls of tools that one GraphQL request makes.", "calls", ge=1)

    # Publishing
    default_locale: str = _row("en-us", "Locale of content that names none.")
    page_bytes: int = _row(
        4_194_304, "Largest source file that is read; a larger one is a diagnostic.", "bytes", ge=1024
    )
    code_sample_lines: int = _row(3, "Shortest code block that is a sample of its own.", "lines", ge=1)
    site_hosts: tuple[str, ...] = _row(
        (), "Hosts whose absolute links are links within the site, beside those that an estate names itself."
    )
    passage_overlap: int = _row(0, "Tokens that a cut passage repeats of the one before.", "tokens", ge=0)
    publish_batch: int = _row(256, "Passages that are embedded and added to the vectors at once.", "passages", ge=1)
    publish_text_batch: int = _row(
        4_096, "Passages that are added to the full-text index at once; each time costs it a commit.", "passages", ge=1
    )
    remembered_pages: int = _row(
        100_000,
        "Pages of published folders that a publisher remembers, so that only changed ones are read again.",
        "pages",
        ge=0,
    )
    publish_transaction: int = _row(
        10_000,
        "Nodes, edges and records that one transaction of Neo4j changes, about 8 KB of its memory each; a larger "
        "publish is applied in several, and `publishing` says so.",
        "rows",
        ge=1,
    )
    publish_heartbeat: int = _row(
        1_000, "Longest silence of a server that publishes in a command's place.", "milliseconds", ge=10
    )
    publish_bytes: int = _row(67_108_864, "Largest publish of a client that read the estates itself.", "bytes", ge=1024)
    publish_upload_deadline: int = _row(
        300_000, "Time in which such a publish must have been received.", "milliseconds", ge=10
    )
    server_key: SecretStr = _row(SecretStr(""), "API key that `publish --server` presents; from the environment only.")
    watch_interval: int = _row(
        150, "How often `publish --watch` looks whether a file has changed.", "milliseconds", ge=10
    )
    watch_settling: int = _row(
        100, "How long no file may change before `publish --watch` publishes.", "milliseconds", ge=10
    )
    watch_patience: int = _row(
        5_000, "When `publish --watch` publishes although files go on changing.", "milliseconds", ge=10
    )
    doctor_deadline: int = _row(600_000, "Time that the doctor's look at the graph may take.", "milliseconds", ge=1)
    publish_lease: int = _row(60, "Silence after which another publisher counts as dead.", "seconds", ge=4)
    kept_roots: int = _row(5, "Snapshots that can be rolled back to.", "snapshots", ge=1)
    kept_diagnostics: int = _row(
        2_000, "Diagnostics of the last publish that are kept for its page, the gravest first.", "diagnostics", ge=0
    )

    # Embedding
    embedder: str = _row("minilm", "`minilm` (the packaged model) or `http` (an OpenAI-compatible endpoint).")
    embedder_url: str = _row("", "Base URL of the OpenAI-compatible endpoint, ending in /v1.")
    embedder_model: str = _row("", "Model name sent to the endpoint.")
    embedder_key: SecretStr = _row(SecretStr(""), "Bearer token for the endpoint; from the environment only.")
    embedder_deadline: int = _row(10_000, "Time that one request to the endpoint may take.", "milliseconds", ge=1)
    embedder_dimensions: int = _row(0, "Dimensions of the endpoint's vectors; 0 asks it at the start.", ge=0)
    embedding_batch: int = _row(32, "Texts sent to the endpoint at once.", "texts", ge=1)
    embedding_threads: int = _row(2, "Texts that the packaged model reads side by side.", "threads", ge=1)

    reembed_sample: int = _row(64, "Texts that `reembed` reads to tell how long the rest takes.", "texts", ge=2)
    embedding_cache: int = _row(500_000, "Vectors kept by what they were made from.", "vectors", ge=0)

    # Engines: an empty URL means the embedded one
    neo4j_url: str = _row("", "Bolt URL of Neo4j; empty keeps the graph in the data folder.")
    neo4j_user: str = _row("neo4j", "User that reads and publishes.")
    neo4j_password: SecretStr = _row(SecretStr(""), "Its password; from the environment only.")
    opensearch_url: str = _row("", "URL of OpenSearch; empty keeps the text index in the data folder.")
    opensearch_user: str = _row("", "User of OpenSearch, where it asks for one.")
    opensearch_password: SecretStr = _row(SecretStr(""), "Its password; from the environment only.")
    qdrant_url: str = _row("", "URL of Qdrant; empty keeps the vectors in the data folder.")
    qdrant_key: SecretStr = _row(SecretStr(""), "API key of Qdrant; from the environment only.")
    engine_prefix: str = _row(
        "cogitave", "What the names of indexes and collections begin with.", pattern=r"^[a-z][a-z0-9-]*$"
    )
    engine_connections: int = _row(32, "Most connections that are open to one engine.", "connections", ge=1)

    # Embedded engines
    embedded_threads: int = _row(2, "Threads in which one embedded engine answers.", "threads", ge=1)
    embedded_waiting: int = _row(64, "Calls that may wait for one embedded engine; more are refused.", "calls", ge=0)
    text_index_memory: int = _row(
        64_000_000, "Passages that the text index gathers before it writes them.", "bytes", ge=15_000_000
    )
    passage_cache: int = _row(10_000, "Passages that are kept in memory as they are shown.", "passages", ge=0)
    passage_names: int = _row(200_000, "Passages whose names are kept in memory for each leg.", "passages", ge=0)
    vector_exact_passages: int = _row(
        100_000, "Passages without an HNSW graph, compared one by one, from which on one is built.", "passages", ge=1
    )
    vector_disk_reserve: int = _row(
        268_435_456, "Free space below which no vectors are written; their engine dies of a full disk.", "bytes", ge=0
    )
    vector_graph_deadline: int = _row(3_600, "Time that building an HNSW graph may take.", "seconds", ge=1)
    page_rank_classes: int = _row(8, "Visibility classes whose walks are kept in memory.", "classes", ge=1)

    # Runs
    run_log_records: int = _row(10_000, "Runs that are kept; the oldest give way.", "runs", ge=1)
    run_log_days: float = _row(30.0, "Age at which a run gives way.", "days", gt=0)
    run_log_bytes: int = _row(67_108_864, "Size of all kept runs; the oldest give way.", "bytes", ge=65_536)
    run_log_texts: bool = _row(False, "Keep the words of each question with its run; else they are left out.")


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One row of the table as `settings` prints it; a secret's value is only ever `set` or empty."""

    name: str
    value: str
    default: str
    unit: str
    help: str
    source: str


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The table's values, and where each that is no default comes from."""

    settings: Settings
    sources: Mapping[str, str]

    def rows(self) -> list[SettingRow]:
        return [
            SettingRow(
                name=name,
                value=_printable(getattr(self.settings, name)),
                default=_printable(field.default),
                unit=_unit(field),
                help=field.description or "",
                source=self.sources.get(name, "default"),
            )
            for name, field in Settings.model_fields.items()
        ]


def load_settings(file: Path | None = None, environment: Mapping[str, str] = os.environ) -> LoadedSettings:
    """Read the table's values. Raises SettingInvalid, naming the row, its source and what it takes."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    if file is not None:
        for name, value in _read_toml(file).items():
            _refuse_unknown(name, str(file))
            if _is_secret(name):
                raise SettingInvalid(
                    f"{file}: '{name}' is a secret; give it as {ENVIRONMENT_PREFIX}{name.upper()} instead."
                )
            values[name], sources[name] = value, str(file)
    for variable, text in environment.items():
        if not variable.startswith(ENVIRONMENT_PREFIX):
            continue
        name = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
        # An empty variable is how a compose file, or a shell, says that it sets none.
        if name in Settings.model_fields and text:
            values[name], sources[name] = _from_text(name, text, variable), variable
    try:
        return LoadedSettings(Settings.model_validate(values), sources)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = str(first["loc"][0])
        raise SettingInvalid(f"{sources.get(name, 'default')}: '{name}': {first['msg']}.") from None


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingInvalid(f"The settings file {file} can't be read: {error}.") from error


def _from_text(name: str, text: str, variable: str) -> Any:
    """A list or table is given as JSON; everything else as it stands."""
    if get_origin(Settings.model_fields[name].annotation) in (None, Literal):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise SettingInvalid(f"{variable}: '{name}' takes JSON.") from None


def _refuse_unknown(name: str, source: str) -> None:
    if name not in Settings.model_fields:
        nearest = get_close_matches(name, Settings.model_fields, n=1)
        raise SettingInvalid(
            f"{source}: there is no setting '{name}'; `cogitave-query settings` lists them.",
            suggestion=nearest[0] if nearest else None,
        )


def _is_secret(name: str) -> bool:
    return Settings.model_fields[name].annotation is SecretStr


def _unit(field: FieldInfo) -> str:
    extra = field.json_schema_extra
    return str(extra.get("unit", "")) if isinstance(extra, dict) else ""


def _printable(value: Any) -> str:
    if isinstance(value, SecretStr):
        return "set" if value.get_secret_value() else ""
    return str(value) if isinstance(value, str) else TypeAdapter(type(value)).dump_json(value).decode()
