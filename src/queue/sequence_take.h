/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking numbers from one sequence: of the thread's stripe, of the ring, and
 * waiting until it holds some. Private to this folder.
 */
#pragma once

#include "queue/sequence.h"

/* One number of the thread's stripe, if there are stripes: no more than that,
 * so that the common path needs no stack and calls nothing. */
static inline bool sequence_take_striped(struct seqb_sequence *sequence,
                                         int64_t *out)
{
    struct stripes *stripes =
        atomic_load_explicit(&sequence->stripes, memory_order_acquire);

    return LIKELY(stripes != NULL) && stripes_take(stripes, out);
}

/* One number. The stripe, if there is one, is used up. */
bool sequence_take_unstriped(struct seqb_sequence *sequence, int64_t *out);

/* One number that is there. */
static inline bool sequence_take_one(struct seqb_sequence *sequence,
                                     int64_t *out)
{
    return sequence_take_striped(sequence, out) ||
           sequence_take_unstriped(sequence, out);
}

/* Takes up to `count` numbers that are there. */
size_t sequence_take_some(struct seqb_sequence *sequence, size_t count,
                          int64_t *out);

/* Whether `count` contiguous numbers are ever there. */
static inline bool options_may_run(const struct queue_sequence_options *options,
                                   size_t count)
{
    return count >= 1 && count <= (size_t)1 << options->memory_bits;
}

static inline bool count_is_valid(size_t count)
{
    return count >= 1 && count <= SEQB_TAKE_MAX;
}

static inline bool shard_is_valid(const struct queue_sequence_options *options,
                                  int64_t shard)
{
    return options->ids != NULL && shard >= 0 &&
           shard <= bits_shard_max(options->ids);
}

/* --- check_take.c: SEQB_INVALID, in the words of the caller --- */

enum seqb_status refuse_count(const char *key, size_t count,
                              struct seqb_error *err);
enum seqb_status refuse_shard(const struct queue_sequence_options *options,
                              const char *key, int64_t shard,
                              struct seqb_error *err);
enum seqb_status refuse_run(const struct queue_sequence_options *options,
                            const char *key, size_t count,
                            struct seqb_error *err);

/* --- sequence_take.c --- */

/* Takes all that is wanted, and waits for it until the deadline. */
enum seqb_status sequence_take(struct seqb_sequence *sequence,
                               const struct queue_take *take,
                               struct seqb_error *err);

/* Takes `count` of them, which may run; false if there are none. */
bool sequence_take_run(struct seqb_sequence *sequence, size_t count,
                       int64_t *first);

/* Takes a slice of up to `count` numbers, waiting for the first of them up to
 * the deadline. */
enum seqb_status sequence_take_slice(struct seqb_sequence *sequence,
                                     uint64_t count, struct ring_slice *out,
                                     struct seqb_error *err);

/* A call found the ring empty: from begin to end it counts as waiting, and the
 * sequence is not freed. */
void sequence_wait_begin(struct seqb_sequence *sequence);
void sequence_wait_end(struct seqb_sequence *sequence);

/* Between these two: waits until the ring holds something; for nothing if it is
 * over (SEQB_AGAIN). */
enum seqb_status sequence_wait(struct seqb_sequence *sequence, int64_t until_ms,
                               struct seqb_error *err);

/* The ring was found empty by a caller who does not wait: has it refilled, and
 * owes a ready call. */
enum seqb_status sequence_again(struct seqb_sequence *sequence,
                                struct seqb_error *err);

/* Waits as a caller does, and takes nothing, until the ring holds what a refill
 * would not add to. False if it does not by `until_ms`. */
bool sequence_warm(struct seqb_sequence *sequence, int64_t until_ms);

/* When a call that begins now is to end. */
int64_t sequence_until(const struct seqb_sequence *sequence);

/* Fills in SEQB_FORKED. */
enum seqb_status sequence_forked(struct seqb_error *err);
