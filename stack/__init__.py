"""Starts the real Neo4j with Graph Data Science and the real OpenSearch without Docker, for tests and trials.

The engines are the ones that production runs, taken as packages from Maven and checked against the locks in
`stack/locks`. Not part of the wheel: see LICENSE-NOTE.md.
"""
