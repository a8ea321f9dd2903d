/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pool does over time: a partition that is back takes more and more of
 * its turns, one that flaps is left alone for longer and longer, and whatever
 * happens in whatever order, each change is told once.
 */
#include "pool_fixture.h"
#include "support/test.h"

#define UP          SEQB_PARTITION_UP
#define QUARANTINED SEQB_PARTITION_QUARANTINED
#define PROBING     SEQB_PARTITION_PROBING
#define RAMPING     SEQB_PARTITION_RAMPING

/* xorshift64 */
static uint64_t next_random(uint64_t *random, uint64_t below)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random % below;
}

/* --- the ramp --- */

/* Of 1000 turns of the others, those of member 1 `past_ms` into its ramp. */
static int32_t share_at(struct fixture *fixture, int64_t past_ms)
{
    const int64_t now_ms = fixture->pool.member[1].since_ms + past_ms;
    int32_t picks[4] = {0};

    while (picks[0] < 1000)
        picks[pool_pick(&fixture->pool, 0, false, now_ms)]++;
    return picks[1];
}

TEST(its_share_grows_until_it_is_the_whole)
{
    static const struct {
        int64_t past_ms;
        int32_t least; /* of 1000 turns */
        int32_t most;
    } cases[] = {{0, 124, 126},
                 {POOL_RAMP_MS / 4, 342, 345},
                 {POOL_RAMP_MS / 2, 561, 564},
                 {POOL_RAMP_MS * 3 / 4, 780, 782},
                 {POOL_RAMP_MS - 1, 990, 1000},
                 {POOL_RAMP_MS, 999, 1001},
                 {(int64_t)10 * POOL_RAMP_MS, 999, 1001}};
    int32_t before = 0;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture;
        int32_t share;

        fixture_bring(&fixture, RAMPING);
        share = share_at(&fixture, cases[i].past_ms);
        assert_in_range(share, cases[i].least, cases[i].most);
        assert_true(share >= before);
        before = share;
    }
}

TEST_WITH(RAMPING_POOL, what_it_passes_on_goes_to_the_others_alike)
{
    int32_t picks[4] = {0};

    for (int32_t i = 0; i < 4000; i++)
        picks[pool_pick(&fixture->pool, 0, false,
                        fixture->pool.member[1].since_ms)]++;
    assert_int_equal(picks[0] + picks[1] + picks[2] + picks[3], 4000);
    for (int i = 0; i < 4; i++) {
        if (i != 1)
            assert_in_range(picks[i], picks[0] - 1, picks[0] + 1);
    }
}

TEST_WITH(RAMPING_POOL, when_all_are_to_be_asked_it_is_too)
{
    for (int32_t i = 0; i < 400; i++)
        assert_int_equal(pool_pick(&fixture->pool, 0, true,
                                   fixture->pool.member[1].since_ms),
                         i % 4);
}

/* Others may be there, but busy: they are skipped. */
TEST_WITH(RAMPING_POOL, where_it_is_alone_it_is_always_asked)
{
    int64_t now_ms;

    now_ms = fixture->pool.member[1].since_ms;
    for (int32_t i = 0; i < 1000; i++)
        assert_int_equal(pool_pick(&fixture->pool, ~(uint64_t)2, false, now_ms),
                         1);
    for (int32_t i = 0; i < 4; i++) {
        if (i != 1)
            (void)fail_at(fixture, i, SEQB_UNREACHABLE, now_ms);
    }
    for (int32_t i = 0; i < 1000; i++)
        assert_int_equal(pool_pick(&fixture->pool, 0, false, now_ms), 1);
    /* That has earned it nothing for later. */
    for (int32_t i = 0; i < 4; i++) {
        for (int k = 0; i != 1 && k < 2; k++)
            (void)probe_succeeds(fixture, i);
        fixture->pool.member[i].state = i == 1 ? RAMPING : UP;
    }
    assert_in_range(share_at(fixture, 0), 124, 126);
}

/* Member 1, whose ramp begins, passes on so many turns before it takes one. */
static void expect_turn_after(struct fixture *fixture, int32_t passes)
{
    const int64_t now_ms = fixture->pool.member[1].since_ms;

    for (int32_t i = 0; i <= passes; i++) {
        fixture->pool.next = 1;
        assert_int_equal(pool_pick(&fixture->pool, 0, false, now_ms),
                         i < passes ? 2 : 1);
    }
    assert_int_equal(fixture->pool.member[1].credit, 0);
}

/* Whatever it had saved up in the ramp before. */
TEST_WITH(RAMPING_POOL, each_ramp_begins_with_nothing)
{
    struct pool_member *member = &fixture->pool.member[1];

    for (int32_t passes = 0; passes < 7; passes++) {
        fixture->pool.next = 1;
        assert_int_equal(pool_pick(&fixture->pool, 0, false, member->since_ms),
                         2);
    }
    (void)fail_at(fixture, 1, SEQB_UNREACHABLE, member->since_ms + 1);
    for (int k = 0; k < 2; k++)
        (void)probe_succeeds(fixture, 1);
    expect_state(fixture, 1, RAMPING);
    expect_turn_after(fixture, 7);
}

/* Each turn that it has alone counts as one, no more. */
TEST_WITH(RAMPING_POOL, turns_that_it_has_alone_count_as_any)
{
    for (int32_t i = 0; i < 4; i++) {
        fixture->pool.next = 1;
        assert_int_equal(pool_pick(&fixture->pool, ~(uint64_t)2, false,
                                   fixture->pool.member[1].since_ms),
                         1);
    }
    expect_turn_after(fixture, 3);
}

TEST(two_that_ramp_alone_take_turns)
{
    for (int32_t first = 0; first < 3; first++) {
        const uint64_t skip = ~((uint64_t)3 << first);
        struct fixture fixture;
        int32_t picks[4] = {0};

        fixture_bring(&fixture, RAMPING);
        for (int32_t i = 0; i < 4; i++)
            fixture.pool.member[i] = fixture.pool.member[1];
        for (int32_t i = 0; i < 1000; i++)
            picks[pool_pick(&fixture.pool, skip, false,
                            fixture.pool.member[1].since_ms)]++;
        assert_in_range(picks[first], 450, 550);
        assert_in_range(picks[first + 1], 450, 550);
    }
}

TEST_WITH(RAMPING_POOL, it_is_up_when_the_ramp_is_over)
{
    int64_t end_ms;
    int64_t next_ms;

    end_ms = fixture->pool.member[1].since_ms + POOL_RAMP_MS;
    expect_none(pool_evaluate(&fixture->pool, 1, -1, end_ms - 1, &next_ms));
    assert_int_equal(next_ms, end_ms);
    expect_change(pool_evaluate(&fixture->pool, 1, -1, end_ms, &next_ms),
                  RAMPING, UP);
    assert_int_equal(fixture->pool.member[1].since_ms, end_ms);
    expect_none(pool_evaluate(&fixture->pool, 1, -1, end_ms + 1, &next_ms));
    assert_int_equal(next_ms, INT64_MAX);
}

/* --- flapping --- */

struct flap {
    uint64_t seed;
    int64_t phase_ms; /* of its second, when it begins */
    int64_t well_ms;  /* of each second */
};

/* Ten minutes beside three that are well; a call each 5 ms while it is used.
 * Returns how often it was ejected. */
static int64_t flap_for_ten_minutes(const struct flap *flap)
{
    const int64_t end_ms = START_MS + 600000;
    struct fixture fixture;
    const struct pool_member *member = &fixture.pool.member[1];
    int64_t next_ms;
    int64_t told = 0;

    fixture_init_seeded(&fixture, 2, flap->seed);
    for (int64_t now_ms = START_MS; now_ms < end_ms; now_ms++) {
        const bool is_well = (now_ms + flap->phase_ms) % 1000 < flap->well_ms;
        const bool probes = pool_probe_at(&fixture.pool, 1) <= now_ms;
        struct pool_change change = {.from = UP, .to = UP};

        if (probes)
            pool_probe_begins(&fixture.pool, 1, now_ms);
        if (probes || (pool_is_usable(&fixture.pool, 1) && now_ms % 5 == 0))
            change = is_well ? answer_at(&fixture, 1, now_ms)
                             : fail_at(&fixture, 1, SEQB_UNREACHABLE, now_ms);
        told += change.from != change.to && change.to == QUARANTINED;
        (void)pool_evaluate(&fixture.pool, 1, -1, now_ms, &next_ms);
    }
    assert_int_equal(told, member->ejections);
    assert_true(member->errors > member->ejections);
    return told;
}

TEST(one_that_flaps_is_ejected_a_dozen_times_at_most)
{
    int64_t most = 0;

    for (uint64_t seed = 2; seed <= 40; seed += 2) {
        for (int64_t phase_ms = 0; phase_ms < 1000; phase_ms += 250) {
            const struct flap flap = {seed, phase_ms, 500};
            const int64_t ejections = flap_for_ten_minutes(&flap);

            assert_in_range(ejections, 2, 12);
            most = ejections > most ? ejections : most;
        }
    }
    print_message("  at most %lld ejections\n", (long long)most);
}

/* --- all sorts of things --- */

/* What was told of each member; a probe is part of its quarantine. */
struct witness {
    struct fixture fixture;
    uint64_t random;
    int64_t now_ms;
    enum seqb_partition_state told[5];
    int64_t changes;
};

static enum seqb_partition_state as_told(enum seqb_partition_state state)
{
    return state == PROBING ? QUARANTINED : state;
}

static void witness_report(struct witness *witness, int32_t i,
                           struct pool_change change)
{
    if (change.from == change.to)
        return;
    assert_int_equal(as_told(change.from), witness->told[i]);
    assert_int_not_equal(as_told(change.to), witness->told[i]);
    assert_int_not_equal(change.to, PROBING);
    witness->told[i] = change.to;
    witness->changes++;
}

static void something_happens(struct witness *witness, int32_t i)
{
    struct fixture *fixture = &witness->fixture;
    struct pool *pool = &fixture->pool;
    const int64_t now_ms = witness->now_ms;
    struct pool_change change = {.from = UP, .to = UP};
    int64_t next_ms;

    switch (next_random(&witness->random, 8)) {
    case 0:
        change = fail_after(
            fixture, i,
            (enum seqb_status)(1 + next_random(&witness->random, STATUSES - 1)),
            (int64_t)next_random(&witness->random, 1000000), now_ms);
        break;
    case 1:
        (void)pool_command(pool, i,
                           (enum seqb_order)next_random(&witness->random, 4),
                           now_ms, &change, NULL);
        break;
    case 2:
        change = slow_at(fixture, i, now_ms);
        break;
    case 3:
    case 4:
        if (pool_probe_at(pool, i) <= now_ms)
            pool_probe_begins(pool, i, now_ms);
        break;
    case 5:
        change = pool_evaluate(
            pool, i, now_ms - (int64_t)next_random(&witness->random, 1000),
            now_ms, &next_ms);
        break;
    default:
        change = answer_at(fixture, i, now_ms);
    }
    witness_report(witness, i, change);
}

/* Nobody is asked, or probed, by force or not, who must not be. */
static void expect_in_order(struct witness *witness)
{
    struct pool *pool = &witness->fixture.pool;
    const int32_t picked = pool_pick(pool, 0, false, witness->now_ms);
    const int32_t forced = pool_force_probe(pool, 0, witness->now_ms);

    assert_int_equal(picked >= 0, pool_has_usable(pool, 0));
    assert_true(picked < 0 || is_usable_state(witness->told[picked]));
    assert_true(forced < 0 || picked < 0);
    assert_true(forced < 0 || witness->told[forced] == QUARANTINED);
    for (int32_t i = 0; i < 5; i++) {
        assert_int_equal(as_told(pool->member[i].state), witness->told[i]);
        if (witness->told[i] != QUARANTINED)
            assert_int_equal(pool_probe_at(pool, i), INT64_MAX);
    }
}

TEST(every_change_is_told_once_whatever_happens)
{
    bool was_reported[STATES] = {false};

    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct witness witness = {.random = seed, .now_ms = START_MS};

        fixture_init_seeded(&witness.fixture, 2, seed);
        for (int32_t i = 0; i < 5; i++)
            witness.told[i] = UP;
        for (int step = 0; step < 5000; step++) {
            const int32_t i = (int32_t)next_random(&witness.random, 5);

            witness.now_ms += (int64_t)next_random(&witness.random, 100);
            something_happens(&witness, i);
            expect_in_order(&witness);
            was_reported[witness.told[i]] = true;
        }
        assert_true(witness.changes > 100);
    }
    for (int s = UP; s < STATES; s++)
        assert_int_equal(was_reported[s], s != PROBING);
}
