/* SPDX-License-Identifier: Apache-2.0 */
/* A caller on a thread of its own that takes numbers at a steady pace, and how
 * long each of its calls took. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#include "support/latency.h"

struct load {
    struct seqb_sequence *sequence;
    int64_t rate; /* calls a second, in bursts of a ms; 0: no pause at all */
    void (*taken)(void *context, int64_t number); /* told each; or NULL */
    void *context;
    pthread_t thread;
    _Atomic int is_ending;

    /* Read after load_stop. */
    struct latency latency;
    struct latency felt; /* with the calls that a slow one held up */
    int64_t errors;
    int64_t took_us; /* the whole */
    struct seqb_error first;
};

/* Ends the program if no thread can be started. */
void load_start(struct load *load, struct seqb_sequence *sequence,
                int64_t rate);

/* The same; `taken` gets each number, on its thread. */
void load_start_reporting(struct load *load, struct seqb_sequence *sequence,
                          int64_t rate,
                          void (*taken)(void *context, int64_t number),
                          void *context);

void load_stop(struct load *load);
