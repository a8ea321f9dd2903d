/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator may do to a partition, in which state. */
#include "ha/pool_turn.h"

#include "platform/error.h"
#include "platform/text.h"

/* Why the order makes no sense in that state, NULL if it does. */
static const char *objection(enum seqb_order order,
                             enum seqb_partition_state state)
{
    switch (order) {
    case SEQB_ORDER_QUARANTINE:
        if (state == SEQB_PARTITION_UP || state == SEQB_PARTITION_SUSPECT ||
            state == SEQB_PARTITION_RAMPING)
            return NULL;
        return "only one that is up can be quarantined";
    case SEQB_ORDER_RESCUE:
        if (state == SEQB_PARTITION_QUARANTINED ||
            state == SEQB_PARTITION_REFUSED || state == SEQB_PARTITION_POISONED)
            return NULL;
        return state == SEQB_PARTITION_DRAINED ? "resume it instead"
                                               : "it needs no rescue";
    case SEQB_ORDER_DRAIN:
        /* A resume would make one forget why it is asked no more. */
        if (state == SEQB_PARTITION_REFUSED || state == SEQB_PARTITION_POISONED)
            return "it is asked no more as it is";
        return state == SEQB_PARTITION_DRAINED ? "it is drained already" : NULL;
    default:
        return state == SEQB_PARTITION_DRAINED ? NULL : "it is not drained";
    }
}

static void member_leave(struct pool_member *member,
                         enum seqb_partition_state state, const char *reason,
                         int64_t now_ms)
{
    member->state = state;
    member->since_ms = now_ms;
    member->successes = 0;
    member->judged_ms = -1;
    (void)text_copy(member->reason, sizeof member->reason, reason);
}

enum seqb_status pool_command(struct pool *pool, int32_t i,
                              enum seqb_order order, int64_t now_ms,
                              struct pool_change *change,
                              struct seqb_error *err)
{
    struct pool_member *member = &pool->member[i];
    const char *why = objection(order, member->state);

    change->from = member->state;
    change->to = member->state;
    if (why != NULL)
        return error_set(err, SEQB_INVALID,
                         "partition %d of pool %s is %s: %s; nothing was "
                         "changed",
                         (int)i, pool->options->layout.name,
                         seqb_partition_state_name(member->state), why);
    if (order == SEQB_ORDER_DRAIN) {
        member_leave(member, SEQB_PARTITION_DRAINED, "drained by an operator",
                     now_ms);
    } else {
        member->rest_ms = POOL_FIRST_PROBE_MS;
        if (pool->options->rescue == HA_RESCUE_FIXED)
            member->rest_ms = pool->options->rescue_after_ms;
        member->next_probe_ms =
            order == SEQB_ORDER_QUARANTINE ? now_ms + member->rest_ms : now_ms;
        if (order != SEQB_ORDER_RESCUE ||
            member->state != SEQB_PARTITION_QUARANTINED)
            member_leave(member, SEQB_PARTITION_QUARANTINED,
                         order == SEQB_ORDER_QUARANTINE
                             ? "quarantined by an operator"
                             : "an operator has it probed",
                         now_ms);
    }
    change->to = member->state;
    return SEQB_OK;
}
