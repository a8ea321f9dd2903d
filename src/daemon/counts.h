/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of the daemon's commands: how many, which errors, how long they
 * took. Only the loop's thread writes them; other threads get a copy.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define COUNTS_COMMANDS  32 /* at least as many as there are commands */
#define COUNTS_ERRORS    32 /* different codes; further ones are not counted */
#define COUNTS_CODE_SIZE 24
#define COUNTS_BOUNDS    16
#define COUNTS_CLASSES   6

struct counts_error {
    char code[COUNTS_CODE_SIZE]; /* "TIMEOUT", ...; "": not in use yet */
    int64_t count;
};

struct counts {
    int64_t commands[COUNTS_COMMANDS]; /* answered, by row of the table */
    struct counts_error errors[COUNTS_ERRORS];
    /* Commands, by the first bound that they do not exceed; the last: over
     * all. */
    int64_t durations[COUNTS_BOUNDS + 1];
    int64_t duration_us;               /* the sum of all */
    int64_t responses[COUNTS_CLASSES]; /* of HTTP, by the first digit of the
                                          status */
    int64_t tls_handshakes;            /* successful ones, of both protocols */
    int64_t tls_failed;                /* failed or timed-out ones */
};

/* Ascending, in us. */
extern const int64_t counts_bounds_us[COUNTS_BOUNDS];

/* Counts an error. `reply` is the reply as written: "-TIMEOUT ...". */
void counts_add_error(struct counts *counts, const char *reply, size_t length);

/* Counts `commands` commands that took `us` each. */
void counts_add_duration(struct counts *counts, int64_t us, int64_t commands);
