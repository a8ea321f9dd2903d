/* SPDX-License-Identifier: Apache-2.0 */
/* Orders, and what they lead to, for the test programs about an operator. */
#pragma once

#include "health_fixture.h"

static inline void order(struct rig_broker *broker, const char *pool, int32_t i,
                         enum seqb_order order)
{
    struct seqb_error err;

    if (ha_command(broker->ha, pool, i, order, &err) != SEQB_OK)
        fail_msg("refused: %s", err.text);
}

static inline int64_t all_calls(struct fake_store *store)
{
    int64_t calls = 0;

    for (int i = 0; i < FAKE_CALLS; i++)
        calls += fake_calls(store, (enum fake_call)i);
    return calls;
}
