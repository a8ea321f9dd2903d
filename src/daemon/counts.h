/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon counts of its commands: how many, which errors, how long they
 * took. Only the loop's thread writes it; another thread gets a copy.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define COUNTS_COMMANDS  32 /* at least as many as there are commands */
#define COUNTS_ERRORS    32 /* codes; further ones are not counted */
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
    int64_t durations[COUNTS_BOUNDS + 1]; /* of commands, by the first bound
                                             that they keep; the last: none */
    int64_t duration_us;                  /* the sum of all */
    int64_t responses[COUNTS_CLASSES];    /* of HTTP, by the hundreds of their
                                             status */
    int64_t tls_handshakes; /* of both protocols, that succeeded */
    int64_t tls_failed;     /* that failed, or took too long */
};

/* Ascending, in us. */
extern const int64_t counts_bounds_us[COUNTS_BOUNDS];

/* `reply` is an error as it is written: "-TIMEOUT ...". */
void counts_add_error(struct counts *counts, const char *reply, size_t length);

/* So many commands, each of that duration. */
void counts_add_duration(struct counts *counts, int64_t us, int64_t commands);
