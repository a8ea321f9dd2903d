/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses what no sequence with given options can ever give, even before a
 * sequence is made. */
#include "platform/error.h"
#include "queue/sequence_take.h"

enum seqb_status refuse_count(const char *key, size_t count,
                              struct seqb_error *err)
{
    return error_set(err, SEQB_INVALID,
                     "sequence %s: count %zu is not in 1 ... %d", key, count,
                     SEQB_TAKE_MAX);
}

enum seqb_status refuse_shard(const struct queue_sequence_options *options,
                              const char *key, int64_t shard,
                              struct seqb_error *err)
{
    const struct bits_layout *ids = options->ids;

    if (ids == NULL)
        return error_set(err, SEQB_INVALID,
                         "sequence %s has no ids: a shard has no place in its "
                         "numbers",
                         key);
    return error_set(err, SEQB_INVALID,
                     "sequence %s: shard %lld is not in 0 ... %lld", key,
                     (long long)shard, (long long)bits_shard_max(ids));
}

/* Numbers or ids of several stamps would not be contiguous. The count is
 * printed signed, because a caller may have passed a negative number. */
enum seqb_status refuse_run(const struct queue_sequence_options *options,
                            const char *key, size_t count,
                            struct seqb_error *err)
{
    const unsigned long long run = 1ULL << options->memory_bits;

    if (options->period != NULL)
        return error_set(err, SEQB_INVALID,
                         "sequence %s has a period: its numbers are taken one "
                         "by one, or with their stamp, not %lld contiguous "
                         "ones",
                         key, (long long)count);
    return error_set(err, SEQB_INVALID,
                     "sequence %s: the increment must be 1 ... %llu "
                     "(2^memory_bits), not %lld",
                     key, run, (long long)count);
}

/* For snowflakes the generator checks the length of a run. */
static bool run_is_valid(const struct queue_sequence_options *options,
                         size_t count)
{
    if (options->period != NULL)
        return count == 1;
    return options->snowflake != NULL || options_may_run(options, count);
}

enum seqb_status queue_check_take(const struct queue_meaning *meaning,
                                  const struct queue_take *take,
                                  struct seqb_error *err)
{
    const struct queue_sequence_options *options = meaning->options;

    if (take->is_contiguous && !run_is_valid(options, take->count))
        return refuse_run(options, meaning->key, take->count, err);
    if (!take->is_contiguous && !count_is_valid(take->count))
        return refuse_count(meaning->key, take->count, err);
    if (take->is_sharded && !shard_is_valid(options, take->shard))
        return refuse_shard(options, meaning->key, take->shard, err);
    return SEQB_OK;
}
