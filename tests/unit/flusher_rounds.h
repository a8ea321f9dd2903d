/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A broker whose flusher makes a round when the test says so. The test is the
 * flusher's thread, whose time stands still in a round, and plays the file.
 * Nothing is refilled. Main thread only; a failure of these functions fails the
 * test.
 */
#pragma once

#include <pthread.h>

#include "queue/flusher/spool.h"
#include "queue/queue_state.h"
#include "support/rig.h"

#define ROUNDS_IDLE_MS 1000 /* idle_after of "order" */
#define ROUNDS_MADE    1000 /* automatic sequences that a start makes */
#define ROUNDS_BLOCKS  (2 * ROUNDS_MADE + 1)
#define ROUNDS_RUN     INT64_C(4) /* numbers of a run of the sequences */

/* The flusher's thread, which is the test's own. */
struct rounds_thread {
    pthread_t thread;
    void *(*run)(void *flusher);
    void *flusher;
    pthread_t started; /* in its place; it does nothing */
    bool is_joined;
    bool no_thread;    /* it cannot be started */
    int rounds;        /* before it is stopped */
    int64_t passed_ms; /* time that this thread alone has seen pass */
    int64_t now_ms;    /* the time that stands still; 0: it does not */
    int64_t woken_ms;  /* of its last wait, as is `usual_ms` */
    int64_t usual_ms;
    int grown; /* calls for more memory */
    int lacks; /* which one from now on gets none; 0: none */
};

extern struct rounds_thread self;

/* The spool's file, and what the last exchange asked of it. */
struct rounds_file {
    struct spool_block blocks[ROUNDS_BLOCKS];
    enum spool_choice choices[ROUNDS_BLOCKS];
    size_t count;
    enum seqb_status status; /* of the exchange */
    int64_t takes_ms;
    int exchanges;
    size_t given;
    int64_t given_numbers;
    struct spool_block last; /* the last block that was given */
    bool is_searched;
    bool is_repeated;
    int64_t until_ms;
};

extern struct rounds_file file;

/* Opens a broker that lists so many sequences, whose spool has the file. */
struct rig_broker *rounds_open(struct rig *rig, size_t listed);

/* Opens a broker of both sequences that has looked for what is kept, and found
 * nothing. */
struct rig_broker *rounds_open_empty(struct rig *rig);

/* A round of the flusher's thread. */
void rounds_run(void);

/* The same when "order" was not used for long enough. */
void rounds_run_idle(void);

/* Runs of partition 0, from counter value `v` on. */
struct spool_block rounds_block(const char *key, int64_t v, int64_t runs);

/* Adds a block to the file. */
void rounds_keep(struct spool_block block);

/* Puts runs into the ring. */
void rounds_put(struct seqb_sequence *sequence, int64_t v, int64_t runs);

/* As if a caller had found the ring empty. */
void rounds_miss(struct seqb_sequence *sequence);

/* The numbers in the ring. */
int64_t rounds_stock(const struct seqb_sequence *sequence);

/* Takes numbers that are there. */
void rounds_take(struct rig *rig, struct seqb_sequence *sequence, size_t count);
