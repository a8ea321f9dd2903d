/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This process may have been resumed from an image of its memory. The numbers
 * that it holds may then have been issued before, by the process itself. So it
 * drops all of them.
 */
#include <inttypes.h>

#include "platform/log.h"
#include "queue/queue_state.h"

/* With the catalog locked. */
static void sequence_resumed(void *context, struct seqb_sequence *sequence)
{
    int64_t *sum = context;
    const int64_t dropped =
        sequence->source->drop == NULL ? 0 : sequence->source->drop(sequence);

    *sum += dropped;
    if (dropped > 0)
        sequence_wake(sequence);
}

/* First the asks in flight, so that their grants do not arrive in a ring that
 * was already emptied; then the cursors' slices; then rings and stripes. */
static void queue_drop(struct queue *queue, int64_t apart_ms)
{
    int64_t dropped = 0;
    size_t at = 0;

    ha_resumed(queue->ha);
    atomic_fetch_add(&queue->context.resumed, 1);
    while (queue_visit(queue, &at, sequence_resumed, &dropped))
        continue;
    log_reason(SEQB_LOG_WARN,
               "the date and the boot clock leapt apart: the clock was set, or "
               "this process was resumed from an image of its memory",
               "event=resumed apart_ms=%" PRId64 " numbers=%" PRId64, apart_ms,
               dropped);
}

void queue_watch(struct queue *queue)
{
    const struct clock_pair now = clock_read_pair();
    int64_t apart_ms;

    if (resume_read(&queue->resume, &now, &apart_ms))
        queue_drop(queue, apart_ms);
}
