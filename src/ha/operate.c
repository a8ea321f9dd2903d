/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator orders of a partition, and how the pools are as a whole.
 * Which order makes sense in which state is pool_turn.c's. */
#include "ha/startup.h"

#include <string.h>

#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

const char *seqb_health_name(enum seqb_health health)
{
    static const char *const names[] = {
        [SEQB_HEALTH_SERVING] = "serving",
        [SEQB_HEALTH_DEGRADED] = "degraded",
        [SEQB_HEALTH_NOT_SERVING] = "not serving",
        [SEQB_HEALTH_UNKNOWN] = "unknown",
    };

    return (size_t)health < sizeof names / sizeof names[0] ? names[health]
                                                           : "unknown";
}

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

/* The member of that index; of the authority, -1, only if it is no partition
 * itself. -1 if there is none. */
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

/* --- health --- */

/* With the pool's lock held: one that may not be asked, and why. */
static void describe_member(const struct ha_pool *pool, int32_t i, char *out,
                            size_t size)
{
    const struct pool_member *member = &pool->pool.member[i];
    const char *name = worker_name(pool->workers[i]);

    if (i < pool->pool.partitions)
        (void)text_append(out, size, "%spartition %d (%s) is %s",
                          out[0] == '\0' ? "" : "; ", (int)i, name,
                          seqb_partition_state_name(member->state));
    else
        (void)text_append(out, size, "%sauthority %s is %s",
                          out[0] == '\0' ? "" : "; ", name,
                          seqb_partition_state_name(member->state));
    if (member->reason[0] != '\0')
        (void)text_append(out, size, ": %.*s", POOL_REASON_BRIEF,
                          member->reason);
}

/* With the pool's lock held: one that may be asked, and what it refuses. */
static void describe_refusals(const struct ha_pool *pool, int32_t i, char *out,
                              size_t size)
{
    (void)text_append(out, size, "%spartition %d (%s) ",
                      out[0] == '\0' ? "" : "; ", (int)i,
                      worker_name(pool->workers[i]));
    slot_refusals_report(pool, i, out, size);
}

/* With the pool's lock held: lessors that wait, and for whom. */
static void describe_lessors(const struct ha_pool *pool, char *out, size_t size)
{
    const struct lessors *lessors = &pool->lessors;

    for (int32_t i = 0; i < lessors->count; i++) {
        const struct lessor *lessor = &lessors->lessor[i];
        const int32_t other = lessors->lessor[lessor->waits_for].member;

        if (lessor->state == HA_LESSOR_WAITING)
            (void)text_append(out, size,
                              "%spartition %d (%s) leases no windows: it waits "
                              "for %s",
                              out[0] == '\0' ? "" : "; ", (int)lessor->member,
                              worker_name(pool->workers[lessor->member]),
                              worker_name(pool->workers[other]));
    }
}

/* With the pool's lock held: whether a partition that may be asked has a window
 * ahead, or could get one. */
static bool has_windows(const struct ha_pool *pool)
{
    const struct lessors *lessors = &pool->lessors;

    if (lessors->count == 0 ||
        lessors_can_lease(lessors, lessors_away(lessors, &pool->pool)))
        return true;
    for (int32_t i = 0; i < pool->pool.partitions; i++) {
        if (pool_is_usable(&pool->pool, i) && pool->spares[i] > 0)
            return true;
    }
    return false;
}

/* With the pool's lock held: what is wrong. Those that are down before those
 * that refuse a counter, since `out` may be short. */
static void describe_pool(const struct ha_pool *pool, char *out, size_t size)
{
    const struct pool *members = &pool->pool;

    for (int32_t i = 0; i < pool->members; i++) {
        if (!pool_is_usable(members, i))
            describe_member(pool, i, out, size);
    }
    describe_lessors(pool, out, size);
    for (int32_t i = 0; i < members->partitions; i++) {
        if (pool_is_usable(members, i) && pool->refusals[i].count > 0)
            describe_refusals(pool, i, out, size);
    }
}

static enum seqb_health pool_health(struct ha_pool *pool, char *out,
                                    size_t size)
{
    bool may_serve;

    out[0] = '\0';
    pthread_mutex_lock(pool->lock);
    may_serve = pool_has_usable(&pool->pool, 0);
    if (may_serve && !has_windows(pool)) {
        may_serve = false;
        (void)text_copy(out, size,
                        "no neighbour can lease a window, and no "
                        "spare one is left");
    }
    describe_pool(pool, out, size);
    pthread_mutex_unlock(pool->lock);
    if (!may_serve)
        return SEQB_HEALTH_NOT_SERVING;
    return out[0] != '\0' ? SEQB_HEALTH_DEGRADED : SEQB_HEALTH_SERVING;
}

/* Backends' own words may have several lines. */
static void make_one_line(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ')
            *text = ' ';
    }
}

/* A pool that cannot serve is told before those that can, since `reason` may
 * be short. */
enum seqb_health ha_health(struct ha *ha, char *reason, size_t size)
{
    enum seqb_health worst = SEQB_HEALTH_SERVING;
    char words[SEQB_ERROR_TEXT_SIZE];
    char rest[SEQB_ERROR_TEXT_SIZE] = "";
    char first[SEQB_ERROR_TEXT_SIZE] = "";

    for (size_t i = 0; i < ha->options->pool_count; i++) {
        const enum seqb_health health =
            pool_health(&ha->pools[i], words, sizeof words);
        const bool is_first = health == SEQB_HEALTH_NOT_SERVING;
        char *to = is_first ? first : rest;

        if (health == SEQB_HEALTH_SERVING)
            continue;
        (void)text_append(to, sizeof first, "%spool %s%s: %s",
                          to[0] == '\0' ? "" : "; ",
                          ha->pools[i].options->layout.name,
                          is_first ? " cannot serve" : "", words);
        if (health > worst)
            worst = health;
    }
    if (reason == NULL || size == 0)
        return worst;
    (void)text_format(reason, size, "%s%s%s", first,
                      first[0] != '\0' && rest[0] != '\0' ? "; " : "", rest);
    make_one_line(reason);
    return worst;
}
