/* SPDX-License-Identifier: Apache-2.0 */
/* An operator moves a sequence forwards. The numbers that its ring holds are
 * dropped, and so are those that arrive later and are too low. */
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/log.h"
#include "platform/text.h"
#include "queue/flusher/flusher.h"
#include "queue/queue_state.h"

/* Sets the counter's floor and drops the ring's numbers under one lock. A grant
 * that arrives later is checked against the floor, and an earlier one is
 * dropped. A taker that comes before the drop has its number before this call
 * returns. */
static enum seqb_status sequence_drop(struct seqb_sequence *sequence,
                                      int64_t to, uint64_t *dropped,
                                      struct seqb_error *err)
{
    enum seqb_status status;

    pthread_mutex_lock(&sequence->lock);
    status = sequence->is_closed
                 ? error_set(err, SEQB_CLOSED, "the broker is closing")
                 : ha_counter_advance(sequence->counter, to, err);
    if (status == SEQB_OK) {
        *dropped = sequence_drop_below(sequence, to);
    }
    pthread_mutex_unlock(&sequence->lock);
    return status;
}

static void report_dropped(const struct seqb_sequence *sequence,
                           uint64_t dropped, int64_t to)
{
    char reason[64];

    (void)text_format(reason, sizeof reason, "advanced beyond %lld",
                      (long long)to);
    log_reason(SEQB_LOG_INFO, reason, "event=dropped key=%s numbers=%llu",
               sequence->key, (unsigned long long)dropped);
}

enum seqb_status queue_highest(struct queue *queue, const char *key,
                               int64_t *out, struct seqb_error *err)
{
    struct seqb_sequence *sequence;
    enum seqb_status status = queue_find(queue, key, &sequence, err);

    if (status == SEQB_OK)
        status = sequence->source->permits(sequence, SOURCE_ADVANCE, err);
    if (status == SEQB_OK)
        *out = ha_counter_highest(sequence->counter);
    return status;
}

enum seqb_status queue_advance(struct queue *queue, const char *key, int64_t to,
                               struct seqb_error *err)
{
    struct seqb_sequence *sequence;
    uint64_t dropped;
    enum seqb_status status = queue_find(queue, key, &sequence, err);
    enum seqb_status kept;
    struct seqb_error why;
    int64_t until_ms;

    if (status == SEQB_OK)
        status = admitter_wait(sequence, err);
    if (status == SEQB_OK)
        status = sequence->source->permits(sequence, SOURCE_ADVANCE, err);
    if (status == SEQB_OK)
        status = sequence_drop(sequence, to, &dropped, err);
    if (status != SEQB_OK)
        return status;
    until_ms = clock_now_ms() + sequence->settings->deadline_ms;
    if (dropped > 0)
        report_dropped(sequence, dropped, to);
    sequence_wake(sequence);
    status = ha_counter_raise(sequence->counter, until_ms, err);
    kept = flusher_drop(queue->flusher, sequence, to, until_ms, &why);
    return status == SEQB_OK && kept != SEQB_OK
               ? error_set(err, kept,
                           "sequence %s is advanced in every store, but its "
                           "numbers up to %lld could not be dropped from the "
                           "spool, and the next start may hand them out: "
                           "advance it again, further, or remove the spool "
                           "while the broker is stopped; %s",
                           sequence->key, (long long)to, why.text)
               : status;
}
