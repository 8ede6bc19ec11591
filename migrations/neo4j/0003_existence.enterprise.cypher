// What every node must have, where the edition can hold it to that.
CREATE CONSTRAINT node_key_exists IF NOT EXISTS FOR (n:Node) REQUIRE n.key IS NOT NULL;
CREATE CONSTRAINT node_uid_exists IF NOT EXISTS FOR (n:Node) REQUIRE n.uid IS NOT NULL;
CREATE CONSTRAINT node_locale_exists IF NOT EXISTS FOR (n:Node) REQUIRE n.locale IS NOT NULL;
CREATE CONSTRAINT node_visible_to_exists IF NOT EXISTS FOR (n:Node) REQUIRE n.visibleTo IS NOT NULL;
