/* SPDX-License-Identifier: Apache-2.0 */
/* Which times a snowflake may give, by a table, and by leaps of the clock. */
#include <stdbool.h>

#include "period/flake_time.h"
#include "support/test.h"

/* A ms has 4 values, and the bits end at 9000. */
#define ABOVE 900
#define UPTO  2000
#define UNTIL 500
#define LEASE ABOVE, UPTO, UNTIL

static const struct flake_rules rules = {
    .first_ms = 100, .end_ms = 9000, .ms_values = 4};

struct step {
    struct flake_lease lease;
    struct flake_last last;
    struct flake_now now;
    int64_t want;
    enum flake_verdict verdict;
    struct flake_block block; /* of FLAKE_GIVE; else only its time counts */
};

static const struct step steps[] = {
    /* the first values are of the present */
    {{LEASE}, {0, 0, 0}, {1500, 10}, 3, FLAKE_GIVE, {1500, 0, 3}},
    /* but not of what another holder may have used */
    {{LEASE}, {0, 0, 0}, {890, 10}, 3, FLAKE_GIVE, {901, 0, 3}},
    /* no more than a ms has */
    {{LEASE}, {0, 0, 0}, {1500, 10}, 100, FLAKE_GIVE, {1500, 0, 4}},
    /* what is left of the present ms is given */
    {{LEASE}, {1500, 3, 5}, {1500, 10}, 3, FLAKE_GIVE, {1500, 3, 1}},
    /* but not of one that is over */
    {{LEASE}, {1499, 3, 5}, {1500, 10}, 3, FLAKE_GIVE, {1500, 0, 3}},
    /* after a full ms comes the next one */
    {{LEASE}, {1499, 4, 5}, {1500, 10}, 2, FLAKE_GIVE, {1500, 0, 2}},
    /* none is given before it has come */
    {{LEASE}, {1500, 4, 5}, {1500, 10}, 2, FLAKE_AGAIN, {1501, 0, 0}},
    /* nor the first one that another holder left */
    {{1500, UPTO, UNTIL}, {0, 0, 0}, {1500, 10}, 2, FLAKE_AGAIN, {1501, 0, 0}},
    /* a clock that went back: the last ms is used up */
    {{LEASE}, {1500, 2, 5}, {1000, 10}, 9, FLAKE_GIVE, {1500, 2, 2}},
    /* then the next one, once a ms has passed */
    {{LEASE}, {1500, 4, 9}, {1000, 10}, 9, FLAKE_GIVE, {1501, 0, 4}},
    /* not before */
    {{LEASE}, {1500, 4, 10}, {1000, 10}, 9, FLAKE_AGAIN, {1501, 0, 0}},
    /* and as far as the lease goes */
    {{LEASE}, {UPTO - 1, 4, 5}, {1000, 10}, 9, FLAKE_GIVE, {UPTO, 0, 4}},
    /* no farther */
    {{LEASE}, {UPTO, 4, 5}, {1000, 10}, 9, FLAKE_BEHIND, {UPTO + 1, 0, 0}},
    /* a holder before whose clock was ahead */
    {{1900, UPTO, UNTIL}, {0, 0, 0}, {1000, 10}, 9, FLAKE_GIVE, {1901, 0, 4}},
    /* and far ahead */
    {{UPTO, UPTO, UNTIL},
     {0, 0, 0},
     {1000, 10},
     9,
     FLAKE_BEHIND,
     {UPTO + 1, 0, 0}},
    /* a clock that leapt past the lease's times waits for its renewal */
    {{LEASE}, {1500, 4, 5}, {UPTO + 1, 10}, 9, FLAKE_AGAIN, {UPTO + 1, 0, 0}},
    /* what is just within them is given */
    {{LEASE}, {1500, 4, 5}, {UPTO, 10}, 9, FLAKE_GIVE, {UPTO, 0, 4}},
    /* the last ms that fits */
    {{ABOVE, 10000, UNTIL},
     {8998, 4, 5},
     {8999, 10},
     9,
     FLAKE_GIVE,
     {8999, 0, 4}},
    /* no later one does */
    {{ABOVE, 10000, UNTIL},
     {8999, 4, 5},
     {9010, 10},
     9,
     FLAKE_OVER,
     {9010, 0, 0}},
    /* a clock before the epoch */
    {{0, 80, UNTIL}, {0, 0, 0}, {20, 10}, 9, FLAKE_BEHIND, {100, 0, 0}},
    /* the last ms of a lease */
    {{LEASE}, {1490, 2, 5}, {1500, UNTIL - 1}, 9, FLAKE_GIVE, {1500, 0, 4}},
    /* and the first one after it */
    {{LEASE}, {1490, 2, 5}, {1500, UNTIL}, 9, FLAKE_FENCED, {1500, 0, 0}},
    /* no lease at all */
    {{0, 0, 0}, {0, 0, 0}, {1500, 10}, 9, FLAKE_FENCED, {1500, 0, 0}},
};

TEST(every_step_in_time_goes_by_the_rules)
{
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        const struct step *step = &steps[i];
        struct flake_last last = step->last;
        struct flake_block block = {-1, -1, -1};
        const enum flake_verdict verdict = flake_next(
            &rules, &step->lease, step->now, step->want, &last, &block);
        const bool is_well =
            verdict == step->verdict && block.time_ms == step->block.time_ms &&
            (verdict != FLAKE_GIVE || (block.counter == step->block.counter &&
                                       block.count == step->block.count));

        if (!is_well)
            fail_msg("steps[%zu]: verdict %d, time %lld, counter %lld + %lld",
                     i, (int)verdict, (long long)block.time_ms,
                     (long long)block.counter, (long long)block.count);
        if (verdict != FLAKE_GIVE)
            assert_memory_equal(&last, &step->last, sizeof last);
    }
}

static uint64_t random_below(uint64_t *random, uint64_t below)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random % below;
}

/* Whatever the clock does, from a ms to a year: what is given rises, and is
 * within the lease. */
TEST(leaps_of_the_clock_never_repeat_a_value)
{
    static const int64_t leaps[] = {1,     -1,     7,         -7,
                                    60000, -60000, 3600000,   -3600000,
                                    -500,  500,    -31536000, 31536000};
    uint64_t random = 20261121;
    struct flake_lease lease = {0, 100000, INT64_MAX};
    struct flake_rules wide = {1, INT64_MAX / 2, 4};
    struct flake_last last = {0, 0, 0};
    struct flake_now now = {INT64_C(1000000000), 0};
    int64_t before = -1;
    int64_t given = 0;

    for (int i = 0; i < 200000; i++) {
        struct flake_block block;

        now.boot_ms += (int64_t)random_below(&random, 3);
        now.wall_ms += (int64_t)random_below(&random, 3);
        if (random_below(&random, 1000) == 0)
            now.wall_ms += leaps[random_below(&random, COUNT_OF(leaps))];
        if (i % 100 == 0 && now.wall_ms + 1000 > lease.upto)
            lease.upto = now.wall_ms + 1000; /* it is renewed */
        if (flake_next(&wide, &lease, now,
                       1 + (int64_t)random_below(&random, 5), &last,
                       &block) != FLAKE_GIVE)
            continue;
        assert_true(block.time_ms * 4 + block.counter > before);
        assert_true(block.time_ms > lease.above && block.time_ms <= lease.upto);
        assert_true(block.count >= 1 && block.counter + block.count <= 4);
        before = block.time_ms * 4 + block.counter + block.count - 1;
        given += block.count;
    }
    assert_true(given > 10000);
}
