// Identity: (uid, locale) names a node, and key is both in one string.
CREATE CONSTRAINT node_key IF NOT EXISTS FOR (n:Node) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT node_identity IF NOT EXISTS FOR (n:Node) REQUIRE (n.uid, n.locale) IS UNIQUE;

// Look-ups: a uid in every locale, and the filters that hold one value.
CREATE INDEX node_uid IF NOT EXISTS FOR (n:Node) ON (n.uid);
CREATE INDEX node_url IF NOT EXISTS FOR (n:Node) ON (n.url);
CREATE INDEX node_kind IF NOT EXISTS FOR (n:Node) ON (n.kind);
CREATE INDEX node_docset IF NOT EXISTS FOR (n:Node) ON (n.docset);

// Titles and aliases come analysed, parted by blanks: the same terms on every engine.
CREATE FULLTEXT INDEX node_titles IF NOT EXISTS FOR (n:Node) ON EACH [n.titleTerms]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
