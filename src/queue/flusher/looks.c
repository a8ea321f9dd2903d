/* SPDX-License-Identifier: Apache-2.0 */
/* How often all sequences are polled for one that is idle. */
#include "queue/flusher/flusher.h"

/* A sequence is polled this often within its idle_after, but the time between
 * two polls is in these limits. */
#define LOOKS         4
#define LOOK_LEAST_MS 250
#define LOOK_MOST_MS  60000

static int64_t poll_of(const struct queue_sequence_options *options,
                       int64_t most_ms)
{
    const int64_t poll_ms = options->idle_after_ms / LOOKS;

    if (options->idle_after_ms == 0 || poll_ms >= most_ms)
        return most_ms;
    return poll_ms < LOOK_LEAST_MS ? LOOK_LEAST_MS : poll_ms;
}

int64_t flusher_looks(const struct queue_options *options)
{
    int64_t poll_ms = LOOK_MOST_MS;

    for (size_t i = 0; i < options->sequence_count; i++)
        poll_ms = poll_of(&options->sequences[i], poll_ms);
    return options->automatic != NULL ? poll_of(options->automatic, poll_ms)
                                      : poll_ms;
}
