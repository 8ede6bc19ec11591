"""The engines that run inside the process: tantivy, qdrant-edge, kglite, scipy, and sqlite as the system of record."""
