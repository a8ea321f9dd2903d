/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the mysql engines ask a server about itself: whether it is a primary
 * that keeps what it commits, and which one it is.
 */
#pragma once

#include "backends/mysql/link.h"

/*
 * The origin of that table (its name in quotes) as an SQL expression, never
 * NULL, at most SEQB_ORIGIN_SIZE - 1 bytes, computed again wherever it stands
 * in a statement: which server this is, and when it made the table. So a
 * replica, a dump that was put back, even on the same server, and on MariaDB
 * a copy of the server's files have another one each. server_id is the global
 * one: MariaDB's sessions have copies of it.
 *
 * MySQL from 5.7 on runs what is in the comment; MariaDB, which has no such
 * variable, does not. sql/mysql.sql has the same text. Takes about 50 us:
 * where many statements need it, SET a variable before them.
 */
#define MYSQL_ORIGIN_SQL(table)                                                \
    "CONCAT_WS('/', /*!50700 @@server_uuid, */ @@GLOBAL.server_id, "           \
    "@@hostname, "                                                             \
    "@@port, SHA1(@@datadir), (SELECT CREATE_TIME + 0 "                        \
    "FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() "          \
    "AND TABLE_NAME = " table "))"

/* The store's origin: the one that the rows of seqb_counters must carry. */
#define MYSQL_STORE_SQL MYSQL_ORIGIN_SQL("'seqb_counters'")

/* The same of seqb_claims: a dump puts back one table after the other. */
#define MYSQL_CLAIMS_SQL MYSQL_ORIGIN_SQL("'seqb_claims'")

/* How old the younger of these two tables is, in ms by the server's clock, less
 * what is below a second in the time when it was made. Negative if that is
 * ahead of the clock. */
#define MYSQL_AGE_SQL                                                          \
    "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 - "                                    \
    "(SELECT COALESCE(MAX(UNIX_TIMESTAMP(CREATE_TIME)), 0) * 1000 "            \
    "FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() "          \
    "AND TABLE_NAME IN ('seqb_counters', 'seqb_claims')) AS SIGNED)"

/* What cells must carry after their window and size: the store's origin, given
 * as SQL, and its incarnation, the nonce in a table that is empty after each
 * start of the server; NULL if it is, or the nonce. As a digest, for which
 * there is room. */
#define MYSQL_NOW_SQL(origin)                                                  \
    "SHA2(CONCAT(" origin ", '/', "                                            \
    "(SELECT NULLIF(nonce, '') FROM seqb_incarnation WHERE id = 1)), 256)"

/* When that table was made, as a number. */
#define MYSQL_CREATED_SQL(table)                                               \
    "(SELECT CREATE_TIME + 0 FROM information_schema.TABLES "                  \
    "WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = " table ")"

/* The incarnation of the store, as seqb_backend has it; NULL without a nonce. A
 * dump that is put back while the server runs is older data as well. */
#define MYSQL_RUN_SQL                                                          \
    "(SELECT CONCAT(nonce, '/', " MYSQL_CREATED_SQL(                           \
        "'seqb_counters'") ", '/', " MYSQL_CREATED_SQL("'seqb_claims'") ") "   \
                                                                        "FROM" \
                                                                        " seq" \
                                                                        "b_"   \
                                                                        "inca" \
                                                                        "rnat" \
                                                                        "ion " \
                                                                        "WHER" \
                                                                        "E "   \
                                                                        "id "  \
                                                                        "= 1)"

/*
 * The same of a Galera cluster, where dates of tables, and what is in memory,
 * are each node's own: the history of galera.h, which a node has while its
 * voucher, a digest of the dates of its tables, is in its seqb_incarnation.
 */
#define MYSQL_HISTORY "cluster/incarnation"
#define MYSQL_VOUCHER_SQL                                                      \
    "MD5(CONCAT(" MYSQL_CREATED_SQL(                                           \
        "'seqb_counters'") ", '/', " MYSQL_CREATED_SQL("'seqb_claims'") "))"
#define MYSQL_CLUSTER_RUN_SQL                                                  \
    "(SELECT text FROM seqb_claims WHERE name = '" MYSQL_HISTORY "' AND "      \
    "EXISTS (SELECT 1 FROM seqb_incarnation WHERE nonce = " MYSQL_VOUCHER_SQL  \
    "))"
#define MYSQL_CLUSTER_SQL "CONCAT_WS('/', 'galera', " MYSQL_CLUSTER_RUN_SQL ")"

/* Of wsrep_sync_wait: SELECT and BEGIN; INSERT. An UPDATE of one row needs no
 * wait: it is certified against whatever it did not see. */
#define MYSQL_SYNC_WAIT 5

/* The date of a table counts seconds. This is one, and 50 ms more, since files
 * are dated by a clock that lags behind by up to a tick. */
#define MYSQL_SETTLED_MS 1050

/* How a store is asked what it is, as SQL: as the macros above have it. */
struct mysql_origin_sql {
    const char *store;      /* its origin */
    const char *claims;     /* that of seqb_claims */
    const char *run;        /* its incarnation */
    const char *now;        /* what cells carry */
    const char *now_of_set; /* the same, of the origin in @seqb_origin */

    /* A statement that each transaction begins with which relies on claims
     * that it only reads: a cluster certifies rows that are written. Then no
     * two of them commit side by side. */
    const char *turn;
};

extern const struct mysql_origin_sql mysql_sql_of_server;
extern const struct mysql_origin_sql mysql_sql_of_cluster;

/* True while the server may be written to as a primary: part of the WHERE of
 * whatever grants, since read_only does not stop users with more rights. The
 * variable is a number or a word, by version; compared as a text, since MySQL
 * in strict mode refuses to change rows where 'OFF' is taken for a number. */
#define MYSQL_PRIMARY_SQL "CONCAT(@@GLOBAL.read_only) IN ('0', 'OFF')"

/*
 * Checks role and durability (SEQB_ROLE; SEQB_UNSAFE unless `accept_loss`),
 * fills server, domain, loss and fd of `base`, and version and is_mariadb of
 * the link. To be called after mysql_link_open.
 */
enum seqb_status mysql_server_check(struct mysql_link *link,
                                    const struct seqb_backend_options *options,
                                    struct seqb_backend *base,
                                    struct seqb_error *err);
