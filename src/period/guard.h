/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guarded clock: what time it is for stamps, so that they never go back,
 * in this process nor over restarts, and are not led far ahead by a machine's
 * wrong clock. Pure: the clocks' readings are passed in, and what has to be
 * kept for the next start is said; guarded_clock.c of the queue carries it out.
 *
 * It knows stamps by when they begin. "Issued" is the latest begin of which
 * numbers were or may have been given; a clock that goes back without passing
 * that has gone back for nobody.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum guard_rollback {
    GUARD_HOLD,  /* stay on the last stamp */
    GUARD_WAIT,  /* callers wait, up to their deadlines */
    GUARD_REFUSE /* callers are told at once */
};

struct guard_rules {
    enum guard_rollback on_rollback;
    int64_t max_rollback_ms; /* farther back is refused, whatever on_rollback */
    int64_t max_ahead_ms;    /* farther ahead of the stores' is not believed */
};

/* What the clocks say at one moment. */
struct guard_reading {
    int64_t wall_ms; /* CLOCK_REALTIME, ms since 1970 */
    int64_t boot_ms; /* CLOCK_BOOTTIME */
};

/* Constant rules, and what is remembered. All times in ms. */
struct guard {
    struct guard_rules rules;
    int64_t issued_ms;  /* the latest begin that was issued; never goes back */
    int64_t resumed_ms; /* issued, as it was kept by the last run */
    int64_t kept_ms; /* the latest begin that is kept for the next start: none
                        later may be issued; never below issued_ms */
    struct guard_reading anchor;  /* the last wall clock that was believed */
    bool is_witnessed;            /* some store has a clock of its own */
    struct guard_reading witness; /* such a store's wall clock, seen last at
                                     that time of our boot clock */
    int64_t seen_ms;              /* the wall clock of the last reading */
    int64_t behind_ms;  /* of what was believed then; 0: it was not behind */
    int64_t ahead_ms;   /* that was not believed then; 0 */
    int64_t steps_back; /* times that the wall clock was seen to go back */
};

enum guard_verdict {
    GUARD_GO,     /* `*time_ms` it is */
    GUARD_HELD,   /* the clock is behind: `*time_ms` is the last stamp's */
    GUARD_WAITS,  /* the clock is behind: wait until it is not */
    GUARD_REFUSES /* the clock is farther behind than is allowed, or not set */
};

/* A stamp is kept so long before its begin at most, so that a start may find
 * its clock behind by that though it never went back: then it is waited for. */
#define GUARD_KEPT_AHEAD_MS 1000

/* A clock before that was never set: no broker runs in 1970. 2020-01-01. */
#define GUARD_SANE_MS INT64_C(1577836800000)

/* `issued_ms` as it was kept by the broker's last run; 0: there was none. */
void guard_init(struct guard *guard, const struct guard_rules *rules,
                int64_t issued_ms, struct guard_reading now);

/*
 * What time it is for stamps; `*time_ms` is never below what was issued. A
 * wall clock that is ahead of the stores' by more than max_ahead is not
 * believed: time goes on by the boot clock, until they agree. A store that is
 * not seen any more goes on by the boot clock, too. As long as no store was
 * ever seen, the wall clock is believed.
 */
enum guard_verdict guard_read(struct guard *guard, struct guard_reading now,
                              int64_t *time_ms);

/*
 * A store's wall clock as it was at `now`; one that is not set is none. If it
 * is the first one, and ours is too far ahead of it, then ours was never to be
 * believed, and time goes on by the store's.
 */
void guard_witness(struct guard *guard, int64_t store_ms,
                   struct guard_reading now);

/* How far the wall clock is ahead of the stores'; 0 if it is not, or none was
 * seen. More than max_ahead is for a start to refuse. */
int64_t guard_ahead(const struct guard *guard, struct guard_reading now);

/* Whether numbers of a stamp that begins then may be given: it is kept. If so
 * it counts as issued. */
bool guard_issue(struct guard *guard, int64_t begin_ms);

/* What was written for the next start: no stamp that begins later is issued. */
void guard_keep(struct guard *guard, int64_t begin_ms);
