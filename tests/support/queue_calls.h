/* SPDX-License-Identifier: Apache-2.0 */
/* queue_take and queue_try_take in the forms that tests use most. */
#pragma once

#include "queue/queue.h"

/* Waits until it has all numbers. */
static inline enum seqb_status queue_next_many(struct seqb_sequence *sequence,
                                               size_t count, int64_t *out,
                                               struct seqb_error *err)
{
    return queue_take(sequence,
                      &(struct queue_take){.out = out, .count = count}, err);
}

/* Takes only the numbers at hand. */
static inline enum seqb_status queue_try_many(struct seqb_sequence *sequence,
                                              size_t count, int64_t *out,
                                              size_t *taken,
                                              struct seqb_error *err)
{
    *taken = 0;
    return queue_try_take(
        sequence,
        &(struct queue_take){.out = out, .count = count, .taken = taken}, err);
}

/* Takes a run of consecutive numbers, if one is at hand. */
static inline enum seqb_status queue_try_run(struct seqb_sequence *sequence,
                                             size_t count, int64_t *first,
                                             struct seqb_error *err)
{
    return queue_try_take(sequence,
                          &(struct queue_take){.out = first,
                                               .count = count,
                                               .is_contiguous = true},
                          err);
}
