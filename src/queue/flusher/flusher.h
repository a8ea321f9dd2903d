/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves unused numbers to the spool and back: at the start, at the stop, and,
 * on a thread of its own, those of idle sequences. Private to this folder.
 */
#pragma once

#include "queue/queue.h"

struct flusher;

/*
 * Takes what the spool has of the queue's sequences, before callers take
 * numbers. Waits for other brokers and for a store until `until_ms`. It tries
 * again later for what it did not get. `*out` is for flusher_close. It may wake
 * sequences, so the agenda must be initialised.
 */
enum seqb_status flusher_open(struct queue *queue,
                              const struct queue_options *options,
                              struct ha *ha, int64_t until_ms,
                              struct flusher **out, struct seqb_error *err);

/* In looks.c: the ms between two polls of all sequences, for these options. */
int64_t flusher_looks(const struct queue_options *options);

/* Starts the thread. */
enum seqb_status flusher_start(struct flusher *flusher, struct seqb_error *err);

/* Drops the blocks of a sequence that begin at or below `to` from the spool.
 * Waits until `until_ms`. NULL is allowed. The errors are those of
 * spool_exchange. */
enum seqb_status flusher_drop(struct flusher *flusher,
                              const struct seqb_sequence *sequence, int64_t to,
                              int64_t until_ms, struct seqb_error *err);

/* Sets how often sequences are polled, which the options determine. NULL is
 * allowed. */
void flusher_set(struct flusher *flusher, const struct queue_options *options);

/* Gives the numbers of sequences that are no longer listed to the spool. Any
 * thread. Waits for other brokers and for a store. NULL is allowed. */
void flusher_keep_removed(struct flusher *flusher);

/* Ends the thread. NULL is allowed. */
void flusher_stop(struct flusher *flusher);

/* Call it once the sequences are closed and no longer refilled: gives all
 * numbers that they hold to the spool. NULL is allowed. */
void flusher_keep_all(struct flusher *flusher, int64_t until_ms);

void flusher_close(struct flusher *flusher); /* NULL is allowed */
