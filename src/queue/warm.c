/* SPDX-License-Identifier: Apache-2.0 */
/* Waits as a caller does who finds a ring empty, and takes nothing. */
#include "queue/warm.h"

#include <string.h>

#include "platform/log.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "queue/periodic.h"
#include "queue/sequence.h"

#define NAMES_SIZE 200 /* of those that are told by name */

/* With the lock held. Before the first plan there is no mark to reach; the
 * plan of a sequence that was never used holds REFILL_MIN. */
static bool is_warm(const struct seqb_sequence *sequence)
{
    const int64_t stock = (int64_t)ring_stock(sequence->ring);
    const int64_t most = sequence->options->max_unused;
    const int64_t least = (most < REFILL_MIN ? most : REFILL_MIN) / 2;

    return stock > 0 && stock >= least && stock >= sequence->low;
}

/* Whether no partition will ever give it a number. */
static bool is_hopeless(struct seqb_sequence *sequence)
{
    const enum seqb_status outlook =
        ha_counter_outlook(sequence->counter, NULL);

    return outlook == SEQB_EXHAUSTED || outlook == SEQB_LAYOUT;
}

/* Where its numbers are now; NULL if that is not known in time. */
static struct seqb_sequence *sequence_filled(struct seqb_sequence *sequence,
                                             int64_t until_ms)
{
    struct turn turn;

    if (sequence->periodic == NULL)
        return sequence;
    if (periodic_turn(sequence->periodic, until_ms, &turn, NULL) != SEQB_OK)
        return NULL;
    queue_wake(turn.term->sequence);
    return turn.term->sequence;
}

/* False if the time passed before. */
static bool sequence_await(struct seqb_sequence *front, int64_t until_ms)
{
    struct seqb_sequence *sequence = sequence_filled(front, until_ms);
    bool goes_on = true;
    bool is_filled;

    if (sequence == NULL)
        return false;
    atomic_fetch_add(&sequence->waiters, 1);
    pthread_mutex_lock(&sequence->lock);
    while (!is_warm(sequence) && !is_hopeless(sequence) && goes_on)
        goes_on = condition_wait(&sequence->filled, &sequence->lock, until_ms);
    is_filled = is_warm(sequence);
    atomic_fetch_sub(&sequence->waiters, 1);
    pthread_mutex_unlock(&sequence->lock);
    return is_filled;
}

/* Names the sequences that are not filled; of many, the first ones. */
struct cold {
    char names[NAMES_SIZE];
    size_t named;
    size_t count;
};

static void cold_add(struct cold *cold, const char *key)
{
    const size_t used = strlen(cold->names);

    if (cold->named == cold->count++) {
        if (text_append(cold->names, sizeof cold->names, "%s%s",
                        used > 0 ? "," : "", key))
            cold->named++;
        else
            cold->names[used] = '\0';
    }
}

void warm_wait(const struct catalog *catalog, int64_t until_ms)
{
    struct cold cold = {.count = 0};

    for (size_t i = 0; i < catalog->count; i++) {
        if (catalog->sequences[i]->options->warm)
            queue_wake(catalog->sequences[i]);
    }
    for (size_t i = 0; i < catalog->count; i++) {
        struct seqb_sequence *sequence = catalog->sequences[i];

        if (sequence->options->warm && !sequence_await(sequence, until_ms))
            cold_add(&cold, sequence->key);
    }
    if (cold.count > 0)
        log_reason(SEQB_LOG_WARN,
                   "not filled in open_timeout: the first numbers may have to "
                   "be waited for",
                   "event=cold sequences=%zu keys=%s%s", cold.count, cold.names,
                   cold.named < cold.count ? ",..." : "");
}
