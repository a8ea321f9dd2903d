/* SPDX-License-Identifier: Apache-2.0 */
/* seqb_take and seqb_take_texts in the ways in which tests and benchmarks use
 * them most: each waits for all that it is asked for. */
#pragma once

#include <seqbroker/seqbroker.h>

/* Of any stamps. */
static inline enum seqb_status take_numbers(struct seqb_sequence *sequence,
                                            size_t count, int64_t *out,
                                            struct seqb_error *err)
{
    const struct seqb_take_options options = {
        .size = sizeof options, .count = count, .flags = SEQB_ANY_STAMP};

    return seqb_take(sequence, &options, out, NULL, err);
}

/* All of one stamp. */
static inline enum seqb_status take_stamped(struct seqb_sequence *sequence,
                                            size_t count, int64_t *out,
                                            struct seqb_stamp *stamp,
                                            struct seqb_error *err)
{
    const struct seqb_take_options options = {.size = sizeof options,
                                              .count = count};
    struct seqb_taken taken = {.size = sizeof taken};
    const enum seqb_status status =
        seqb_take(sequence, &options, out, &taken, err);

    *stamp = taken.stamp;
    return status;
}

/* One id of the shard. */
static inline enum seqb_status take_shard(struct seqb_sequence *sequence,
                                          int64_t shard, int64_t *out,
                                          struct seqb_error *err)
{
    const struct seqb_take_options options = {.size = sizeof options,
                                              .count = 1,
                                              .flags = SEQB_SHARD,
                                              .shard = shard};

    return seqb_take(sequence, &options, out, NULL, err);
}

/* One text in `size` bytes, with `n` parameters. */
static inline enum seqb_status take_text(struct seqb_sequence *sequence,
                                         const struct seqb_param *params,
                                         size_t n, char *out, size_t size,
                                         struct seqb_error *err)
{
    const struct seqb_take_options options = {.size = sizeof options,
                                              .count = 1,
                                              .params = params,
                                              .param_count = n,
                                              .text_size = size};

    return seqb_take_texts(sequence, &options, out, NULL, err);
}

/* Of any stamps, without parameters, in `size` bytes each. */
static inline enum seqb_status take_texts(struct seqb_sequence *sequence,
                                          size_t count, char *out, size_t size,
                                          struct seqb_error *err)
{
    const struct seqb_take_options options = {.size = sizeof options,
                                              .count = count,
                                              .flags = SEQB_ANY_STAMP,
                                              .text_size = size};

    return seqb_take_texts(sequence, &options, out, NULL, err);
}
