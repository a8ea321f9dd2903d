/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded clocks of two brokers over days of steps, deaths and restarts, by
 * seeds: their stamps never decrease, and are not led far ahead. */
#include <stdlib.h>

#include "guard_machine.h"
#include "support/test.h"

#define SEEDS   (6000 / SEQB_TEST_SCALE)
#define STEPS   300
#define BROKERS 2

static const int64_t step_sizes[] = {1,          SECOND, MINUTE, 3 * MINUTE,
                                     7 * MINUTE, HOUR,   DAY,    YEAR};
#define STEP_SIZES ((int64_t)(sizeof step_sizes / sizeof step_sizes[0]))
static const int64_t periods[] = {SECOND, MINUTE, HOUR, DAY};

/* What a machine's disk keeps over a restart, and what its callers had. */
struct life {
    struct machine machine;
    struct guard guard;
    int64_t period_ms;
    int64_t disk_ms;
    int64_t last_ms; /* the begin that was issued last */
    bool is_running;
    bool is_witnessed; /* since it runs */
    unsigned *seed;
};

static int64_t pick(struct life *life, int64_t n)
{
    return rand_r(life->seed) % n;
}

/* As guarded_clock_open does. */
static void life_start(struct life *life)
{
    const struct guard_reading now = reading_of(&life->machine);
    const struct guard_rules rules = {(enum guard_rollback)pick(life, 3),
                                      usual.max_rollback_ms,
                                      usual.max_ahead_ms};

    guard_init(&life->guard, &rules, life->disk_ms, now);
    life->is_witnessed = pick(life, 4) != 0;
    if (life->is_witnessed)
        guard_witness(&life->guard, life->machine.true_ms, now);
    life->is_running = guard_ahead(&life->guard, now) <= rules.max_ahead_ms &&
                       life->disk_ms - now.wall_ms <= rules.max_rollback_ms;
}

/* Keeps ahead: dies before the disk has it, or after, or lives on. */
static void life_keep(struct life *life, int64_t begin_ms)
{
    const int64_t disposition = pick(life, 20);

    life->is_running = disposition > 1;
    if (disposition == 0)
        return;
    if (begin_ms > life->disk_ms)
        life->disk_ms = begin_ms;
    if (life->is_running)
        guard_keep(&life->guard, begin_ms);
}

static void life_issue(struct life *life, int64_t time_ms)
{
    const int64_t begin_ms = time_ms - time_ms % life->period_ms;

    if (!guard_issue(&life->guard, begin_ms)) {
        life_keep(life, begin_ms);
        if (!life->is_running || !guard_issue(&life->guard, begin_ms))
            return;
    }
    if (begin_ms < life->last_ms)
        fail_msg("a stamp that began %lld ms before the last one",
                 (long long)(life->last_ms - begin_ms));
    assert_true(begin_ms <= life->disk_ms);
    life->last_ms = begin_ms;
}

/* While the stores were seen from the start, nothing leads far ahead of them;
 * what is held had been led there before. */
static void life_read(struct life *life)
{
    int64_t time_ms;
    const enum guard_verdict verdict =
        guard_read(&life->guard, reading_of(&life->machine), &time_ms);

    assert_true(time_ms >= life->guard.issued_ms);
    if (life->is_witnessed && verdict == GUARD_GO)
        assert_true(time_ms <= life->machine.true_ms + usual.max_ahead_ms);
    if (verdict == GUARD_HELD)
        assert_in_range(life->guard.behind_ms, 1, usual.max_rollback_ms);
    if (verdict == GUARD_GO || verdict == GUARD_HELD)
        life_issue(life, time_ms);
}

static void life_step(struct life *life)
{
    const int64_t size = step_sizes[pick(life, STEP_SIZES)];

    life->machine.true_ms += pick(life, 2) ? pick(life, 2 * SECOND)
                                           : pick(life, 2 * life->period_ms);
    if (pick(life, 10) == 0)
        life->machine.off_ms += pick(life, 2) ? size : -size;
    if (pick(life, 25) == 0)
        life->machine.off_ms = 0; /* somebody sets it */
    if (pick(life, 30) == 0)
        life->is_running = false;
    if (!life->is_running)
        life_start(life);
    else if (life->is_witnessed && pick(life, 3) == 0)
        guard_witness(&life->guard, life->machine.true_ms,
                      reading_of(&life->machine));
    if (life->is_running)
        life_read(life);
}

TEST(stamps_never_decrease_over_steps_and_restarts)
{
    int64_t issued = 0;

    for (unsigned i = 0; i < SEEDS; i++) {
        struct life lives[BROKERS] = {{.last_ms = 0}};
        unsigned seed = i;

        for (int j = 0; j < BROKERS; j++) {
            lives[j].machine = (struct machine){NOON, 3 * MINUTE * j};
            lives[j].period_ms = periods[(i + (unsigned)j) % 4];
            lives[j].seed = &seed;
        }
        for (int step = 0; step < STEPS; step++)
            life_step(&lives[step % BROKERS]);
        for (int j = 0; j < BROKERS; j++)
            issued += lives[j].last_ms > 0;
    }
    assert_true(issued > SEEDS * BROKERS / 2); /* so that something was tried */
}
