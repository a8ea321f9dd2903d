/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the mysql engines ask a server about itself: whether it is a primary
 * that keeps its commits, and which server it is.
 */
#pragma once

#include "backends/mysql/link.h"

/*
 * What names the server, as arguments of CONCAT_WS. A replica has another
 * server_id at least. server_id is read as a global variable because MariaDB's
 * sessions have copies of it.
 *
 * MySQL from 5.7 on evaluates the text in the comment; MariaDB, which has no
 * such variable, ignores it.
 */
#define MYSQL_SERVER_SQL                                                       \
    "/*!50700 @@server_uuid, */ @@GLOBAL.server_id, @@hostname, @@port, "      \
    "SHA1(@@datadir)"

/*
 * The origin of that table (its name in quotes) as an SQL expression, never
 * NULL, at most SEQB_ORIGIN_SIZE - 1 bytes. It is evaluated wherever it occurs
 * in a statement. It says which server this is and when it created the table.
 * So a replica, a restored dump (even on the same server) and, on MariaDB, a
 * copy of the server's files each have another origin. sql/mysql.sql has the
 * same text. An evaluation takes about 50 us: if many statements need it, SET a
 * variable before them.
 */
#define MYSQL_ORIGIN_SQL(table)                                                \
    "CONCAT_WS('/', " MYSQL_SERVER_SQL ", (SELECT CREATE_TIME + 0 "            \
    "FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() "          \
    "AND TABLE_NAME = " table "))"

/* The store's origin, which the rows of seqb_counters must have. */
#define MYSQL_STORE_SQL MYSQL_ORIGIN_SQL("'seqb_counters'")

/* The origin of seqb_claims. It is compared too, because a dump restores one
 * table after the other. */
#define MYSQL_CLAIMS_SQL MYSQL_ORIGIN_SQL("'seqb_claims'")

/* The age of the younger of these two tables, in ms by the server's clock, from
 * the whole second in which it was created. Negative if that is ahead of the
 * clock. */
#define MYSQL_AGE_SQL                                                          \
    "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 - "                                    \
    "(SELECT COALESCE(MAX(UNIX_TIMESTAMP(CREATE_TIME)), 0) * 1000 "            \
    "FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() "          \
    "AND TABLE_NAME IN ('seqb_counters', 'seqb_claims')) AS SIGNED)"

/* What cells must have after their window and size: the store's origin, given
 * as SQL, and its incarnation, which is the nonce in a table that is empty
 * after each start of the server. Stored as a digest, so that it fits. NULL if
 * that table or the nonce is empty. */
#define MYSQL_NOW_SQL(origin)                                                  \
    "SHA2(CONCAT(" origin ", '/', "                                            \
    "(SELECT NULLIF(nonce, '') FROM seqb_incarnation WHERE id = 1)), 256)"

/* When that table was created, as a number. */
#define MYSQL_CREATED_SQL(table)                                               \
    "(SELECT CREATE_TIME + 0 FROM information_schema.TABLES "                  \
    "WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = " table ")"

/* The dates of both tables, as arguments of CONCAT. */
#define MYSQL_DATES_SQL                                                        \
    MYSQL_CREATED_SQL("'seqb_counters'")                                       \
    ", '/', " MYSQL_CREATED_SQL("'seqb_claims'")

/*
 * The incarnation of the store, as in seqb_backend; NULL without a nonce. It
 * includes the tables' dates because a dump that is restored while the server
 * runs is older data as well. It includes a digest of the server's name because
 * replication copies the nonce, although its table is in memory, and may copy
 * the tables within the second of their date. So a replica that is promoted,
 * which may lack commits, has another incarnation than its primary.
 */
#define MYSQL_RUN_SQL                                                          \
    "(SELECT CONCAT(nonce, '/', " MYSQL_DATES_SQL ", '/', "                    \
    "LEFT(SHA1(CONCAT_WS('/', " MYSQL_SERVER_SQL ")), 16)) "                   \
    "FROM seqb_incarnation WHERE id = 1)"

/*
 * The incarnation of a Galera cluster. There, the dates of tables and the
 * contents of memory tables differ from node to node. So it is the history of
 * galera.h, which a node has while its own seqb_incarnation has the voucher: a
 * digest of the dates of the node's tables and of what names the server. The
 * cluster does not replicate that row, but a replica of the cluster does, which
 * reads the node's binary log.
 */
#define MYSQL_HISTORY "cluster/incarnation"
#define MYSQL_VOUCHER_SQL                                                      \
    "MD5(CONCAT(" MYSQL_DATES_SQL ", '/', "                                    \
    "CONCAT_WS('/', " MYSQL_SERVER_SQL ")))"
#define MYSQL_CLUSTER_RUN_SQL                                                  \
    "(SELECT text FROM seqb_claims WHERE name = '" MYSQL_HISTORY "' AND "      \
    "EXISTS (SELECT 1 FROM seqb_incarnation WHERE nonce = " MYSQL_VOUCHER_SQL  \
    "))"
#define MYSQL_CLUSTER_SQL "CONCAT_WS('/', 'galera', " MYSQL_CLUSTER_RUN_SQL ")"

/* The value of wsrep_sync_wait: for SELECT and BEGIN, and for INSERT. An UPDATE
 * of one row need not wait: certification fails it if it missed a change. */
#define MYSQL_SYNC_WAIT 5

/* A table's date is in whole seconds. This is one second, plus 50 ms since the
 * clock that dates files lags behind by up to a tick. */
#define MYSQL_SETTLED_MS 1050

/* The SQL that reads a store's identity, from the macros above. */
struct mysql_origin_sql {
    const char *store;      /* its origin */
    const char *claims;     /* the origin of seqb_claims */
    const char *run;        /* its incarnation */
    const char *now;        /* what cells must have */
    const char *now_of_set; /* the same, for the origin in @seqb_origin */

    /* The first statement of each transaction that relies on what it reads. A
     * cluster certifies only rows that are changed: not claims that are read,
     * nor a counter that is found missing. Because of this statement no two
     * such transactions commit concurrently on two nodes; on one, the lock of
     * the base does that. */
    const char *turn;
};

extern const struct mysql_origin_sql mysql_sql_of_server;
extern const struct mysql_origin_sql mysql_sql_of_cluster;

/* True while the server may be written to as a primary, as a part of `serves`
 * of the link, since read_only does not stop users with more rights. The
 * variable is a number or a word, depending on the version. It is compared as a
 * text, since MySQL in strict mode refuses to change rows if 'OFF' is converted
 * to a number. */
#define MYSQL_PRIMARY_SQL "CONCAT(@@GLOBAL.read_only) IN ('0', 'OFF')"

/*
 * Checks role and durability (SEQB_ROLE; SEQB_UNSAFE unless `accept_loss`),
 * fills server, domain, loss and fd of `base`, and version, is_mariadb, serves
 * and closed of the link. To be called after mysql_link_open.
 */
enum seqb_status mysql_server_check(struct mysql_link *link,
                                    const struct seqb_backend_options *options,
                                    struct seqb_backend *base,
                                    struct seqb_error *err);

/*
 * Checks the value of link->closed: SEQB_ROLE and SEQB_UNSAFE as at open. An
 * administrator may change the settings while connections live on, so `serves`
 * is part of the WHERE of every statement that changes what brokers rely on.
 */
enum seqb_status mysql_server_still(struct mysql_link *link, const char *closed,
                                    struct seqb_error *err);
