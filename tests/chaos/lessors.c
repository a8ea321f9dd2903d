/* SPDX-License-Identifier: Apache-2.0 */
/* The moments of a fault; waiting for lessors. */
#include <string.h>
#include <time.h>

#include <seqbroker/admin.h>

#include "lessors.h"
#include "platform/clock.h"

#define LESSORS_MOST 8
#define PATIENCE_MS  120000 /* lessors get level, or never will */

enum moment { UNDER_BROKERS, BETWEEN_BROKERS, BEFORE_THEIR_END, MOMENTS };

static enum moment moment_of(const struct chaos *chaos, bool is_resting)
{
    return is_resting ? BETWEEN_BROKERS
                      : (enum moment)(chaos->faults % MOMENTS);
}

void lessors_fault_begin(struct chaos *chaos, bool is_resting)
{
    if (moment_of(chaos, is_resting) == BETWEEN_BROKERS)
        chaos_stop(chaos);
}

void lessors_fault_end(struct chaos *chaos, bool is_resting)
{
    if (moment_of(chaos, is_resting) == BEFORE_THEIR_END) {
        chaos_take_some(chaos);
        chaos_stop(chaos);
    }
    if (!chaos->crowd.is_listening)
        chaos_start(chaos);
}

static bool are_level(struct seqb_broker *broker, size_t expected)
{
    struct seqb_lessor lessors[LESSORS_MOST];
    size_t count = 0;
    struct seqb_error err;

    if (seqb_lessors(broker, lessors, sizeof lessors[0], LESSORS_MOST, &count,
                     &err) != SEQB_OK ||
        count != expected)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(lessors[i].state, "level") != 0)
            return false;
    }
    return true;
}

/* The broker that looks is closed before others are forked. */
void lessors_await(struct chaos *chaos, size_t count)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    struct seqb_broker *broker = NULL;
    struct seqb_error err = {SEQB_OK, ""};
    bool is_level = false;

    while (!is_level) {
        if (clock_now_ms() > until_ms)
            fail_msg("not all lessors get level: %s", err.text);
        if (broker == NULL &&
            seqb_open(chaos->topologies[0], &broker, &err) != SEQB_OK)
            continue;
        is_level = are_level(broker, count);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    seqb_close(broker);
}
