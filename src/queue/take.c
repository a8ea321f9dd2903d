/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking numbers: what is in the sequence's stripes and ring is taken here, and
 * its source is asked for the rest.
 */
#include "platform/error.h"
#include "queue/sequence_take.h"

#define MANY_MAX 10000000 /* numbers in one call */

static __attribute__((noinline)) enum seqb_status
next_unstriped(struct seqb_sequence *sequence, int64_t *out,
               struct seqb_error *err)
{
    if (sequence_take_unstriped(sequence, out))
        return SEQB_OK;
    return sequence->source->take(
        sequence, &(struct queue_take){.out = out, .count = 1}, err);
}

enum seqb_status queue_next(struct seqb_sequence *sequence, int64_t *out,
                            struct seqb_error *err)
{
    if (LIKELY(sequence_take_striped(sequence, out)))
        return SEQB_OK;
    return next_unstriped(sequence, out, err);
}

static enum seqb_status check_count(const struct seqb_sequence *sequence,
                                    size_t count, struct seqb_error *err)
{
    if (count >= 1 && count <= MANY_MAX)
        return SEQB_OK;
    return error_set(err, SEQB_INVALID,
                     "sequence %s: count %zu is not in 1 ... %d", sequence->key,
                     count, MANY_MAX);
}

enum seqb_status queue_next_many(struct seqb_sequence *sequence, size_t count,
                                 int64_t *out, struct seqb_error *err)
{
    if (check_count(sequence, count, err) != SEQB_OK)
        return SEQB_INVALID;
    return sequence->source->take(
        sequence, &(struct queue_take){.out = out, .count = count}, err);
}

enum seqb_status queue_try_many(struct seqb_sequence *sequence, size_t count,
                                int64_t *out, size_t *taken,
                                struct seqb_error *err)
{
    *taken = 0;
    if (check_count(sequence, count, err) != SEQB_OK)
        return SEQB_INVALID;
    return sequence->source->try_take(
        sequence,
        &(struct queue_take){.out = out, .count = count, .taken = taken}, err);
}

enum seqb_status queue_try_run(struct seqb_sequence *sequence, size_t count,
                               int64_t *first, struct seqb_error *err)
{
    if (sequence_may_run(sequence, count) &&
        sequence_take_run(sequence, count, first))
        return SEQB_OK;
    return sequence->source->try_take(
        sequence,
        &(struct queue_take){
            .out = first, .count = count, .is_contiguous = true},
        err);
}

static enum seqb_status check_shard(const struct seqb_sequence *sequence,
                                    int64_t shard, struct seqb_error *err)
{
    const struct bits_layout *ids = sequence->options->ids;

    if (ids == NULL)
        return error_set(err, SEQB_INVALID,
                         "sequence %s has no ids: a shard has no place in its "
                         "numbers",
                         sequence->key);
    if (shard >= 0 && shard <= bits_shard_max(ids))
        return SEQB_OK;
    return error_set(
        err, SEQB_INVALID, "sequence %s: shard %lld is not in 0 ... %lld",
        sequence->key, (long long)shard, (long long)bits_shard_max(ids));
}

/* A sequence whose source sets no stamp has one, always. */
static enum seqb_status take_begin(const struct seqb_sequence *sequence,
                                   const struct queue_take *take,
                                   struct seqb_error *err)
{
    const enum seqb_status status = check_count(sequence, take->count, err);

    if (status == SEQB_OK && take->stamp != NULL)
        *take->stamp = (struct seqb_stamp){.ends_ms = INT64_MAX};
    if (status != SEQB_OK || !take->is_sharded)
        return status;
    return check_shard(sequence, take->shard, err);
}

enum seqb_status queue_take(struct seqb_sequence *sequence,
                            const struct queue_take *take,
                            struct seqb_error *err)
{
    const enum seqb_status status = take_begin(sequence, take, err);

    return status == SEQB_OK ? sequence->source->take(sequence, take, err)
                             : status;
}

/* More than is ever held would never be there at once. */
static enum seqb_status check_all(const struct seqb_sequence *sequence,
                                  const struct queue_take *take,
                                  struct seqb_error *err)
{
    const int64_t most = sequence->options->max_unused / 2;

    if (take->taken != NULL || take->count == 1 || (int64_t)take->count <= most)
        return SEQB_OK;
    return error_set(err, SEQB_INVALID,
                     "sequence %s: %zu numbers at once are more than half of "
                     "its max_unused, %lld: wait for them, or raise it",
                     sequence->key, take->count, (long long)most);
}

enum seqb_status queue_try_take(struct seqb_sequence *sequence,
                                const struct queue_take *take,
                                struct seqb_error *err)
{
    enum seqb_status status = take_begin(sequence, take, err);

    if (status == SEQB_OK)
        status = check_all(sequence, take, err);
    if (status != SEQB_OK)
        return status;
    return sequence->source->try_take(sequence, take, err);
}
