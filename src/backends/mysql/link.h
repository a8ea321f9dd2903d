/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to a MySQL or MariaDB server, for the engines mysql-row and
 * mysql-autoinc: statements and their answers within a call's deadline.
 * connect/connect.h opens it; server.h says what is required of a server,
 * errors.h what its errors mean; claims/claims.h has tables and claims.
 *
 * A call of an engine begins with mysql_link_begin. Then, as often as needed,
 * mysql_link_add and mysql_link_quote write statements separated by ';',
 * mysql_link_send sends them in one round trip, and mysql_link_next takes the
 * answer of each, in order, until all are taken. The first statement that fails
 * ends its round trip: the server does not run the later ones. A node of a
 * cluster gets each statement when the answer to the one before was taken
 * (statements.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <mysql.h>
#include <seqbroker/backend.h>

#include "backends/mysql/statements.h"

struct mysql_origin_sql; /* server.h */

#define MYSQL_SERVES_SIZE 384
#define MYSQL_CLOSED_SIZE 1024

struct mysql_link {
    MYSQL *handle;        /* NULL when closed; a later call fails */
    const char *database; /* the options' */
    char where[256];      /* "mysql-a (mysql 10.0.0.1:3306)", no secrets */
    int64_t deadline_ms;  /* of the current call */
    int32_t budget_ms;    /* the call's length, for messages */
    int32_t timeout_ms;   /* the options': for a call after open */
    pid_t pid;            /* a connection must not cross fork() */
    char store[SEQB_ORIGIN_SIZE];  /* the origin of seqb_counters at open ... */
    char claims[SEQB_ORIGIN_SIZE]; /* ... and that of seqb_claims; server.h */
    const struct mysql_origin_sql *sql; /* the SQL that reads them */
    bool is_cluster;                    /* a node of Galera: galera.h */

    /* SQL, made by mysql_server_check: true while the server may be written to
     * as a primary that keeps its commits, and the reason if not, else "". */
    char serves[MYSQL_SERVES_SIZE];
    char closed[MYSQL_CLOSED_SIZE];
    const char *run; /* the incarnation required by the current claim or swap;
                        NULL: any */
    enum seqb_status run_lost; /* the status if it differs */
    bool is_mariadb;           /* else MySQL */
    int64_t version;           /* 101119 is 10.11.19 */
    enum seqb_status lost;     /* the status if the last send gets no answer */
    struct mysql_statements statements;
    bool is_denied; /* a right was missing, which may be granted since */
    bool is_sent;   /* a packet has no answer yet */
    bool is_query;  /* it begins with a SELECT */

    /* The answer that mysql_link_next took last. */
    unsigned code;      /* the error's number (ER_..., CR_...); 0: none */
    uint64_t changed;   /* rows that it changed */
    uint64_t insert_id; /* of that OK packet: invalid if `changed` is 0 */
    MYSQL_RES *rows;    /* of a SELECT, else NULL; the link's to free */
    MYSQL_ROW row;      /* the row that mysql_link_row took last */
};

/* Frees everything; what was not committed is rolled back. A half-open or
 * closed link is allowed. Does not wait for an answer. In a forked child it
 * leaves the parent's connection intact. */
void mysql_link_close(struct mysql_link *link);

/* The socket that calls wait on. */
int mysql_link_fd(const struct mysql_link *link);

/* Begins a call that must end within the options' `timeout_ms`.
 * SEQB_UNREACHABLE if the connection was lost earlier, SEQB_FORKED in a forked
 * child. After a call that lacked a right, it makes the server read the rights
 * again, which may fail like a statement. */
enum seqb_status mysql_link_begin(struct mysql_link *link,
                                  struct seqb_error *err);

/* Adds to the statements that mysql_link_send sends. A value in which a ';' may
 * be must go through mysql_link_quote. */
void mysql_link_add(struct mysql_link *link, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a quoted text, with its special characters escaped. */
void mysql_link_quote(struct mysql_link *link, const char *value);

/*
 * Sends what was added since the last send, and empties the buffer. `lost` is
 * the status if no answer comes: SEQB_UNCERTAIN if the statements may have a
 * permanent effect, else SEQB_UNREACHABLE. On failure the link is closed.
 */
enum seqb_status mysql_link_send(struct mysql_link *link, enum seqb_status lost,
                                 struct seqb_error *err);

/*
 * Takes the answer of the next statement into `changed`, `insert_id`, `rows`.
 * If no answer comes, the link is closed. After an error that the server
 * reported (`code`) the link stays open: the statements after it were not run,
 * and a caller in a transaction ends it with ROLLBACK or by closing the link. A
 * SELECT that a node of a cluster answers without a result set has failed, too:
 * its transaction was aborted.
 *
 * The wait for the first answer ends at the deadline. Later answers come one by
 * one through the library's buffers, which poll() does not see: if the server
 * stops between two of them, the pool notices and shuts the socket down, or the
 * library notices after `timeout_ms` in whole seconds.
 */
enum seqb_status mysql_link_next(struct mysql_link *link,
                                 struct seqb_error *err);

/* Takes the answers of `n` statements and ignores their contents. */
enum seqb_status mysql_link_skip(struct mysql_link *link, size_t n,
                                 struct seqb_error *err);

/* Takes all answers that are left. */
enum seqb_status mysql_link_finish(struct mysql_link *link,
                                   struct seqb_error *err);

/* Takes the answer of a COMMIT, or of a statement that commits by itself. An
 * error that may come after the commit is SEQB_UNCERTAIN. */
enum seqb_status mysql_link_next_commit(struct mysql_link *link,
                                        struct seqb_error *err);

/* Sends the one statement that was added and takes its answer. */
enum seqb_status mysql_link_run(struct mysql_link *link, enum seqb_status lost,
                                struct seqb_error *err);

/* Takes the next row of the answer; false if there is none. */
bool mysql_link_row(struct mysql_link *link);

/* A column of that row as text; NULL if it is NULL or not there. */
const char *mysql_link_text(const struct mysql_link *link, unsigned column);

/* A column of that row as a number; false if it is not a number that fits. */
bool mysql_link_int64(const struct mysql_link *link, unsigned column,
                      int64_t *out);

/* Answers with the error that the server, or the library, gives for the last
 * statement; closes the link if that is lost. */
enum seqb_status mysql_link_refuse(struct mysql_link *link,
                                   struct seqb_error *err);

/* Answers SEQB_PROTOCOL: the answer to `asked` is invalid. Closes the link. */
enum seqb_status mysql_link_distrust(struct mysql_link *link, const char *asked,
                                     struct seqb_error *err);
