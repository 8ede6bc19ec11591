"""The words that the guard knows: Cypher's keywords, and the documentation graph of the default profiles."""


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# Clauses that write or change the schema or its users.
WRITING = words("CREATE MERGE SET DELETE DETACH NODETACH REMOVE INSERT FOREACH DROP ALTER GRANT DENY REVOKE RENAME")
# Other words that start a clause somewhere in Cypher, or stand where one could.
LEFT_OUT = words(
    """CALL LOAD USE SHOW TERMINATE EXPLAIN PROFILE CYPHER UNION START STOP FINISH FILTER LET NEXT WHEN USING
    YIELD FOR ENABLE DEALLOCATE REALLOCATE DRYRUN SEARCH EXCEPT INTERSECT OTHERWISE ORDER SKIP LIMIT OFFSET
    WHERE MATCH OPTIONAL WITH UNWIND RETURN"""
)
# Words that stand as a variable only where what follows leaves no doubt: `limit.title`, `RETURN end`.
SELDOM_A_VARIABLE = WRITING | LEFT_OUT | words("AND OR XOR IN THEN ELSE AS DISTINCT CONTAINS STARTS ENDS IS BY END")
FOLLOWS_A_VARIABLE = LEFT_OUT | words(
    ". , ) ] } = <> < > <= >= + / % ^ | : .. end AND OR XOR IN AS CONTAINS STARTS ENDS IS THEN ELSE DESC ASC"
)
# Words that some engine reads as syntax where a name stands; a rendering quotes them.
RESERVED = words(
    """ACCESS ACTIVE ADD ADMIN ALL ALTER AND ANY AS ASC ASCENDING BY CALL CASE COLLECT CONTAINS COUNT CREATE CSV
    CYPHER DELETE DESC DESCENDING DETACH DISTINCT DROP ELSE END ENDS EXISTS EXPLAIN FALSE FILTER FINISH FOR
    FOREACH FROM GRAPH GROUP IF IN INDEX INF INFINITY INSERT IS JOIN LET LIMIT LOAD MATCH MERGE NAN NEXT NONE NOT
    NULL OF OFFSET ON OPTIONAL OR ORDER PROFILE REDUCE REMOVE RETURN SET SHORTEST SHOW SINGLE SKIP START STARTS
    THEN TRUE UNION UNIQUE UNWIND USE USING WHEN WHERE WITH XOR YIELD"""
)
TYPE_NAMES = words(
    """BOOLEAN BOOL STRING VARCHAR INTEGER INT FLOAT DATE DURATION POINT NODE VERTEX RELATIONSHIP EDGE PATH MAP
    ANY NOTHING NULL"""
)

EDGE_TYPES = words("partOf dependsOn xref appliesTo forRole teachesSkill supersededBy implementedBy derivedFrom")
LABELS = words("Node Page Module Unit LearningPath CodeSample Product Skill Role Moniker Topic Api Retired")
EDGE_PROPERTIES = words("ordinal weight via file line publishId")
PROPERTIES = EDGE_PROPERTIES | words(
    """uid locale title kind type url summary products topics audience region level monikerRange lastModified
    docset workspace contentHash path language durationMinutes family order"""
)
