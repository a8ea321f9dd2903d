/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two decisions, one after the other: how much of the wall clock is believed,
 * by the boot clock and the stores' clocks; and whether the believed time is
 * behind what was issued.
 */
#include "period/guard.h"

void guard_init(struct guard *guard, const struct guard_rules *rules,
                int64_t issued_ms, struct guard_reading now)
{
    *guard = (struct guard){
        .rules = *rules,
        .issued_ms = issued_ms,
        .kept_ms = issued_ms,
        .anchor = now,
        .seen_ms = now.wall_ms,
        .resumed_ms = issued_ms,
    };
}

/* The wall clock of an earlier reading, advanced by the boot clock. */
static int64_t goes_on(struct guard_reading since, int64_t boot_ms)
{
    return since.wall_ms + (boot_ms - since.boot_ms);
}

int64_t guard_ahead(const struct guard *guard, struct guard_reading now)
{
    const int64_t store_ms = goes_on(guard->witness, now.boot_ms);

    return guard->is_witnessed && now.wall_ms > store_ms
               ? now.wall_ms - store_ms
               : 0;
}

/* It compares with the stores' clocks, and not only with the last reading,
 * because many small jumps lead as far as a large one. */
static int64_t believe(struct guard *guard, struct guard_reading now)
{
    const int64_t store_ms = goes_on(guard->witness, now.boot_ms);
    int64_t expected_ms = goes_on(guard->anchor, now.boot_ms);

    guard->ahead_ms = 0;
    if (guard_ahead(guard, now) > guard->rules.max_ahead_ms &&
        now.wall_ms > expected_ms) {
        /* The last reading may be of a clock that was behind. */
        if (store_ms > expected_ms)
            expected_ms = store_ms;
        guard->ahead_ms = now.wall_ms - expected_ms;
        return expected_ms;
    }
    guard->anchor = now;
    return now.wall_ms;
}

static enum guard_verdict evaluate(const struct guard *guard)
{
    if (guard->behind_ms == 0)
        return GUARD_GO;
    if (guard->behind_ms > guard->rules.max_rollback_ms)
        return GUARD_REFUSES;
    /* The clock did not go back: the last run kept the begin ahead of its
     * clock. */
    if (guard->rules.on_rollback == GUARD_REFUSE &&
        guard->issued_ms == guard->resumed_ms &&
        guard->behind_ms <= GUARD_KEPT_AHEAD_MS)
        return GUARD_WAITS;
    switch (guard->rules.on_rollback) {
    case GUARD_HOLD:
        return GUARD_HELD;
    case GUARD_WAIT:
        return GUARD_WAITS;
    case GUARD_REFUSE:
        break;
    }
    return GUARD_REFUSES;
}

enum guard_verdict guard_read(struct guard *guard, struct guard_reading now,
                              int64_t *time_ms)
{
    const bool is_set = now.wall_ms >= GUARD_SANE_MS;
    /* A clock that is not set gives no information, so it does not become the
     * anchor. */
    const int64_t believed_ms = is_set ? believe(guard, now) : now.wall_ms;

    if (!is_set)
        guard->ahead_ms = 0;
    guard->steps_back += now.wall_ms < guard->seen_ms;
    guard->seen_ms = now.wall_ms;
    guard->behind_ms =
        guard->issued_ms > believed_ms ? guard->issued_ms - believed_ms : 0;
    *time_ms = believed_ms + guard->behind_ms;
    return is_set ? evaluate(guard) : GUARD_REFUSES;
}

void guard_witness(struct guard *guard, int64_t store_ms,
                   struct guard_reading now)
{
    const bool is_first = !guard->is_witnessed;

    if (store_ms < GUARD_SANE_MS)
        return;
    guard->is_witnessed = true;
    guard->witness = (struct guard_reading){store_ms, now.boot_ms};
    if (is_first && guard_ahead(guard, now) > guard->rules.max_ahead_ms)
        guard->anchor = guard->witness;
}

bool guard_issue(struct guard *guard, int64_t begin_ms)
{
    if (begin_ms > guard->kept_ms)
        return false;
    if (begin_ms > guard->issued_ms)
        guard->issued_ms = begin_ms;
    return true;
}

void guard_keep(struct guard *guard, int64_t begin_ms)
{
    if (begin_ms > guard->kept_ms)
        guard->kept_ms = begin_ms;
}
