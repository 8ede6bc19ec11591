"""How the engines are set up, and why: one table for the launchers, the tests and the compose file."""

from collections.abc import Mapping
from types import MappingProxyType

# The Java runtime flags and settings of each engine are those that were found necessary; a setting that only
# names a place or a port of this machine is added when a server starts.

NEO4J_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "dbms.security.auth_enabled": "true",
        # LOAD CSV is allowed in READ access mode, so it would hand out the server's files.
        "dbms.security.allow_csv_import_from_file_urls": "false",
        # LOAD CSV over HTTP would ask any server that this one can reach. Nothing else in Cypher uses the network.
        "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
        # The default of 2 s lets a transaction outlive a 250 ms timeout by that much.
        "db.transaction.monitor.check.interval": "25ms",
        # The last resort for a transaction whose client asked for no timeout; publishing needs minutes.
        "db.transaction.timeout": "10m",
        # A query that builds a huge value ends in an error of its own instead of exhausting the heap.
        "db.memory.transaction.max": "256m",
        # GDS reads the graph beside the transaction, which Neo4j lets only unrestricted procedures do.
        "dbms.security.procedures.unrestricted": "gds.*",
        # Of GDS's 458 procedures the service calls these; the others write to disk, to other databases, or run long.
        "dbms.security.procedures.allowlist": (
            "gds.graph.project,gds.graph.exists,gds.graph.list,gds.graph.drop,gds.pageRank.stream,gds.util.asNode"
        ),
        "server.memory.pagecache.size": "256m",
        "server.bolt.enabled": "true",
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        "dbms.usage_report.enabled": "false",
    }
)

# A server as its vendor ships it, which the service may not configure: the client's own fences must hold there.
NEO4J_DEFAULT_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "dbms.security.auth_enabled": "true",
        "server.bolt.enabled": "true",
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        "dbms.usage_report.enabled": "false",
    }
)

NEO4J_JAVA_FLAGS: tuple[str, ...] = (
    "-Xms512m",
    "-Xmx1g",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-XX:+ExitOnOutOfMemoryError",
)

OPENSEARCH_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "cluster.name": "cogitave-query",
        "node.name": "cogitave-query",
        "discovery.type": "single-node",
        "http.type": "netty4",
        "transport.type": "netty4",
        # A laptop's disk is often over 90 % full, which would make every index read-only.
        "cluster.routing.allocation.disk.threshold_enabled": "false",
        # A misspelt index name is an error, not a new index without our mappings.
        "action.auto_create_index": "false",
        "action.destructive_requires_name": "true",
    }
)

OPENSEARCH_JAVA_FLAGS: tuple[str, ...] = (
    "-Xms512m",
    "-Xmx512m",
    # Start-up is what a test run waits for: one collector thread and the quick compiler take 2.5 s instead of 13.
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "--enable-native-access=ALL-UNNAMED",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.awt.headless=true",
)
