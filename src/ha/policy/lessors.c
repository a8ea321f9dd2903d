/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses lessors for leases and witnesses for notes, and decides when to look
 * at the lessors. */
#include "ha/policy/lessors.h"

#include <string.h>

#include "ha/policy/round_robin.h"
#include "platform/minmax.h"
#include "platform/text.h"

#define MINUTE_MS 60000

void lessors_init(struct lessors *lessors, const int32_t *members,
                  int32_t count, uint64_t seed, int64_t now_ms)
{
    *lessors = (struct lessors){.count = count,
                                .bits = layout_lessor_bits(count),
                                .poll_ms = INT64_MAX,
                                .rest_ms = LESSORS_FIRST_MS,
                                .random = seed | 1};
    for (int32_t i = 0; i < count; i++)
        lessors->lessor[i] = (struct lessor){
            .member = members[i], .since_ms = now_ms, .minute_ms = now_ms};
}

int32_t lessors_find(const struct lessors *lessors, int32_t member)
{
    for (int32_t i = 0; i < lessors->count; i++) {
        if (lessors->lessor[i].member == member)
            return i;
    }
    return -1;
}

/* A linear congruential generator (Knuth's MMIX constants) and a shift: enough
 * to keep brokers out of step. */
static int64_t jitter(struct lessors *lessors, int64_t below)
{
    lessors->random = lessors->random * UINT64_C(6364136223846793005) +
                      UINT64_C(1442695040888963407);
    return (int64_t)((lessors->random >> 33) % (uint64_t)below);
}

/* --- choosing --- */

uint64_t lessors_away(const struct lessors *lessors, const struct pool *pool)
{
    uint64_t away = 0;

    for (int32_t i = 0; i < lessors->count; i++) {
        if (!pool_is_usable(pool, lessors->lessor[i].member))
            away |= (uint64_t)1 << i;
    }
    return away;
}

static bool is_locked_out(const struct lessors_lock_out *locked_out, int32_t i)
{
    return ((locked_out->away | locked_out->tried) >> i & 1) != 0;
}

/* A lessor of which nothing is known may be asked, because its store compares
 * the term in any case. */
static bool may_lease(const struct lessor *lessor)
{
    return lessor->state == HA_LESSOR_LEVEL ||
           lessor->state == HA_LESSOR_UNKNOWN;
}

/* The first of `those` (bit i: lessor i), from `next` on, that is not far
 * slower than the quickest of them, or -1. */
static int32_t pick_quick(const struct lessors *lessors,
                          const struct lessors_lock_out *locked_out,
                          uint64_t those, int32_t next)
{
    int64_t least_us = INT64_MAX;

    for (int32_t i = 0; i < lessors->count; i++) {
        if ((those >> i & 1) != 0)
            least_us = min_of(least_us, locked_out->wait_us[i]);
    }
    for (int32_t n = 0; n < lessors->count; n++) {
        const int32_t i = (next + n) % lessors->count;

        if ((those >> i & 1) != 0 &&
            locked_out->wait_us[i] <= pool_patience_us(least_us))
            return i;
    }
    return -1;
}

/* The next lessor in turn that is in that state, or -1. */
static int32_t pick_in(const struct lessors *lessors,
                       const struct lessors_lock_out *locked_out,
                       enum ha_lessor_state state)
{
    uint64_t those = 0;

    for (int32_t i = 0; i < lessors->count; i++) {
        if (i != locked_out->own && !is_locked_out(locked_out, i) &&
            lessors->lessor[i].state == state)
            those |= (uint64_t)1 << i;
    }
    return pick_quick(lessors, locked_out, those,
                      locked_out->level >= 0 ? locked_out->level
                                             : lessors->next);
}

int32_t lessors_level(struct lessors *lessors, int32_t level, int32_t refusals)
{
    return refusals == 0 ? level : (int32_t)jitter(lessors, lessors->count);
}

/* The own lessor is as safe as others: if its store goes back, its cells go
 * back too, and the window is noted elsewhere in any case. But when that store
 * is down, partition and lessor are down together. */
int32_t lessors_pick(struct lessors *lessors,
                     const struct lessors_lock_out *locked_out)
{
    int32_t i = pick_in(lessors, locked_out, HA_LESSOR_LEVEL);

    if (i < 0)
        i = pick_in(lessors, locked_out, HA_LESSOR_UNKNOWN);
    if (i < 0 && locked_out->own >= 0 &&
        !is_locked_out(locked_out, locked_out->own) &&
        may_lease(&lessors->lessor[locked_out->own]))
        i = locked_out->own;
    if (i >= 0)
        lessors->next = (i + 1) % lessors->count;
    return i;
}

int32_t lessors_witness(const struct lessors *lessors, int32_t i,
                        const struct lessors_lock_out *locked_out)
{
    uint64_t those = 0;

    for (int32_t j = 0; j < lessors->count; j++) {
        if (j != i && !is_locked_out(locked_out, j))
            those |= (uint64_t)1 << j;
    }
    return pick_quick(lessors, locked_out, those, i + 1);
}

bool lessors_can_lease(const struct lessors *lessors, uint64_t away)
{
    const struct lessors_lock_out locked_out = {
        .away = away, .own = -1, .level = -1};

    for (int32_t i = 0; i < lessors->count; i++) {
        if (!is_locked_out(&locked_out, i) && may_lease(&lessors->lessor[i]) &&
            lessors_witness(lessors, i, &locked_out) >= 0)
            return true;
    }
    return false;
}

/* --- what was observed --- */

void lessors_connected(struct lessors *lessors, int32_t i,
                       const char *incarnation, int64_t now_ms)
{
    struct lessor *lessor = &lessors->lessor[i];

    if (strcmp(lessor->incarnation, incarnation) != 0) {
        (void)text_copy(lessor->incarnation, sizeof lessor->incarnation,
                        incarnation);
        lessor->nonce[0] = '\0';
        lessor->run++;
        (void)lessors_set(lessors, i, HA_LESSOR_UNKNOWN, now_ms);
    }
    lessors_want(lessors, now_ms);
}

bool lessors_set(struct lessors *lessors, int32_t i, enum ha_lessor_state state,
                 int64_t now_ms)
{
    struct lessor *lessor = &lessors->lessor[i];

    if (lessor->state == state)
        return false;
    lessor->state = state;
    lessor->since_ms = now_ms;
    return true;
}

void lessors_enter(struct lessors *lessors, int32_t i, const char *nonce)
{
    struct lessor *lessor = &lessors->lessor[i];

    (void)text_copy(lessor->nonce, sizeof lessor->nonce, nonce);
}

static void minute_roll(struct lessor *lessor, int64_t now_ms)
{
    const int64_t minutes = (now_ms - lessor->minute_ms) / MINUTE_MS;

    if (minutes < 1)
        return;
    lessor->leased_last = minutes == 1 ? lessor->leased : 0;
    lessor->leased = 0;
    lessor->minute_ms += minutes * MINUTE_MS;
}

void lessors_leased(struct lessors *lessors, int32_t i, int64_t now_ms)
{
    minute_roll(&lessors->lessor[i], now_ms);
    lessors->lessor[i].leased++;
}

int64_t lessors_rate(const struct lessor *lessor, int64_t now_ms)
{
    struct lessor now = *lessor;
    int64_t left_ms;

    minute_roll(&now, now_ms);
    left_ms = MINUTE_MS - (now_ms - now.minute_ms);
    return now.leased + now.leased_last * left_ms / MINUTE_MS;
}

/* --- when to look --- */

void lessors_want(struct lessors *lessors, int64_t now_ms)
{
    lessors->poll_ms = min_of(lessors->poll_ms, now_ms);
}

void lessors_doubt(struct lessors *lessors, int32_t i, bool is_level,
                   int64_t now_ms)
{
    if (!is_level)
        (void)lessors_set(lessors, i, HA_LESSOR_SYNCING, now_ms);
    lessors->lessor[i].is_doubted = true;
    lessors_want(lessors, now_ms);
}

bool lessors_take_doubt(struct lessors *lessors, int32_t i, int64_t now_ms)
{
    struct lessor *lessor = &lessors->lessor[i];

    if (!lessor->is_doubted ||
        (lessor->fresh_ms != 0 && now_ms - lessor->fresh_ms < LESSORS_FRESH_MS))
        return false;
    lessor->is_doubted = false;
    lessor->fresh_ms = now_ms;
    return true;
}

void lessors_poll(struct lessors *lessors)
{
    lessors->poll_ms = INT64_MAX;
}

void lessors_polled(struct lessors *lessors, bool all_well, int64_t now_ms)
{
    int64_t rest_ms;

    if (all_well) {
        lessors->rest_ms = LESSORS_FIRST_MS;
        return;
    }
    rest_ms = lessors->rest_ms / 2 + jitter(lessors, lessors->rest_ms);
    lessors->rest_ms = min_of(2 * lessors->rest_ms, LESSORS_LONGEST_MS);
    lessors->poll_ms = min_of(lessors->poll_ms, now_ms + rest_ms);
}
