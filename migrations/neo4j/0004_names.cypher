// The beginnings of the words of titles, aliases and uids, and who may see them, parted by blanks. Nodes that an earlier
// version wrote have none until they are written again: doctor --repair does.
CREATE FULLTEXT INDEX node_names IF NOT EXISTS FOR (n:Node) ON EACH [n.nameBeginnings, n.nameAudiences]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
