/* SPDX-License-Identifier: Apache-2.0 */
/* The source with one counter. Its numbers are in the sequence's ring. */
#include "queue/sequence_take.h"

#include "platform/error.h"

static enum seqb_status plain_open(const struct source_setup *setup,
                                   struct seqb_sequence **out,
                                   struct seqb_error *err)
{
    const enum seqb_status status = sequence_new(
        setup, &source_plain, sizeof(struct seqb_sequence), out, err);

    if (status == SEQB_OK)
        (*out)->may_stripe = true;
    return status;
}

static enum seqb_status plain_take(struct seqb_sequence *sequence,
                                   const struct queue_take *take,
                                   struct seqb_error *err)
{
    if (take->is_contiguous && !options_may_run(sequence->options, take->count))
        return refuse_run(sequence->options, sequence->key, take->count, err);
    return sequence_take(sequence, take, err);
}

/* This and the next two functions check the ring again after sequence_again:
 * numbers may have arrived just before the ready call was armed. */
static enum seqb_status try_run(struct seqb_sequence *sequence,
                                const struct queue_take *take,
                                struct seqb_error *err)
{
    enum seqb_status status;

    if (!options_may_run(sequence->options, take->count))
        return refuse_run(sequence->options, sequence->key, take->count, err);
    if (sequence_take_run(sequence, take->count, take->out))
        return SEQB_OK;
    status = sequence_again(sequence, err);
    return sequence_take_run(sequence, take->count, take->out) ? SEQB_OK
                                                               : status;
}

static enum seqb_status try_some(struct seqb_sequence *sequence,
                                 const struct queue_take *take, size_t *taken,
                                 struct seqb_error *err)
{
    enum seqb_status status;

    *taken = sequence_take_some(sequence, take->count, take->out);
    if (*taken == take->count)
        return SEQB_OK;
    status = sequence_again(sequence, err);
    *taken +=
        sequence_take_some(sequence, take->count - *taken, take->out + *taken);
    return *taken == take->count ? SEQB_OK : status;
}

static enum seqb_status try_all(struct seqb_sequence *sequence,
                                const struct queue_take *take,
                                struct seqb_error *err)
{
    enum seqb_status status;
    size_t taken;

    if (ring_stock(sequence->ring) < take->count) {
        atomic_store(&sequence->wanted, (int64_t)take->count);
        status = sequence_again(sequence, err);
        if (ring_stock(sequence->ring) < take->count)
            return status;
    }
    return try_some(sequence, take, &taken, err);
}

static enum seqb_status plain_try_take(struct seqb_sequence *sequence,
                                       const struct queue_take *take,
                                       struct seqb_error *err)
{
    if (take->is_contiguous)
        return try_run(sequence, take, err);
    return take->taken == NULL ? try_all(sequence, take, err)
                               : try_some(sequence, take, take->taken, err);
}

static enum seqb_status plain_permits(const struct seqb_sequence *sequence,
                                      enum source_use use,
                                      struct seqb_error *err)
{
    (void)sequence;
    (void)use;
    (void)err;
    return SEQB_OK;
}

static void plain_counts(struct seqb_sequence *sequence, int64_t now_ms,
                         struct seqb_sequence_counts *out)
{
    const struct ring *ring = sequence->ring;
    int64_t stock;
    int64_t taken;

    if (!ring_rests(ring, &stock, &taken)) {
        sequence_counts(sequence, now_ms, out);
        return;
    }
    *out = (struct seqb_sequence_counts){
        .taken = taken,
        .waits = atomic_load_explicit(&ring->waits, memory_order_relaxed),
        .stock = stock,
        .runway_ms = INT64_MAX,
        .runs_out_ms = ha_counter_last_runs_out_ms(sequence->counter, now_ms)};
}

/* An idle sequence needs only the line of its ring's head, and a line of its
 * counter. */
static void plain_prefetch_counts(const struct seqb_sequence *sequence,
                                  int step)
{
    int64_t unused;

    if (step == 0) {
        __builtin_prefetch((const void *)&sequence->ring->head);
        ha_counter_prefetch(sequence->counter);
    } else if (step == 2 && !ring_rests(sequence->ring, &unused, &unused)) {
        sequence_prefetch_counts(sequence);
    }
}

const struct source source_plain = {
    .open = plain_open,
    .take = plain_take,
    .try_take = plain_try_take,
    .permits = plain_permits,
    .refill = sequence_refill,
    .drop = sequence_drop_all,
    .warm = sequence_warm,
    .status = sequence_status,
    .counts = plain_counts,
    .prefetch_counts = plain_prefetch_counts,
    .on_ready = sequence_on_ready,
    .close = sequence_close,
    .free = sequence_free,
};
