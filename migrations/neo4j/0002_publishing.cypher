// Content-addressed records, the snapshots that name them, and the journal of publishes.
CREATE CONSTRAINT record_content_hash IF NOT EXISTS FOR (r:Record) REQUIRE r.contentHash IS UNIQUE;
CREATE CONSTRAINT snapshot_content_root IF NOT EXISTS FOR (s:Snapshot) REQUIRE s.contentRoot IS UNIQUE;
CREATE CONSTRAINT snapshot_generation IF NOT EXISTS FOR (s:Snapshot) REQUIRE s.generation IS UNIQUE;
CREATE CONSTRAINT journal_name IF NOT EXISTS FOR (j:Journal) REQUIRE j.name IS UNIQUE;
