-- SPDX-License-Identifier: Apache-2.0
-- seqbroker's tables in one SQLite file, as a DBA would make them. The broker
-- runs this text itself when it may create the file.

-- One row a counter: "<pool>/<partition>/<key>", or "window/..." for the
-- windows that this store leases as an authority, "ticket/..." for what brokers
-- keep over a stop; "...@20261121" is of one period, here a day. `origin` names
-- the history of the file in which `value` holds (device, inode, store id).
-- "cell:..." counts in windows that another store leased, in pools with
-- windows = "all": `value` is how many of a window are used, `origin` is
-- "<window>:<size>:", the origin, and a nonce that is kept in /dev/shm.
-- Five kinds of rows are no counters:
--   ''           the base: where counters start that are not here yet
--   '@'          counters of periods that begin after this (ms since 1970) are
--                as new as they seem, and start at 1
--   '@<counter>' its periods that begin before this (ms since 1970) are never
--                made again; `origin` is the first one that is not deleted
--   '@@<counter>' of one without a period: it was granted nothing above this
--   'incarnation:<nonce>' of a nonce in /dev/shm: `origin` is the random name of
--                the last commit that was made with it, `value` its number
-- Whoever deletes old periods by hand must raise the last of these first.
CREATE TABLE IF NOT EXISTS seqb_counters (
    name   TEXT    PRIMARY KEY,
    value  INTEGER NOT NULL CHECK (value >= 0),
    origin TEXT    NOT NULL
) WITHOUT ROWID;

-- What the first broker said of the layout; later ones compare. And leases of
-- worker ids, which are replaced if they are what their holder knows.
CREATE TABLE IF NOT EXISTS seqb_claims (
    name TEXT PRIMARY KEY,
    text TEXT NOT NULL
) WITHOUT ROWID;

-- How many transactions were committed in this file. The broker also notes it
-- in an extended attribute of the file, where an older content that is written
-- into the same file does not bring it back.
CREATE TABLE IF NOT EXISTS seqb_commits (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    count INTEGER NOT NULL CHECK (count >= 0)
);
INSERT OR IGNORE INTO seqb_commits VALUES (1, 0);
