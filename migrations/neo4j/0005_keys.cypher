// API keys, apart from the graph: no guarded query can name their label, and none matches a node without visibleTo.
CREATE CONSTRAINT api_key_id IF NOT EXISTS FOR (k:ApiKey) REQUIRE k.id IS UNIQUE;
