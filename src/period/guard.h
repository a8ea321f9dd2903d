/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guarded clock says which time applies to stamps. Stamps never go back,
 * neither in this process nor over restarts, and a machine's wrong clock does
 * not lead them far ahead. Pure: the clocks' readings are passed in, and it
 * only says what has to be kept for the next start. guarded_clock.c of the
 * queue carries it out.
 *
 * It identifies stamps by when they begin. "Issued" is the latest begin of a
 * stamp of which numbers were or may have been issued. A clock that goes back,
 * but not to before that, does no harm.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum guard_rollback {
    GUARD_HOLD,  /* stay on the last stamp */
    GUARD_WAIT,  /* callers wait until their deadlines */
    GUARD_REFUSE /* callers fail at once */
};

struct guard_rules {
    enum guard_rollback on_rollback;
    int64_t max_rollback_ms; /* a larger step back is refused, whatever
                                on_rollback says */
    int64_t max_ahead_ms;    /* a wall clock farther ahead of the stores' clocks
                                is not believed */
};

/* Both clocks at one moment. */
struct guard_reading {
    int64_t wall_ms; /* CLOCK_REALTIME, ms since 1970 */
    int64_t boot_ms; /* CLOCK_BOOTTIME */
};

/* The rules are constant; the rest is state. All times in ms. */
struct guard {
    struct guard_rules rules;
    int64_t issued_ms;  /* the latest begin that was issued; never goes back */
    int64_t resumed_ms; /* issued_ms as the last run kept it */
    int64_t kept_ms;    /* the latest begin that is kept for the next start: no
                           later one may be issued; never below issued_ms */
    struct guard_reading anchor;  /* the last reading of the wall clock that was
                                     believed */
    bool is_witnessed;            /* a store with a clock of its own was seen */
    struct guard_reading witness; /* that store's wall clock, as it was last
                                     seen, with our boot clock at that moment */
    int64_t seen_ms;              /* the wall clock of the last reading */
    int64_t behind_ms;  /* how far the believed time was behind issued_ms at
                           that reading; 0: it was not */
    int64_t ahead_ms;   /* by how much the wall clock was not believed at that
                           reading; 0: it was believed */
    int64_t steps_back; /* how often the wall clock went back */
};

enum guard_verdict {
    GUARD_GO,     /* the time is `*time_ms` */
    GUARD_HELD,   /* the clock is behind: use the last stamp, of `*time_ms` */
    GUARD_WAITS,  /* the clock is behind: wait until it is not */
    GUARD_REFUSES /* the clock is farther behind than is allowed, or not set */
};

/* A stamp's begin is kept at most this long ahead. So a start may find its
 * clock behind the kept begin by that much, although the clock never went back:
 * then callers wait. */
#define GUARD_KEPT_AHEAD_MS 1000

/* An earlier clock was never set, since no broker runs in 1970. 2020-01-01. */
#define GUARD_SANE_MS INT64_C(1577836800000)

/* `issued_ms` is what the broker's last run kept; 0: there was none. */
void guard_init(struct guard *guard, const struct guard_rules *rules,
                int64_t issued_ms, struct guard_reading now);

/*
 * Which time applies to stamps; `*time_ms` is never below what was issued. If
 * the wall clock is ahead of the stores' clocks by more than max_ahead, it is
 * not believed: time advances with the boot clock until they agree. While no
 * store is seen, the last one's clock is advanced by the boot clock, too. As
 * long as no store was ever seen, the wall clock is believed.
 */
enum guard_verdict guard_read(struct guard *guard, struct guard_reading now,
                              int64_t *time_ms);

/*
 * Notes a store's wall clock at `now`; a clock that is not set is ignored. If
 * it is the first store and our clock is too far ahead of it, our clock was
 * never right: time continues from the store's clock.
 */
void guard_witness(struct guard *guard, int64_t store_ms,
                   struct guard_reading now);

/* How far the wall clock is ahead of the stores'; 0 if it is not, or no store
 * was seen. A start has to refuse more than max_ahead. */
int64_t guard_ahead(const struct guard *guard, struct guard_reading now);

/* Says whether numbers of the stamp that begins at `begin_ms` may be issued:
 * that begin has to be kept already. If so, it counts as issued. */
bool guard_issue(struct guard *guard, int64_t begin_ms);

/* Notes that `begin_ms` was written for the next start: no stamp that begins
 * later is issued before another call. */
void guard_keep(struct guard *guard, int64_t begin_ms);
