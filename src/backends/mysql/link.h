/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to a MySQL or MariaDB server, for the engines mysql-row and
 * mysql-autoinc: connecting, and statements and their answers within a call's
 * deadline. What a server must be like is server.h's, what its errors
 * mean errors.h's, tables and claims claim.h's.
 *
 * A call of an engine goes: mysql_link_begin; then, as often as it needs,
 * mysql_link_add and mysql_link_quote write statements with ';' between them,
 * mysql_link_send sends them in one round trip, and mysql_link_next takes the
 * answer of each in turn, all of them. The first statement that fails ends
 * its round trip: the server does not run those after it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <mysql.h>
#include <seqbroker/backend.h>

struct mysql_origin_sql; /* server.h */

struct mysql_link {
    MYSQL *handle;        /* NULL when closed; a later call fails */
    const char *database; /* the options' */
    char where[256];      /* "mysql-a (mysql 10.0.0.1:3306)", no secrets */
    int64_t deadline_ms;  /* of the call under way */
    int32_t budget_ms;    /* its length, for messages */
    int32_t timeout_ms;   /* the options': of a call after open */
    pid_t pid;            /* a connection must not cross fork() */
    char store[SEQB_ORIGIN_SIZE];  /* the origin of seqb_counters at open ... */
    char claims[SEQB_ORIGIN_SIZE]; /* ... and of seqb_claims; server.h */
    const struct mysql_origin_sql *sql; /* how that is asked for */
    bool is_cluster;                    /* a node of Galera: galera.h */
    const char *run; /* what the incarnation must be in the claim or swap under
                        way; NULL: whatever it is */
    enum seqb_status run_lost; /* what it means if it is not */
    bool is_mariadb;           /* or MySQL */
    int64_t version;           /* 101119 is 10.11.19 */
    enum seqb_status lost;     /* what no answer to the last send means */
    char *text;                /* statements to be sent, ended by 0 */
    size_t length;             /* of text */
    size_t size;               /* of its memory */
    bool is_text_incomplete;   /* out of memory while it was written */
    bool is_denied; /* a right was missing, and may be granted since */
    size_t taken;   /* answers to the last send taken so far */

    /* The answer that mysql_link_next took last. */
    unsigned code;      /* the error's number (ER_..., CR_...); 0: none */
    uint64_t changed;   /* rows that it changed */
    uint64_t insert_id; /* of that OK packet: means nothing if changed is 0 */
    MYSQL_RES *rows;    /* of a SELECT, else NULL; the link's to free */
    MYSQL_ROW row;      /* the row that mysql_link_row took last */
};

/* The library's name and version, "mariadb connector/c 3.3.20". Static. */
const char *mysql_link_library(void);

/*
 * Connects, logs in, and sets the session up: autocommit, READ COMMITTED, UTC,
 * strict mode, locks not waited for longer than a call may take. The library
 * counts `connect_timeout_ms` in whole seconds, rounded up. Whatever it
 * returns, mysql_link_close is due; `link` must have been zeroed. Statuses as
 * backend.h has them for open. On success a call is under way with what is
 * left of `connect_timeout_ms`.
 */
enum seqb_status mysql_link_open(struct mysql_link *link,
                                 const struct seqb_backend_options *options,
                                 struct seqb_error *err);

/* Frees all; what was not committed is rolled back. Takes a half-open or
 * closed link. Waits for no answer. In a forked child it leaves the parent's
 * connection whole. */
void mysql_link_close(struct mysql_link *link);

/* The socket that calls wait on. */
int mysql_link_fd(const struct mysql_link *link);

/* A call begins that must end within the options' `timeout_ms`.
 * SEQB_UNREACHABLE if the connection was lost earlier, SEQB_FORKED in a
 * forked child. After one in which a right was missing, has the server read
 * them again, which may fail like a statement. */
enum seqb_status mysql_link_begin(struct mysql_link *link,
                                  struct seqb_error *err);

/* Adds to the statements that mysql_link_send sends. */
void mysql_link_add(struct mysql_link *link, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a text in quotes, with whatever is in it escaped. */
void mysql_link_quote(struct mysql_link *link, const char *value);

/*
 * Sends what was added since the last send, and forgets it. `lost` is the
 * status if no answer comes: SEQB_UNCERTAIN if what is sent may change
 * something for good, else SEQB_UNREACHABLE. On failure the link is closed.
 */
enum seqb_status mysql_link_send(struct mysql_link *link, enum seqb_status lost,
                                 struct seqb_error *err);

/*
 * Takes the answer of the next statement into `changed`, `insert_id`, `rows`.
 * If none comes the link is closed. It is open after an error that the server
 * reported (`code`): what was sent after that statement was not run, and a
 * caller in a transaction ends it with ROLLBACK or by closing the link.
 *
 * The first answer is waited for to the deadline. Those after it come one by
 * one through the library's buffers, where no poll() sees them: a server that
 * stops between two of them is noticed by the pool, which shuts the socket
 * down, or by the library after `timeout_ms` in whole seconds.
 */
enum seqb_status mysql_link_next(struct mysql_link *link,
                                 struct seqb_error *err);

/* Takes the answers of `n` statements of which none is looked at. */
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

/* A column of that row as a number; false if it is none that fits. */
bool mysql_link_int64(const struct mysql_link *link, unsigned column,
                      int64_t *out);

/* The answer makes no sense: SEQB_PROTOCOL, and the link is closed. */
enum seqb_status mysql_link_distrust(struct mysql_link *link, const char *asked,
                                     struct seqb_error *err);
