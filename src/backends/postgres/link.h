/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to a PostgreSQL server, for the postgres engine only: it sends
 * many statements at a time, reads their answers within one deadline, and sets
 * the status of a failure. libpq has no read time-out, so all I/O is
 * asynchronous.
 *
 * Statements are unnamed and nothing is kept in the session: behind PgBouncer
 * each transaction may use another session.
 */
#pragma once

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <seqbroker/backend.h>

#define POSTGRES_STATE_SIZE 6  /* an SQLSTATE */
#define POSTGRES_PATH_SIZE  96 /* the path of a table's file */

struct postgres_link {
    PGconn *conn;    /* NULL once the connection is lost */
    char where[320]; /* names backend and server in messages */
    int64_t deadline_ms;
    int32_t budget_ms; /* the length of the call, for messages */
    pid_t pid;         /* a forked child must not use the connection */
    bool may_commit;   /* a COMMIT was sent whose answer has not been read */
    char state[POSTGRES_STATE_SIZE]; /* SQLSTATE of the last failure, or "" */
    char store[SEQB_ORIGIN_SIZE];    /* the store's identity at open ... */
    char claims[POSTGRES_PATH_SIZE]; /* ... and the file of seqb_claims */
    bool accepts_loss;               /* as the options' accept_loss */
    bool is_marked;    /* at open, POSTGRES_MARKED of session.h was true */
    char warning[160]; /* the server's warning since postgres_link_begin; or
                          "" */
};

/* Connects to the server of these libpq parameters until link->deadline_ms.
 * `where` and the deadline must be set. SEQB_UNREACHABLE, SEQB_REFUSED,
 * SEQB_NO_MEMORY. A failure leaves what postgres_link_close frees. */
enum seqb_status postgres_link_connect(struct postgres_link *link,
                                       const char *const *keywords,
                                       const char *const *values,
                                       struct seqb_error *err);

/* Begins a call that must end within `budget_ms`. SEQB_UNREACHABLE,
 * SEQB_FORKED. */
enum seqb_status postgres_link_begin(struct postgres_link *link,
                                     int32_t budget_ms, struct seqb_error *err);

/* Adds a statement; the `n` arguments are copied. A failure is reported when
 * the answers are read. */
void postgres_link_add(struct postgres_link *link, const char *sql, int n,
                       const char *const *arguments);

/* Adds COMMIT: from now on a lost connection is SEQB_UNCERTAIN. */
void postgres_link_add_commit(struct postgres_link *link);

/* Sends what was added. A lost connection closes the link. */
enum seqb_status postgres_link_send(struct postgres_link *link,
                                    struct seqb_error *err);

/*
 * The answer to the next statement, to be freed with PQclear; `*out` is set
 * only on success. If the server refused the statement, the status follows its
 * SQLSTATE, link->state is set and the link stays open. If the connection was
 * lost or the time is over, link->conn is NULL.
 */
enum seqb_status postgres_link_read(struct postgres_link *link,
                                    ExecStatusType expected, PGresult **out,
                                    struct seqb_error *err);

/* Reads the answer to COMMIT. SEQB_UNCERTAIN also if the server warned: a
 * commit that no standby has received is acknowledged with a warning. */
enum seqb_status postgres_link_read_commit(struct postgres_link *link,
                                           struct seqb_error *err);

/* Reads all answers to what was sent. */
enum seqb_status postgres_link_finish(struct postgres_link *link,
                                      struct seqb_error *err);

/* Reads all answers to what was sent and rolls back an open transaction. False
 * if the connection was lost. */
bool postgres_link_abandon(struct postgres_link *link);

/* Runs a text of several statements without arguments as one transaction. */
enum seqb_status postgres_link_run(struct postgres_link *link, const char *sql,
                                   struct seqb_error *err);

/* Whether the last failure concerns only the row of its statement, so that
 * other statements may succeed. */
bool postgres_link_blames_row(const struct postgres_link *link);

/* Answers SEQB_PROTOCOL: the answer to `asked` is invalid. Closes the link. */
enum seqb_status postgres_link_distrust(struct postgres_link *link,
                                        const char *asked,
                                        struct seqb_error *err);

/* A link that is not open is allowed. In a forked child the parent's session
 * stays open. */
void postgres_link_close(struct postgres_link *link);
