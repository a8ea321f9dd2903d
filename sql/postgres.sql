-- SPDX-License-Identifier: Apache-2.0
-- seqbroker's tables in one PostgreSQL schema, as a DBA would make them:
--   psql -1 -v ON_ERROR_STOP=1 -f postgres.sql DATABASE
-- The broker runs this text itself when it may create tables (in PostgreSQL
-- 15 and later that needs CREATE on the schema). It makes all or nothing: where
-- the tables are, it fails. PostgreSQL 12 or later.
--
-- Apart from them the broker's user needs no more than
--   GRANT SELECT, INSERT, UPDATE ON seqb_counters TO seq;
--   GRANT SELECT, INSERT ON seqb_claims TO seq;
-- (and EXECUTE on pg_control_system(), which everybody has unless it was
-- revoked). Nothing is ever deleted: a row that is gone is a counter that
-- begins again.

-- One row a counter: "<pool>/<partition>/<key>", or "window/..." for the
-- windows that this store leases as an authority, "ticket/..." for what brokers
-- keep over a stop. `origin` names the history
-- of the table in which `value` holds: the system's identifier, its timeline,
-- and the table's file, so that a promotion, a copy in another server, a
-- restored dump and TRUNCATE are all seen (VACUUM FULL and CLUSTER too, which
-- costs a gap).
CREATE TABLE seqb_counters (
    name   text   PRIMARY KEY,
    value  bigint NOT NULL CHECK (value >= 0),
    origin text   NOT NULL
) WITH (fillfactor = 50); -- room beside each row for its next versions

-- The base: where counters start that are not here yet.
INSERT INTO seqb_counters (name, value, origin)
SELECT '', 0, (SELECT system_identifier::text FROM pg_control_system())
    || ':' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
    || ':' || pg_relation_filepath('seqb_counters');

-- What the first broker said of the layout; later ones compare.
CREATE TABLE seqb_claims (
    name text PRIMARY KEY,
    text text NOT NULL
);
