"""Neo4j: the system of record, the graph that is queried, and PageRank by Graph Data Science."""
