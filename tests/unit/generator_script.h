/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A generator of snowflakes, clocks and waits that the test sets, for programs
 * that are linked with the --wrap of each function in the .c file.
 */
#pragma once

#include <pthread.h>

#include "support/rig.h"

#define FIRST 100            /* id */
#define NOW   INT64_C(50000) /* ms, at the begin */
#define REST  INT64_C(5)     /* ms, without a lease */

/* Of the test's thread only. */
struct generator_script {
    bool is_on;
    pthread_t thread;
    struct generator *generator; /* the one that was asked last */
    int64_t next;                /* id, */
    size_t left;                 /* of so many that the ms has */
    size_t each;                 /* and each ms after it */
    size_t most;                 /* that one call gives; 0: all */
    enum seqb_status status;     /* if it has none */
    enum seqb_status later;      /* the same after a rest; SEQB_OK: as before */
    int64_t now_ms, wall_ms, taken;
    int64_t pace_ms; /* that a look takes */
    int rests, waits, wakes;
    bool lacks_memory;            /* of any thread */
    struct seqb_sequence *leaves; /* at the next wait; or NULL */
};

extern struct generator_script script;

/* From here on the script is used. */
void script_begin(void);
