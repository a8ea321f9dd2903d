-- SPDX-License-Identifier: Apache-2.0
-- seqbroker's tables in one PostgreSQL schema, as a DBA would make them:
--   psql -1 -v ON_ERROR_STOP=1 -f postgres.sql DATABASE
-- The broker runs this text itself when it may create tables (in PostgreSQL
-- 15 and later that needs CREATE on the schema). It makes all or nothing: where
-- the tables are, it fails. PostgreSQL 12 or later.
--
-- Apart from them the broker's user needs no more than
--   GRANT SELECT, INSERT, UPDATE, DELETE ON seqb_counters TO seq;
--   GRANT SELECT, INSERT, UPDATE ON seqb_claims TO seq;
-- (and EXECUTE on pg_control_system(), which everybody has unless it was
-- revoked). DELETE is for sequences with a period: without it the rows of old
-- periods stay, which the log says, and numbers go on. Never delete rows
-- yourself: a counter without a row begins at the base, or if its period is new
-- at 1. The broker deletes those of old periods, once it has noted that they
-- are never made again.

-- One row a counter: "<pool>/<partition>/<key>", or "window/..." for the
-- windows that this store leases as an authority, "ticket/..." for what brokers
-- keep over a stop; with "@STAMP" after it for each period of a sequence that
-- has them. `origin` names the history of the table in which `value` holds: the
-- system's identifier, its timeline, and the table's file, so that a promotion,
-- a restored dump and TRUNCATE are all seen (VACUUM FULL and CLUSTER too, which
-- costs a gap). A physical copy that is put back has all three, and is not seen:
-- docs/operations.md says what to do. Names are in the order of their
-- bytes, so that old periods are found by the key. "cell:..." counts in windows
-- that another store leased, in pools with windows = "all": `value` is how many
-- of a window are used, `origin` is "<window>:<size>:", the origin, and when the
-- server was started. Four kinds of rows are no counters:
--   ''           the base: where counters start that are not here yet
--   '@'          counters of periods that begin after this (ms since 1970) are
--                as new as they seem, and start at 1
--   '@<counter>' its periods that begin before this (ms since 1970) are never
--                made again; `origin` is the first one that is not deleted
--   '@@<counter>' of one without a period: it was granted nothing above this
CREATE TABLE seqb_counters (
    name   text   COLLATE "C" PRIMARY KEY,
    value  bigint NOT NULL CHECK (value >= 0),
    origin text   NOT NULL
) WITH (fillfactor = 50); -- room beside each row for its next versions

-- The base.
INSERT INTO seqb_counters (name, value, origin)
SELECT '', 0, (SELECT system_identifier::text FROM pg_control_system())
    || ':' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
    || ':' || pg_relation_filepath('seqb_counters');

-- What the first broker said of the layout; later ones compare. The order of
-- bytes needs no locale, whose changes make an index miss rows.
CREATE TABLE seqb_claims (
    name text COLLATE "C" PRIMARY KEY,
    text text NOT NULL
);
