"""OpenSearch: BM25 over passages."""
