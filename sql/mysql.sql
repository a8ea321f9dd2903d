-- SPDX-License-Identifier: Apache-2.0
-- seqbroker's tables in a MySQL or MariaDB database, as a DBA would make
-- them: `mysql seq < mysql.sql`. It may be run again, and changes nothing
-- then. The broker runs this very text itself when it may create tables and
-- finds none; that takes CREATE beside the rights below. The database and the
-- user it never makes: those are yours, and so they stand in comments here:
--
--   CREATE DATABASE seq;
--   CREATE USER 'seq'@'10.0.0.%' IDENTIFIED BY '...';
--   GRANT SELECT, INSERT, UPDATE, DELETE ON seq.seqb_counters
--       TO 'seq'@'10.0.0.%';
--   GRANT SELECT, INSERT, UPDATE ON seq.seqb_claims TO 'seq'@'10.0.0.%';
--   GRANT SELECT, INSERT ON seq.seqb_incarnation TO 'seq'@'10.0.0.%';
--
-- The last is for pools with windows = "all" or authority = "neighbours".
--
-- DELETE on seqb_counters is for sequences with a period: without it the rows
-- of old periods stay, which the log says, and numbers go on.
--
-- The engine mysql-autoinc has a table for each counter of direct numbers that
-- has no period, which it makes with auto_create; else its error says what to
-- run. All its other counters are rows as below. A table takes beside the above
-- either the first line, for each such table, or the second:
--
--   GRANT SELECT, INSERT, DELETE ON seq.order_code_0 TO 'seq'@'10.0.0.%';
--   GRANT SELECT, INSERT, DELETE, CREATE ON seq.* TO 'seq'@'10.0.0.%';
--
-- DELETE is for keep_rows: without it no row is ever purged.
--
-- Never delete rows of these tables yourself: a counter without a row begins
-- at the base, or if its period is new at 1. The broker deletes those of old
-- periods, once it has noted that they are never made again. A table that was
-- emptied, altered, or put back from a dump is noticed, and its counters go on
-- `failover_gap` higher. A snapshot of the disk or the machine is not noticed,
-- nor are the copied files of a MySQL: docs/operations.md says what to do.

-- One row a counter: "<pool>/<partition>/<key>", or "window/..." for the
-- windows that this store leases as an authority, "ticket/..." for what brokers
-- keep over a stop; with "@STAMP" after it for each period of a sequence that
-- has them. `origin` names the server, and the making of this table, in which
-- `value` holds. Bytes, not characters: so 'a', 'A' and 'a ' are three names.
-- "cell:..." counts in windows that another store leased, in pools with
-- windows = "all": `value` is how many of a window are used, `origin` is
-- "<window>:<size>:" and a digest of the origin and the server's incarnation.
-- Four kinds of rows are no counters:
--   ''           the base: where counters start that are not here yet
--   '@'          counters of periods that begin after this (ms since 1970) are
--                as new as they seem, and start at 1
--   '@<counter>' its periods that begin before this (ms since 1970) are never
--                made again; `origin` is the first one that is not deleted
--   '@@<counter>' of one without a period: it was granted nothing above this
CREATE TABLE IF NOT EXISTS seqb_counters (
    name   VARBINARY(127) NOT NULL PRIMARY KEY,
    value  BIGINT         NOT NULL CHECK (value >= 0),
    origin VARBINARY(159) NOT NULL
) ENGINE = InnoDB;

-- What the first broker said of the layout; later ones compare.
CREATE TABLE IF NOT EXISTS seqb_claims (
    name VARBINARY(127)  NOT NULL PRIMARY KEY,
    text VARBINARY(4095) NOT NULL
) ENGINE = InnoDB;

-- The incarnation of the server, which cells and leases are bound to: a table in
-- memory is empty after each start of the server, and the first broker puts
-- another nonce into it. Never make it InnoDB's, nor put it back from a dump.
CREATE TABLE IF NOT EXISTS seqb_incarnation (
    id    INT           NOT NULL PRIMARY KEY,
    nonce VARBINARY(32) NOT NULL
) ENGINE = MEMORY;

-- The base is made once in a store's life, by whoever makes the row 'store'.
START TRANSACTION;
INSERT IGNORE INTO seqb_claims (name, text) VALUES ('store', UUID());
INSERT INTO seqb_counters (name, value, origin)
SELECT '', 0, CONCAT_WS('/', /*!50700 @@server_uuid, */
    @@GLOBAL.server_id, @@hostname, @@port, SHA1(@@datadir), (SELECT CREATE_TIME + 0
    FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()
    AND TABLE_NAME = 'seqb_counters'))
FROM DUAL WHERE ROW_COUNT() = 1;
COMMIT;
