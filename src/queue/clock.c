/* SPDX-License-Identifier: Apache-2.0 */
/* What the guarded clock means for the queue's sequences: who has no numbers
 * while it gives no time, and whether that is everybody. */
#include "platform/text.h"
#include "queue/guarded_clock/guarded_clock.h"
#include "queue/queue_state.h"

/* How many of the listed sequences and the automatic ones have a period.
 * `*all`: there are sequences, and each of them has one. The options may be
 * freed by a reload unless the catalog is locked. */
static size_t periods_count(struct queue *queue, bool *all)
{
    const struct queue_options *options;
    size_t kinds;
    size_t count;

    pthread_rwlock_rdlock(&queue->catalog_lock);
    options = queue->options;
    kinds = options->sequence_count + (options->automatic != NULL);
    count = options->automatic != NULL && options->automatic->period != NULL;
    for (size_t i = 0; i < options->sequence_count; i++)
        count += options->sequences[i].period != NULL;
    pthread_rwlock_unlock(&queue->catalog_lock);
    *all = count > 0 && count == kinds;
    return count;
}

/* A time that cannot be kept stops only stamps that begin later. Snowflakes use
 * the machine's clock, and their times go on within those of their lease: what
 * they have then is the business of queue_health. */
static const char *effect_of(struct queue *queue, bool gives_time)
{
    const bool has_snowflakes = queue->first->snowflake_count > 0;
    bool all;
    const bool has_periods = periods_count(queue, &all) > 0;

    if (!has_periods && (gives_time || !has_snowflakes))
        return "no sequence is affected";
    if (gives_time)
        return "sequences with a period get no new stamp";
    if (!has_snowflakes)
        return "sequences with a period have no numbers";
    return has_periods ? "sequences with a period have no numbers, and "
                         "snowflakes may have none"
                       : "snowflakes may have no numbers";
}

/* The reason and the effect are of one reading: the clock may be right again at
 * the next one. */
void queue_clock(struct queue *queue, struct seqb_clock_status *out)
{
    struct guarded_clock *clock = queue->context.clock;
    bool gives_time;

    *out = (struct seqb_clock_status){.is_used = clock != NULL};
    if (clock == NULL)
        return;
    gives_time = guarded_clock_status(clock, out);
    if (out->reason[0] != '\0')
        (void)text_copy(out->effect, sizeof out->effect,
                        effect_of(queue, gives_time));
}

bool queue_lacks_time(struct queue *queue)
{
    struct guarded_clock *clock = queue->context.clock;
    int64_t time_ms;
    bool all;

    if (clock == NULL || guarded_clock_now(clock, &time_ms, NULL) == SEQB_OK)
        return false;
    (void)periods_count(queue, &all);
    return all;
}
