/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a pool's partitions. */
#include "ha/policy/pool.h"

#include <assert.h>
#include <string.h>

#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

const char *seqb_partition_state_name(enum seqb_partition_state state)
{
    static const char *const names[] = {
        [SEQB_PARTITION_STARTING] = "starting",
        [SEQB_PARTITION_UP] = "up",
        [SEQB_PARTITION_SUSPECT] = "suspect",
        [SEQB_PARTITION_QUARANTINED] = "quarantined",
        [SEQB_PARTITION_PROBING] = "probing",
        [SEQB_PARTITION_RAMPING] = "ramping",
        [SEQB_PARTITION_DRAINED] = "drained",
        [SEQB_PARTITION_REFUSED] = "refused",
        [SEQB_PARTITION_POISONED] = "poisoned",
    };

    return (size_t)state < sizeof names / sizeof names[0] ? names[state]
                                                          : "unknown";
}

void pool_init(struct pool *pool, const struct ha_pool_options *options,
               int32_t members, uint64_t seed, int64_t now_ms)
{
    *pool = (struct pool){.options = options,
                          .partitions = 1 << options->layout.bits,
                          .members = members,
                          .random = seed | 1};
    for (int32_t i = 0; i < members; i++)
        pool->member[i] = (struct pool_member){
            .state = SEQB_PARTITION_STARTING,
            .since_ms = now_ms,
            .well_since_ms = now_ms,
            .evaluated_ms = POOL_NO_CALL,
        };
}

void pool_connected(struct pool *pool, int32_t i,
                    const struct seqb_backend *backend)
{
    struct pool_member *member = &pool->member[i];

    (void)text_copy(member->server, sizeof member->server, backend->server);
    (void)text_copy(member->domain, sizeof member->domain, backend->domain);
    (void)text_copy(member->loss, sizeof member->loss, backend->loss);
    (void)text_copy(member->origin, sizeof member->origin, backend->origin);
}

static bool is_locked_out(enum seqb_partition_state state)
{
    return state == SEQB_PARTITION_REFUSED || state == SEQB_PARTITION_POISONED;
}

/* --- changes --- */

static struct pool_change no_change(const struct pool_member *member)
{
    return (struct pool_change){.from = member->state, .to = member->state};
}

static struct pool_change member_enter(struct pool_member *member,
                                       enum seqb_partition_state state,
                                       int64_t now_ms)
{
    const struct pool_change change = {.from = member->state, .to = state};

    if (pool_state_is_usable(state) && !pool_state_is_usable(member->state))
        member->well_since_ms = now_ms;
    if (state != member->state)
        member->since_ms = now_ms;
    member->state = state;
    member->is_ordered = false;
    return change;
}

/* xorshift64 */
static uint64_t pool_random(struct pool *pool)
{
    pool->random ^= pool->random << 13;
    pool->random ^= pool->random >> 7;
    pool->random ^= pool->random << 17;
    return pool->random;
}

/* The rest grows with each probe that fails, and with each relapse: a member
 * that was up only for a short while has not recovered. */
static int64_t rest_of(const struct pool *pool,
                       const struct pool_member *member, int64_t now_ms)
{
    const int64_t longest = pool->options->rescue_after_ms;
    const bool is_relapse =
        pool_state_is_usable(member->state) && member->rest_ms > 0 &&
        now_ms - member->well_since_ms < POOL_CALM_MS + member->rest_ms;

    if (pool->options->rescue == HA_RESCUE_FIXED)
        return longest;
    /* A forced probe that fails only shows that the store is still down. */
    if (member->state == SEQB_PARTITION_PROBING && member->is_forced)
        return member->rest_ms;
    if (is_relapse || member->state == SEQB_PARTITION_PROBING)
        return min_of(member->rest_ms * 2, longest);
    return min_of(POOL_FIRST_PROBE_MS, longest);
}

/* Up to a fifth shorter, so that brokers do not probe in step. */
static int64_t jittered(struct pool *pool, int64_t rest_ms)
{
    if (pool->options->rescue == HA_RESCUE_FIXED ||
        rest_ms <= POOL_FIRST_PROBE_MS)
        return rest_ms;
    return rest_ms - (int64_t)(pool_random(pool) % (uint64_t)(rest_ms / 5 + 1));
}

static struct pool_change member_quarantine(struct pool *pool, int32_t i,
                                            const char *reason, int64_t now_ms)
{
    struct pool_member *member = &pool->member[i];
    const bool was_resting = member->state == SEQB_PARTITION_PROBING;
    const bool was_ordered = member->is_ordered;
    const int64_t since_ms = member->since_ms;
    struct pool_change change;

    member->rest_ms = rest_of(pool, member, now_ms);
    member->next_probe_ms = now_ms + jittered(pool, member->rest_ms);
    member->is_forced = false;
    member->successes = 0;
    member->ejections += pool_state_is_usable(member->state);
    (void)text_copy(member->reason, sizeof member->reason, reason);
    change = member_enter(member, SEQB_PARTITION_QUARANTINED, now_ms);
    if (!was_resting)
        return change;
    /* A failed probe prolongs the quarantine, it does not begin another. But
     * the first failure after an order was not caused by the order. */
    member->since_ms = since_ms;
    change.from = member->state;
    change.is_for_another_reason = was_ordered;
    return change;
}

static struct pool_change member_lock_out(struct pool_member *member,
                                          const struct seqb_error *why,
                                          int64_t now_ms)
{
    (void)text_copy(member->reason, sizeof member->reason, why->text);
    return member_enter(member,
                        why->status == SEQB_POISONED ? SEQB_PARTITION_POISONED
                                                     : SEQB_PARTITION_REFUSED,
                        now_ms);
}

/* --- slowness --- */

static int64_t timeouts_in(const struct pool *pool, int64_t elapsed_us)
{
    return elapsed_us / ((int64_t)pool->options->timeout_ms * 1000);
}

/* Slowness never takes out the last usable partition, nor the authority: slow
 * numbers are better than none. */
static bool is_last_usable(const struct pool *pool, int32_t i)
{
    return i >= pool->partitions || !pool_has_usable(pool, (uint64_t)1 << i);
}

/* When the last but `before` time-out was passed; 0: there were fewer. */
static int64_t slow_at(const struct pool_member *member, int32_t before)
{
    return member
        ->slow_at_ms[(member->slow_next + POOL_SLOW_COUNT_MAX - 1 - before) %
                     POOL_SLOW_COUNT_MAX];
}

/* Whether slow_count time-outs were passed within the span. */
static bool is_slow_within(const struct pool *pool,
                           const struct pool_member *member, int64_t span_ms,
                           int64_t now_ms)
{
    const int64_t oldest = slow_at(member, pool->options->slow_count - 1);

    return oldest > 0 && now_ms - oldest <= span_ms;
}

/* Records one passed time-out. True if it was one too many within the window.
 */
static bool slow_note(const struct pool *pool, struct pool_member *member,
                      int64_t now_ms)
{
    member->slow++;
    member->slow_at_ms[member->slow_next] = now_ms;
    member->slow_next = (member->slow_next + 1) % POOL_SLOW_COUNT_MAX;
    return is_slow_within(pool, member, pool->options->slow_window_ms, now_ms);
}

/* `times` time-outs were passed, and nothing was answered. It is asked again
 * soon, by the broker itself if nobody else does. If that hangs, too, the rest
 * that was set when it began is not shortened. */
static void member_unanswered(struct pool_member *member, int64_t times,
                              int64_t now_ms)
{
    const int64_t soon_ms = now_ms + POOL_FORCE_REST_MS;

    member->is_silent = true;
    member->next_look_ms = member->unanswered == 0
                               ? soon_ms
                               : max_of(member->next_look_ms, soon_ms);
    member->unanswered =
        (int32_t)min_of(member->unanswered + times, POOL_SLOW_COUNT_MAX);
}

static void unanswered_forget(struct pool_member *member)
{
    member->unanswered = 0;
    member->is_stuck = false;
}

/* Where no reservation can be tried, as with an authority, time has to do. But
 * the member's own reservations may be farther apart than the window is long.
 */
static void unanswered_evaluate(const struct pool *pool,
                                struct pool_member *member, int64_t now_ms,
                                int64_t *next_ms)
{
    const int64_t until_ms = slow_at(member, 0) + 1 +
                             max_of(pool->options->slow_window_ms,
                                    INT64_C(2) * POOL_UNANSWERED_REST_MS);

    if (member->unanswered == 0)
        return;
    if (now_ms >= until_ms)
        unanswered_forget(member);
    else
        *next_ms = min_of(*next_ms, until_ms);
}

/* Whether so many time-outs were passed without an answer. If nobody else asks
 * it, a window may be too short for so many of the member's own reservations,
 * with a time-out and a rest each: it counts as twice what these take. */
static bool is_stuck_now(const struct pool *pool,
                         const struct pool_member *member, int64_t now_ms)
{
    const int32_t most = pool->options->slow_count;
    const int64_t own_ms =
        INT64_C(2) * most * (pool->options->timeout_ms + POOL_FORCE_REST_MS);
    const int64_t span_ms = max_of(pool->options->slow_window_ms, own_ms);

    return member->unanswered >= most &&
           is_slow_within(pool, member, span_ms, now_ms);
}

static struct pool_change member_suspect(struct pool *pool, int32_t i,
                                         const char *reason, int64_t now_ms)
{
    struct pool_member *member = &pool->member[i];

    (void)text_copy(member->reason, sizeof member->reason, reason);
    if (member->state == SEQB_PARTITION_RAMPING)
        return no_change(member);
    return member_enter(member, SEQB_PARTITION_SUSPECT, now_ms);
}

/* `times` more time-outs were passed, by a call that has taken `elapsed_us`. */
static struct pool_change member_slowed(struct pool *pool, int32_t i,
                                        int64_t times, int64_t elapsed_us,
                                        int64_t now_ms)
{
    struct pool_member *member = &pool->member[i];
    bool is_too_slow = false;
    char reason[128];

    times = min_of(times, pool->options->slow_count);
    for (; times > 0; times--)
        is_too_slow |= slow_note(pool, member, now_ms);
    member->is_stuck |= is_stuck_now(pool, member, now_ms);
    (void)text_format(
        reason, sizeof reason,
        "slow: %s%d time-outs of %d ms, the last call took %lld "
        "ms",
        is_too_slow ? "" : "less than ", (int)pool->options->slow_count,
        (int)pool->options->timeout_ms, (long long)(elapsed_us / 1000));
    if (is_too_slow && !is_last_usable(pool, i))
        return member_quarantine(pool, i, reason, now_ms);
    return member_suspect(pool, i, reason, now_ms);
}

/* The time-outs of a call that ended, less those counted while it hung. */
static int64_t timeouts_left(const struct pool *pool,
                             struct pool_member *member, int64_t elapsed_us)
{
    const int64_t all = timeouts_in(pool, elapsed_us);
    const int64_t evaluated =
        member->evaluated_ms != POOL_NO_CALL ? member->evaluated : 0;

    member->evaluated_ms = POOL_NO_CALL;
    return max_of(all - evaluated, 0);
}

/* --- outcomes --- */

static void member_average(struct pool_member *member, int64_t elapsed_us)
{
    elapsed_us = max_of(elapsed_us, 1);
    member->latency_us = member->latency_us == 0
                             ? elapsed_us
                             : (member->latency_us * 7 + elapsed_us) / 8;
}

/* A probe succeeded. If no other partition is usable, one success is enough. */
static struct pool_change member_rise(struct pool *pool, int32_t i,
                                      int64_t now_ms)
{
    struct pool_member *member = &pool->member[i];
    const bool is_needed = is_last_usable(pool, i);

    member->successes++;
    member->is_forced = false;
    if (member->successes < POOL_PROBES_TO_RISE && !is_needed &&
        pool->options->rescue != HA_RESCUE_FIXED) {
        member->state = SEQB_PARTITION_QUARANTINED;
        member->next_probe_ms = now_ms + POOL_NEXT_PROBE_MS;
        return no_change(member);
    }
    member->reason[0] = '\0';
    memset(member->slow_at_ms, 0, sizeof member->slow_at_ms);
    member->credit = 0;
    return member_enter(
        member, is_needed ? SEQB_PARTITION_UP : SEQB_PARTITION_RAMPING, now_ms);
}

struct pool_change pool_succeeded(struct pool *pool, int32_t i,
                                  int64_t elapsed_us, int64_t now_ms)
{
    struct pool_member *member = &pool->member[i];
    int64_t slow;

    assert(i < pool->members);
    member->is_silent = false;
    unanswered_forget(member);
    slow = timeouts_left(pool, member, elapsed_us);
    if (member->state == SEQB_PARTITION_STARTING) {
        member_average(member, elapsed_us);
        return member_enter(member, SEQB_PARTITION_UP, now_ms);
    }
    if (member->state == SEQB_PARTITION_PROBING) {
        member_average(member, elapsed_us);
        return member_rise(pool, i, now_ms);
    }
    /* A late answer of a quarantined member proves nothing: a probe has to. */
    if (!pool_state_is_usable(member->state))
        return no_change(member);
    member_average(member, elapsed_us);
    if (slow > 0)
        return member_slowed(pool, i, slow, elapsed_us, now_ms);
    return no_change(member);
}

struct pool_change pool_looked(struct pool *pool, int32_t i, int64_t elapsed_us,
                               int64_t now_ms)
{
    struct pool_member *member = &pool->member[i];
    const int64_t slow = timeouts_left(pool, member, elapsed_us);

    member->is_silent = false;
    if (slow == 0 || !pool_state_is_usable(member->state))
        return no_change(member);
    return member_slowed(pool, i, slow, elapsed_us, now_ms);
}

struct pool_change pool_failed(struct pool *pool, int32_t i,
                               const struct seqb_error *why, int64_t elapsed_us,
                               int64_t now_ms)
{
    struct pool_member *member = &pool->member[i];
    const enum blame blame = status_blame(why->status);
    const bool is_blamed = blame == BLAME_BACKEND || blame == BLAME_LAYOUT;
    const bool was_usable = pool_state_is_usable(member->state);
    int64_t slow;

    assert(i < pool->members);
    slow = timeouts_left(pool, member, elapsed_us);
    if (slow > 0)
        member_unanswered(member, slow, now_ms);
    if (is_locked_out(member->state))
        return no_change(member);
    /* A probe that failed for any reason has rescued nothing. */
    if (was_usable && !is_blamed)
        return no_change(member);
    member->errors += is_blamed;
    if (blame == BLAME_LAYOUT)
        return member_lock_out(member, why, now_ms);
    /* Already quarantined or drained: only a failed probe prolongs the rest. */
    if (member->state == SEQB_PARTITION_QUARANTINED ||
        member->state == SEQB_PARTITION_DRAINED)
        return no_change(member);
    if (why->status == SEQB_UNCERTAIN && was_usable &&
        timeouts_in(pool, elapsed_us) > 0)
        return slow > 0 ? member_slowed(pool, i, slow, elapsed_us, now_ms)
                        : no_change(member);
    return member_quarantine(pool, i, why->text, now_ms);
}

/* --- time --- */

/* Counts the time-outs that a call under way has passed since the last count.
 */
static struct pool_change member_hangs(struct pool *pool, int32_t i,
                                       int64_t call_ms, int64_t now_ms,
                                       int64_t *next_ms)
{
    struct pool_member *member = &pool->member[i];
    const int64_t elapsed_us = (now_ms - call_ms) * 1000;
    const int64_t passed = timeouts_in(pool, elapsed_us);
    int64_t more;

    if (member->evaluated_ms != call_ms) {
        member->evaluated_ms = call_ms;
        member->evaluated = 0;
    }
    more = passed - member->evaluated;
    *next_ms =
        min_of(*next_ms, call_ms + (passed + 1) * pool->options->timeout_ms);
    if (more <= 0)
        return no_change(member);
    member->evaluated = (int32_t)min_of(passed, INT32_MAX);
    member_unanswered(member, more, now_ms);
    return member_slowed(pool, i, more, elapsed_us, now_ms);
}

struct pool_change pool_evaluate(struct pool *pool, int32_t i, int64_t call_ms,
                                 int64_t now_ms, int64_t *next_ms)
{
    struct pool_member *member = &pool->member[i];
    struct pool_change change = no_change(member);
    int64_t until_ms;

    *next_ms = INT64_MAX;
    if (!pool_state_is_usable(member->state))
        return change;
    if (call_ms >= 0)
        change = member_hangs(pool, i, call_ms, now_ms, next_ms);
    if (change.from != change.to)
        return change;
    unanswered_evaluate(pool, member, now_ms, next_ms);
    if (member->state == SEQB_PARTITION_RAMPING)
        until_ms = member->since_ms + POOL_RAMP_MS;
    else if (member->state == SEQB_PARTITION_SUSPECT)
        until_ms = slow_at(member, 0) + pool->options->slow_window_ms + 1;
    else
        return change;
    if (now_ms >= until_ms) {
        member->reason[0] = '\0';
        return member_enter(member, SEQB_PARTITION_UP, now_ms);
    }
    *next_ms = min_of(*next_ms, until_ms);
    return change;
}

/* --- all --- */

bool pool_has_usable(const struct pool *pool, uint64_t skip)
{
    for (int32_t i = 0; i < pool->partitions; i++) {
        if (pool_may_pick(pool, skip, i))
            return true;
    }
    return false;
}
