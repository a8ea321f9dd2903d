/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking numbers from one sequence: from the thread's stripe, or from the ring,
 * after waiting until the ring holds some. Private to this folder.
 */
#pragma once

#include "queue/sequence.h"

/* Takes one number from the thread's stripe; false if there is none. It does no
 * more, so that the common path needs no stack and makes no call. */
static inline bool sequence_take_striped(struct seqb_sequence *sequence,
                                         int64_t *out)
{
    struct stripes *stripes =
        atomic_load_explicit(&sequence->stripes, memory_order_acquire);

    return LIKELY(stripes != NULL) && stripes_take(stripes, out);
}

/* Takes one number after the stripe, if there is one, was used up. */
bool sequence_take_unstriped(struct seqb_sequence *sequence, int64_t *out);

/* Takes one number without waiting; false if there is none. */
static inline bool sequence_take_one(struct seqb_sequence *sequence,
                                     int64_t *out)
{
    return sequence_take_striped(sequence, out) ||
           sequence_take_unstriped(sequence, out);
}

/* Takes up to `count` numbers without waiting; returns how many. */
size_t sequence_take_some(struct seqb_sequence *sequence, size_t count,
                          int64_t *out);

/* Whether the sequence can ever give `count` contiguous numbers. */
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

/* Takes all numbers that are asked for, and waits for them until the
 * deadline. */
enum seqb_status sequence_take(struct seqb_sequence *sequence,
                               const struct queue_take *take,
                               struct seqb_error *err);

/* Takes `count` contiguous numbers, which options_may_run allows; false if the
 * ring does not hold them. It is empty then. */
bool sequence_take_run(struct seqb_sequence *sequence, size_t count,
                       int64_t *first);

/* Takes a slice of up to `count` numbers. Waits for the first one until the
 * deadline. */
enum seqb_status sequence_take_slice(struct seqb_sequence *sequence,
                                     uint64_t count, struct ring_slice *out,
                                     struct seqb_error *err);

/* For a call that found the ring empty: between begin and end it counts as
 * waiting, and the sequence is not freed. */
void sequence_wait_begin(struct seqb_sequence *sequence);
void sequence_wait_end(struct seqb_sequence *sequence);

/* To be called between these two: waits until the ring holds numbers.
 * SEQB_AGAIN: the sequence's stamp is over, so none will come. */
enum seqb_status sequence_wait(struct seqb_sequence *sequence, int64_t until_ms,
                               struct seqb_error *err);

/* For a caller that found the ring empty and does not wait: wakes the refill
 * thread, and has the ready function called once there are numbers. Returns
 * SEQB_AGAIN, or why there will be none. */
enum seqb_status sequence_again(struct seqb_sequence *sequence,
                                struct seqb_error *err);

/* Waits as a caller does, and takes nothing, until the ring is so full that a
 * refill would not add to it. False if it is not by `until_ms`. */
bool sequence_warm(struct seqb_sequence *sequence, int64_t until_ms);

/* The deadline of a call that begins now. */
int64_t sequence_until(const struct seqb_sequence *sequence);
