/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpq and a PostgreSQL server by script, without a socket. The answer to a
 * statement is a text:
 *
 *     "=UPDATE 1"   it was done
 *     "[a|~;c|d"    two rows of two columns, one of them NULL
 *     "[:2"         no rows, of two columns
 *     "2"           two answers
 *     "!42501"      it was refused
 *     "L42501"      the same, by a server that has only localized words
 *     "F57P01"      the server ends the session
 *     "N"           a failure without an SQLSTATE
 *     "?"           the connection is lost
 *
 * The program is linked with --wrap for each function that is WRAPPED in
 * pq_script.c.
 */
#pragma once

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/backends.h"
#include "backends/postgres/link.h"

/* What a sound server of that origin says when it is opened: to the question
 * what it is, and of its base. */
#define PQ_STORE "store"
#define PQ_FACTS "[||rp|rp|system|store|file|run||f"
#define PQ_BASE  "[store"

/* What it is told at the begin of a transaction. */
#define PQ_BEGIN "BEGIN\nSELECT 51|101|\n"

struct pq_script {
    /* To the statements that are none of a transaction's begin or end. */
    const char *answers[24];
    const char *prelude; /* NULL: of a sound server */
    const char *commit;  /* NULL: the same */
    const char *warning; /* that comes with the COMMIT; NULL: none */
    bool is_notice;      /* it is no warning */

    /* The n-th call of this function fails. */
    const char *fails;
    int nth;

    int64_t now_ms;
    int busy;       /* so many times an answer is not there yet */
    int unsent;     /* so many times not all is sent */
    int deaf;       /* so many waits last until their end */
    int interrupts; /* so many waits end early, each after 1 ms */

    /* What it saw: each statement's first word, and its arguments. */
    char said[4096];
    const char *begun; /* the statement that began a transaction */
    size_t answered;
    int vain; /* answers that were read before anything was sent */
    int waits;
    short events;    /* of the last wait ... */
    int wait_ms;     /* ... and how long it may take */
    char tried[256]; /* each address, and how long it was waited for */
    int connected;   /* connections that were made ... */
    int finished;    /* ... and those that ended */
};

extern struct pq_script pq;

/* What else the server answers. At most eight. */
#define PQ_ANSWERS(...) pq_answers((const char *const[]){__VA_ARGS__, NULL})
void pq_answers(const char *const *answers);

/* What it was told since the last time. */
void pq_must_have_said(const char *expected);

/* A backend on that server, and its options. */
extern struct seqb_backend *pq_backend;
extern struct seqb_backend_options pq_options;

/* Closes the backend, and opens it again. */
enum seqb_status pq_open(struct seqb_error *err);

struct postgres_link *pq_link(void);

int pq_begin(void **state);
int pq_begin_open(void **state);
int pq_end(void **state);

#define SCRIPT FIXTURE(void *none, pq_begin, pq_end)
#define OPENED FIXTURE(void *none, pq_begin_open, pq_end)
