// Pinned results and synonyms, apart from the graph as keys are.
CREATE CONSTRAINT tuning_key IF NOT EXISTS FOR (t:Tuning) REQUIRE t.key IS UNIQUE;
CREATE CONSTRAINT tuning_head IF NOT EXISTS FOR (h:TuningHead) REQUIRE h.workspace IS UNIQUE;
