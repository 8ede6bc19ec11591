// Aliases as one word each: a list has no index by its elements otherwise, and a look-up reads every node. Nodes that an
// earlier version wrote are found by their aliases once they are written again: doctor --repair does.
CREATE FULLTEXT INDEX node_aliases IF NOT EXISTS FOR (n:Node) ON EACH [n.aliasWords]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}};
