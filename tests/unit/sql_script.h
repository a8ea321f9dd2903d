/* SPDX-License-Identifier: Apache-2.0 */
/* A store under the general path of the SQL engines that answers each step as
 * the test says, and tells what it was asked. */
#pragma once

#include "backends/sql/sql.h"
#include "support/test.h"

#define WHERE "here"
#define ROWS  "this store"
#define NOW   "this store/started then"
#define LIMIT 100
#define CELL  SEQB_CELL "main/0/order"

/* What a step answers, how often, and after how many times SEQB_OK. */
struct answer {
    enum seqb_status status;
    int times;
    int after;
};

struct script {
    struct answer begin, take, renew, lock, commit, abandon;
    int conflicts; /* so many failures are another transaction's */
    bool is_of_row;
    bool is_taken; /* the engine's own statement serves the first request */
    bool is_renewed;
    bool is_rebound;
    const char *now;
    const char *run;      /* the store's incarnation; NULL: not told */
    const char *standing; /* the text of each claim */
    const char *cell;     /* the origin of each cell; NULL: none */
    int64_t used;         /* of its offsets */
    int64_t value;        /* of each counter's row; -1: none */
    const char *damaged;  /* but this counter is */
    const char *failing;  /* the step fails if this one is in it */

    char told[2048]; /* the steps, and what they were given */
};

extern struct script script;
extern struct sql_backend *sql;

/* All of a dialect, and only what it must have. */
extern const struct sql_dialect whole;
extern const struct sql_dialect least;

/* A script in which each step succeeds, and there are no rows but the base. */
void begin_with(const struct sql_dialect *dialect);

/* These steps were asked for since it was called last. */
void must_tell(const char *told);

/* For TEST_BEFORE_ALL and TEST_AFTER_ALL. */
int sql_make(void **state);
int sql_drop(void **state);
