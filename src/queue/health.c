/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the queue can serve: what its partitions say, and what they do not
 * know of: sequences that wait or refuse texts, worker ids, and the time. */
#include <string.h>

#include "ha/ha.h"
#include "platform/text.h"
#include "platform/text_list.h"
#include "queue/admitter.h"
#include "queue/queue_state.h"

/* Bytes for the reasons that are the queue's own: sequences that wait, why
 * pools make no ids, the clock, and texts that are refused. */
#define REASONS_SIZE 1024

/* Sequences wait, although the pool that they count in may be well. */
static bool all_have_begun(struct queue *queue, struct text_list *why)
{
    const size_t waiting = admitter_waiting(queue);
    char words[128];

    if (waiting == 0)
        return true;
    (void)text_format(words, sizeof words,
                      "%zu sequence%s for a store of another pool, or of "
                      "%s own, see event=unasked",
                      waiting, waiting == 1 ? " waits" : "s wait",
                      waiting == 1 ? "its" : "their");
    text_list_add(why, words);
    return false;
}

/* A pool that makes no ids cannot serve, nor can a broker whose sequences all
 * lack the time. The reason for that is put after the others, which leave room
 * for it. */
enum seqb_health queue_health(struct queue *queue, char *reason, size_t size)
{
    char words[REASONS_SIZE];
    struct text_list why;
    enum seqb_health health;
    enum seqb_health own = SEQB_HEALTH_SERVING;
    size_t room;

    text_list_init(&why, words, sizeof words, "; ");
    if (!all_have_begun(queue, &why))
        own = SEQB_HEALTH_DEGRADED;
    if (!generators_can_make(queue, &why))
        own = SEQB_HEALTH_NOT_SERVING;
    if (queue_lacks_time(queue)) {
        text_list_add(&why, "the clock gives no stamps, and every sequence has "
                            "a period");
        own = SEQB_HEALTH_NOT_SERVING;
    }
    if (widths_describe(&queue->context.widths, &why) &&
        own == SEQB_HEALTH_SERVING)
        own = SEQB_HEALTH_DEGRADED;
    text_list_finish(&why);
    room = strlen(words) + strlen("; ");
    if (own == SEQB_HEALTH_SERVING)
        return ha_health(queue->ha, reason, size);
    health = ha_health(queue->ha, reason, size > room ? size - room : size);
    if (reason != NULL && size > 0)
        (void)text_append(reason, size, "%s%s", reason[0] == '\0' ? "" : "; ",
                          words);
    return health > own ? health : own;
}
