/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who brings unused numbers to the spool and back: at the start, at the stop,
 * and, on a thread of its own, those of sequences that nobody uses. Private to
 * this folder.
 */
#pragma once

#include "queue/queue.h"

struct flusher;

/*
 * Takes what the spool has of the sequences that are there, waiting for other
 * brokers and for a store until `until_ms`; what cannot be had now is tried
 * for later. `*out` is for flusher_close. Not for use before the refilling, of
 * which it may wake sequences.
 */
enum seqb_status flusher_open(struct queue *queue,
                              const struct queue_options *options,
                              struct ha *ha, int64_t until_ms,
                              struct flusher **out, struct seqb_error *err);

/* Of looks.c: the ms between two looks at all sequences with such options. */
int64_t flusher_looks(const struct queue_options *options);

/* Starts the thread. */
enum seqb_status flusher_start(struct flusher *flusher, struct seqb_error *err);

/* What the spool has of a sequence at or below `to` is never used. Waits until
 * `until_ms`. Takes NULL. Errors as spool_exchange. */
enum seqb_status flusher_drop(struct flusher *flusher,
                              const struct seqb_sequence *sequence, int64_t to,
                              int64_t until_ms, struct seqb_error *err);

/* How often it looks follows from the options. Takes NULL. */
void flusher_set(struct flusher *flusher, const struct queue_options *options);

/* Gives what sequences hold that are not listed any more to the spool. Any
 * thread; waits for other brokers and for a store. Takes NULL. */
void flusher_keep_removed(struct flusher *flusher);

/* Ends the thread. Takes NULL. */
void flusher_stop(struct flusher *flusher);

/* Once the sequences are closed and nobody refills them: gives all that they
 * hold to the spool. Takes NULL. */
void flusher_keep_all(struct flusher *flusher, int64_t until_ms);

void flusher_close(struct flusher *flusher); /* takes NULL */
