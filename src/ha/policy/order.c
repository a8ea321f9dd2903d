/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator's order changes, and which orders make no sense. */
#include "ha/policy/order.h"

#include "platform/error.h"
#include "platform/text.h"

/* Why a partition that is not drained cannot be resumed, NULL if a resume has
 * nothing to do. */
static const char *resume_objection(const struct pool_member *member,
                                    int64_t now_ms)
{
    if (member->state == SEQB_PARTITION_REFUSED ||
        member->state == SEQB_PARTITION_POISONED)
        return "it is not drained: rescue it instead";
    return member->state == SEQB_PARTITION_QUARANTINED && member->is_ordered &&
                   member->next_probe_ms > now_ms
               ? "an operator quarantined it: rescue it instead"
               : NULL;
}

/* Whether the order was carried out before. */
static bool order_is_done(enum seqb_order order,
                          enum seqb_partition_state state)
{
    return (order == SEQB_ORDER_DRAIN && state == SEQB_PARTITION_DRAINED) ||
           (order == SEQB_ORDER_RESUME && state != SEQB_PARTITION_DRAINED);
}

/* Why the order makes no sense in the member's state, NULL if it does. */
static const char *objection(enum seqb_order order,
                             const struct pool_member *member, int64_t now_ms)
{
    const enum seqb_partition_state state = member->state;

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
        /* A resume would lose the reason why it is not asked any more. */
        if (state == SEQB_PARTITION_REFUSED || state == SEQB_PARTITION_POISONED)
            return "it is asked no more as it is";
        return NULL;
    default:
        return resume_objection(member, now_ms);
    }
}

static void member_leave(struct pool_member *member,
                         enum seqb_partition_state state, const char *reason,
                         int64_t now_ms)
{
    member->state = state;
    member->since_ms = now_ms;
    member->successes = 0;
    member->is_ordered = state == SEQB_PARTITION_QUARANTINED;
    (void)text_copy(member->reason, sizeof member->reason, reason);
}

static const char *order_reason(enum seqb_order order)
{
    if (order == SEQB_ORDER_QUARANTINE)
        return "quarantined by an operator";
    return order == SEQB_ORDER_RESUME ? "resumed by an operator, and probed now"
                                      : "probed now by an operator's order";
}

/* A quarantine by order rests as long as the longest rest of a failed store:
 * the store is most often well, and the first probe would end what was
 * ordered. */
enum seqb_status pool_command(struct pool *pool, int32_t i,
                              enum seqb_order order, int64_t now_ms,
                              struct pool_change *change,
                              struct seqb_error *err)
{
    struct pool_member *member = &pool->member[i];
    const char *why = objection(order, member, now_ms);

    *change = (struct pool_change){.from = member->state, .to = member->state};
    if (why != NULL)
        return error_set(err, SEQB_INVALID,
                         "partition %d of pool %s is %s: %s; nothing was "
                         "changed",
                         (int)i, pool->options->layout.name,
                         seqb_partition_state_name(member->state), why);
    if (order_is_done(order, member->state))
        return SEQB_OK;
    if (order == SEQB_ORDER_DRAIN) {
        member_leave(member, SEQB_PARTITION_DRAINED, "drained by an operator",
                     now_ms);
    } else {
        member->rest_ms = POOL_FIRST_PROBE_MS;
        if (pool->options->rescue == HA_RESCUE_FIXED)
            member->rest_ms = pool->options->rescue_after_ms;
        member->next_probe_ms = now_ms;
        if (order == SEQB_ORDER_QUARANTINE)
            member->next_probe_ms += pool->options->rescue_after_ms;
        if (order != SEQB_ORDER_RESCUE ||
            member->state != SEQB_PARTITION_QUARANTINED)
            member_leave(member, SEQB_PARTITION_QUARANTINED,
                         order_reason(order), now_ms);
    }
    change->to = member->state;
    return SEQB_OK;
}
