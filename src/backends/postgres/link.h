/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to a PostgreSQL server, for the postgres engine alone:
 * statements sent many at a time, their answers within one deadline, and what
 * a failure means. libpq has no read time-out, so that all is asynchronous.
 *
 * Statements are unnamed and nothing is kept in the session: behind PgBouncer
 * each transaction may meet another one.
 */
#pragma once

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <seqbroker/backend.h>

#define POSTGRES_STATE_SIZE 6  /* of an SQLSTATE */
#define POSTGRES_PATH_SIZE  96 /* of a table's file */

struct postgres_link {
    PGconn *conn;    /* NULL once the connection is lost */
    char where[320]; /* names backend and server in messages */
    int64_t deadline_ms;
    int32_t budget_ms; /* what the deadline was made of */
    pid_t pid;         /* a forked child may not speak on it */
    bool may_commit;   /* a COMMIT was sent whose answer has not been read */
    char state[POSTGRES_STATE_SIZE]; /* SQLSTATE of the last failure, or "" */
    char store[SEQB_ORIGIN_SIZE];    /* what names the store, at open ... */
    char claims[POSTGRES_PATH_SIZE]; /* ... and the file of seqb_claims */
    char warning[160]; /* of the server, since postgres_link_begin; or "" */
};

/* Connects to the server of these libpq parameters until link->deadline_ms;
 * `where` and the deadline are set. SEQB_UNREACHABLE, SEQB_REFUSED,
 * SEQB_NO_MEMORY. A failure leaves what postgres_link_close frees. */
enum seqb_status postgres_link_connect(struct postgres_link *link,
                                       const char *const *keywords,
                                       const char *const *values,
                                       struct seqb_error *err);

/* Starts the time of one call. SEQB_UNREACHABLE, SEQB_FORKED. */
enum seqb_status postgres_link_begin(struct postgres_link *link,
                                     int32_t budget_ms, struct seqb_error *err);

/* Adds a statement; the `n` arguments are copied. A failure shows when the
 * answers are read. */
void postgres_link_add(struct postgres_link *link, const char *sql, int n,
                       const char *const *arguments);

/* The same for COMMIT: from now on a lost connection is SEQB_UNCERTAIN. */
void postgres_link_add_commit(struct postgres_link *link);

/* Sends what was added. A lost connection closes the link. */
enum seqb_status postgres_link_send(struct postgres_link *link,
                                    struct seqb_error *err);

/*
 * The answer to the next statement, the caller's to PQclear; `*out` is
 * touched only on success. If the server refused the statement, the status is
 * as its SQLSTATE says, link->state is set and the link stays open; if the
 * connection was lost or its time passed, link->conn is NULL.
 */
enum seqb_status postgres_link_read(struct postgres_link *link,
                                    ExecStatusType expected, PGresult **out,
                                    struct seqb_error *err);

/* The answer to COMMIT. SEQB_UNCERTAIN also if the server warned: a commit
 * that no standby has seen is acknowledged with a warning. */
enum seqb_status postgres_link_read_commit(struct postgres_link *link,
                                           struct seqb_error *err);

/* Reads to the end of what was sent. */
enum seqb_status postgres_link_finish(struct postgres_link *link,
                                      struct seqb_error *err);

/* Reads to the end of what was sent and rolls back what is open. False if the
 * connection was lost with that. */
bool postgres_link_abandon(struct postgres_link *link);

/* Runs a text of several statements without arguments as one transaction. */
enum seqb_status postgres_link_run(struct postgres_link *link, const char *sql,
                                   struct seqb_error *err);

/* Whether the last failure is of that statement's row alone, so that others
 * may go well. */
bool postgres_link_blames_row(const struct postgres_link *link);

/* SEQB_PROTOCOL: the answer to `asked` makes no sense; closes the link. */
enum seqb_status postgres_link_distrust(struct postgres_link *link,
                                        const char *asked,
                                        struct seqb_error *err);

/* Takes a link that is not open. In a forked child the parent's session goes
 * on. */
void postgres_link_close(struct postgres_link *link);
