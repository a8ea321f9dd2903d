/* SPDX-License-Identifier: Apache-2.0 */
/* seqb_take and seqb_take_texts in the forms that tests and benchmarks use
 * most. Each waits until it has all that it asks for. */
#pragma once

#include <seqbroker/seqbroker.h>

/* The numbers may have different stamps. */
static inline enum seqb_status take_numbers(struct seqb_sequence *sequence,
                                            size_t count, int64_t *out,
                                            struct seqb_error *err)
{
    const struct seqb_take_options options = {
        .size = sizeof options, .count = count, .flags = SEQB_ANY_STAMP};

    return seqb_take(sequence, &options, out, NULL, err);
}

/* All numbers have one stamp. */
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

/* One text of at most `size` bytes, with `n` parameters. */
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

/* The texts may have different stamps. They have no parameters, and `size`
 * bytes each. */
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
