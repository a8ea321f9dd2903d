/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys beyond the limit of auto_sequences: a thread asks the stores whether
 * they know them. A key that they know gets its sequence, the others are
 * refused. Memory and calls of the stores are bounded, however many keys come:
 * see docs/decisions/0069-known-keys.md.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

struct look;
struct queue;

struct looks {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    pthread_t thread;
    struct look *table; /* NULL before the first look */
    size_t waiting;     /* looks that have not ended */
    size_t next;        /* where the thread goes on in the table */
    bool is_started;
    bool is_stopping;
    /* Makes the sequence of a key that the stores know; constant. */
    void (*add)(struct queue *queue, const char *key);
};

void looks_init(struct looks *looks,
                void (*add)(struct queue *queue, const char *key));

/* From now on `add` must make no sequence: it asks looks_are_shut with the
 * catalog locked. looks_stop also waits for the thread, whose wait for stores
 * ha_end_waits ends. */
void looks_shut(struct looks *looks);
bool looks_are_shut(struct looks *looks);
void looks_stop(struct looks *looks);

void looks_fini(struct looks *looks);

/* With the catalog locked, for a key that has no sequence. Does not wait.
 * SEQB_UNAVAILABLE: the stores are asked, so the caller has to try again;
 * SEQB_UNKNOWN_KEY: they do not know it, or more keys wait than may;
 * SEQB_NO_MEMORY, SEQB_CLOSED. */
enum seqb_status looks_ask(struct queue *queue, const char *key,
                           struct seqb_error *err);
