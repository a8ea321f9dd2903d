/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator orders for a partition, and the reason for a member's state.
 * policy/order.c decides which order makes sense in which state. */
#include "ha/startup.h"

#include <string.h>

#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

/* --- orders --- */

static struct ha_pool *pool_find(struct ha *ha, const char *name,
                                 struct seqb_error *err)
{
    for (size_t i = 0; i < ha->options->pool_count; i++) {
        if (strcmp(ha->pools[i].options->layout.name, name) == 0)
            return &ha->pools[i];
    }
    (void)error_set(err, SEQB_INVALID, "there is no pool '%s'", name);
    return NULL;
}

/* The member index of a partition. `partition` -1 is the authority, if it is no
 * partition itself. Returns -1 if there is none. */
static int32_t member_find(const struct ha_pool *pool, int32_t partition,
                           struct seqb_error *err)
{
    const int32_t partitions = pool->pool.partitions;

    if (partition >= 0 && partition < partitions)
        return partition;
    if (partition == -1 && pool->members > partitions)
        return partitions;
    if (partition == -1)
        (void)error_set(err, SEQB_INVALID,
                        "pool %s has no authority besides its partitions",
                        pool->options->layout.name);
    else
        (void)error_set(
            err, SEQB_INVALID, "pool %s has no partition %d: they are 0 ... %d",
            pool->options->layout.name, (int)partition, (int)partitions - 1);
    return -1;
}

enum seqb_status ha_command(struct ha *ha, const char *pool_name,
                            int32_t partition, enum seqb_order order,
                            struct seqb_error *err)
{
    struct ha_pool *pool = pool_find(ha, pool_name, err);
    struct worker_membership membership = {pool, -1};
    struct pool_change change;
    char reason[sizeof pool->pool.member[0].reason];
    enum seqb_status status;

    if (pool != NULL)
        membership.member = member_find(pool, partition, err);
    if (membership.member < 0)
        return SEQB_INVALID;
    pthread_mutex_lock(pool->lock);
    status = pool_command(&pool->pool, membership.member, order, clock_now_ms(),
                          &change, err);
    (void)text_copy(reason, sizeof reason,
                    pool->pool.member[membership.member].reason);
    pthread_mutex_unlock(pool->lock);
    if (status != SEQB_OK)
        return status;
    worker_report(pool->workers[membership.member], &membership, change, true,
                  reason);
    worker_wake(pool->workers[membership.member]);
    return SEQB_OK;
}

/* --- why a member is not well --- */

bool member_refuses(const struct ha_pool *pool, int32_t i)
{
    return i < pool->pool.partitions && pool->refusals[i].count > 0 &&
           pool_is_usable(&pool->pool, i);
}

void member_reason(const struct ha_pool *pool, int32_t i, char *out,
                   size_t size)
{
    (void)text_copy(out, size, pool->pool.member[i].reason);
    if (!member_refuses(pool, i))
        return;
    (void)text_append(out, size, "%s", out[0] != '\0' ? "; " : "");
    slot_refusals_report(pool, i, out, size);
}

enum seqb_status ha_reason(struct ha *ha, const char *pool_name,
                           int32_t partition, char out[SEQB_REASON_SIZE],
                           struct seqb_error *err)
{
    struct ha_pool *pool = pool_find(ha, pool_name, err);
    int32_t member = -1;

    if (pool != NULL)
        member = member_find(pool, partition, err);
    if (member < 0)
        return SEQB_INVALID;
    pthread_mutex_lock(pool->lock);
    member_reason(pool, member, out, SEQB_REASON_SIZE);
    pthread_mutex_unlock(pool->lock);
    return SEQB_OK;
}
