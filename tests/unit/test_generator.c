/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generator of a pool's snowflakes: which ids it makes, and when it makes
 * none. What it says without a broker that waits; the ids of one ms are
 * test_snowflake.c's.
 */
#include <string.h>

#include "lease_script.h"
#include "platform/fork_wiped.h"
#include "support/failure.h"

#define SHARD               (3 << 8 | 7) /* site 3, worker 7 */
#define IDS_OF(ms, counter) ((((ms)-EPOCH) << 12) | SHARD << 2 | (counter))

struct fixture {
    struct generator generator;
    struct fork_wiped *memory;
    bool is_alive;
};

static int setup(void **state)
{
    static struct fixture fixture;

    fixture = (struct fixture){.memory = fork_wiped_open(), .is_alive = true};
    fixture.generator.is_alive = &fixture.is_alive;
    assert_ok(generator_init(&fixture.generator, NULL, script_begin(),
                             fixture.memory, NULL));
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    generator_fini(&fixture->generator, fixture->memory);
    assert_int_equal(script.freed, 1);
    fork_wiped_close(fixture->memory);
    return 0;
}

#define GENERATOR FIXTURE(struct fixture *fixture, setup, teardown)

static void expect_ids(struct fixture *fixture, size_t count, int64_t first,
                       size_t expected)
{
    int64_t ids[8] = {0};
    size_t taken = 99;

    assert_ok(generator_take(&fixture->generator, count, ids, &taken, NULL));
    assert_int_equal(taken, expected);
    for (size_t i = 0; i < taken; i++)
        assert_int_equal(ids[i], first + (int64_t)i);
    assert_int_equal(ids[taken], 0);
}

/* What each of its calls says, of which two take nothing. */
static void expect_none(struct fixture *fixture, enum seqb_status expected,
                        const char *words)
{
    struct generator *generator = &fixture->generator;
    int64_t id = 0;
    size_t taken = 99;

    failure.text[0] = '\0';
    assert_status(generator_look(generator, &failure), expected);
    assert_non_null(strstr(failure.text, words));
    assert_status(generator_take(generator, 1, &id, &taken, &failure),
                  expected);
    assert_non_null(strstr(failure.text, words));
    assert_int_equal(taken, 0);
    assert_status(generator_take_run(generator, 1, &id, &failure), expected);
    assert_non_null(strstr(failure.text, words));
    assert_int_equal(id, 0);
}

TEST_WITH(GENERATOR, ids_are_of_the_present_ms_of_its_worker)
{
    struct generator *generator = &fixture->generator;
    int64_t first = 0;

    expect_ids(fixture, 3, IDS_OF(NOW, 0), 3);
    expect_ids(fixture, 3, IDS_OF(NOW, 3), 1);
    assert_int_equal(script.leases[0].uses, 1);
    assert_int_equal(script.leases[0].used_ms, NOW);
    expect_none(fixture, SEQB_AGAIN, "");
    assert_int_equal(generator_taken(generator), 4);
    script_at(NOW + 1, BOOT + 1);
    assert_ok(generator_take_run(generator, 4, &first, NULL));
    assert_int_equal(first, IDS_OF(NOW + 1, 0));
    assert_status(generator_take_run(generator, 1, &first, NULL), SEQB_AGAIN);
    assert_int_equal(generator_taken(generator), 8);
    assert_int_equal(script.leases[0].hurries, 0);
    assert_int_equal(generator_end_ms(generator),
                     bits_end_ms(&generator->options->layout));
}

TEST_WITH(GENERATOR, run_has_as_many_as_a_ms_at_most)
{
    int64_t first = 0;

    assert_fails(
        generator_take_run(&fixture->generator, 5, &first, &failure),
        SEQB_INVALID,
        "pool main: a run of 5: it must be 1 ... 4, as many ids as a ms has");
    assert_status(generator_take_run(&fixture->generator, 0, &first, NULL),
                  SEQB_INVALID);
    assert_ok(generator_take_run(&fixture->generator, 1, &first, NULL));
}

/* Who only looks must not use times up; who polls has opened the ms. */
TEST_WITH(GENERATOR, look_uses_no_time_and_a_poll_does)
{
    assert_ok(generator_look(&fixture->generator, NULL));
    assert_int_equal(script.leases[0].uses, 0);
    assert_ok(generator_poll(&fixture->generator, NULL));
    assert_int_equal(script.leases[0].uses, 1);
    assert_true(fixture->generator.flake.last.time_ms == NOW);
}

/* Until the end of its ms, with 750 us to go. */
TEST_WITH(GENERATOR, ids_are_taken_without_a_lock_from_when_it_was_opened)
{
    const uint64_t from = ticks_now();
    struct flake_gate *gate = fixture->generator.gate;

    fixture->generator.flake.ticks.per_ms = 1000000;
    assert_ok(generator_poll(&fixture->generator, NULL));
    assert_int_equal(atomic_load(&gate->span), 749 * 980);
    assert_in_range(atomic_load(&gate->begin), from, ticks_now());
    assert_int_equal(atomic_load(&gate->begin) == 0, ticks_now() == 0);
    assert_ptr_equal(script.measured, &fixture->generator.flake.ticks);
}

TEST_WITH(GENERATOR, nothing_is_made_without_its_lease)
{
    script.leases[0].status = SEQB_UNAVAILABLE;
    expect_none(fixture, SEQB_UNAVAILABLE, HELD);
    script.leases[0].status = SEQB_OK;
    script.leases[0].is_ended = true;
    assert_status(generator_poll(&fixture->generator, NULL), SEQB_AGAIN);
    assert_int_equal(script.leases[0].uses, 1);
    assert_int_equal(script.leases[0].hurries, 0);
    script_at(NOW, UNTIL);
    expect_none(fixture, SEQB_UNAVAILABLE,
                "pool main: the lease of its worker id has ended");
    assert_int_equal(script.leases[0].uses, 1);
}

TEST_WITH(GENERATOR, lease_is_renewed_early_if_the_clock_is_past_its_times)
{
    script_at(NOW + 101, BOOT);
    assert_status(generator_look(&fixture->generator, NULL), SEQB_AGAIN);
    assert_int_equal(script.leases[0].hurries, 0);
    assert_status(generator_poll(&fixture->generator, NULL), SEQB_AGAIN);
    assert_int_equal(script.leases[0].hurries, 1);
    assert_int_equal(script.leases[0].uses, 0);
    script_at(NOW + 100, BOOT);
    expect_ids(fixture, 4, IDS_OF(NOW + 100, 0), 4);
    assert_status(generator_poll(&fixture->generator, NULL), SEQB_AGAIN);
    assert_int_equal(script.leases[0].hurries, 1);
}

TEST_WITH(GENERATOR, clock_that_is_behind_is_told)
{
    script_at(NOW + 100, BOOT);
    expect_ids(fixture, 4, IDS_OF(NOW + 100, 0), 4);
    script_at(NOW + 50, BOOT + 5);
    expect_none(fixture, SEQB_UNAVAILABLE,
                "pool main: the machine's clock is 51 ms behind the last time "
                "of its worker id");
}

TEST_WITH(GENERATOR, time_that_does_not_fit_is_told)
{
    const int64_t end_ms = generator_end_ms(&fixture->generator);

    script.leases[0].id.upto_ms = end_ms;
    script_at(end_ms, BOOT);
    expect_none(fixture, SEQB_EXHAUSTED,
                "pool main: the time of its snowflakes does not fit");
    script_at(end_ms - 1, BOOT);
    expect_ids(fixture, 4, IDS_OF(end_ms - 1, 0), 4);
}

/* If it says a time, and one that is not ahead. */
TEST_WITH(GENERATOR, guarded_clock_holds_the_time_back)
{
    fixture->generator.clock = (struct guarded_clock *)&script;
    script.guarded_ms = NOW - 3;
    expect_ids(fixture, 1, IDS_OF(NOW - 3, 0), 1);
    script.guarded_ms = NOW + 3;
    expect_ids(fixture, 1, IDS_OF(NOW, 0), 1);
    script_at(NOW + 9, BOOT + 9);
    script.guarded = SEQB_UNAVAILABLE;
    expect_ids(fixture, 1, IDS_OF(NOW + 9, 0), 1);
}

TEST_WITH(GENERATOR, forked_child_and_closed_broker_get_none)
{
    struct generator *generator = &fixture->generator;
    int64_t id;
    size_t taken;

    fixture->is_alive = false;
    assert_status(generator_take(generator, 1, &id, &taken, NULL), SEQB_FORKED);
    assert_status(generator_take_run(generator, 1, &id, NULL), SEQB_FORKED);
    fixture->is_alive = true;
    expect_ids(fixture, 1, IDS_OF(NOW, 0), 1);
    generator_shut(generator);
    assert_int_equal(generator->gate->limit, 0);
    assert_int_equal(script.leases[0].ends, 0);
    expect_none(fixture, SEQB_CLOSED, "the broker is closing");
    generator_close(generator);
    assert_int_equal(script.leases[0].ends, 1);
}

/* The ticks alone say that the ms is open still. */
TEST_WITH(GENERATOR, open_ms_needs_no_look_at_its_lease)
{
    assert_ok(generator_poll(&fixture->generator, NULL));
    atomic_store(&fixture->generator.gate->begin, ticks_now());
    atomic_store(&fixture->generator.gate->span, UINT64_MAX);
    script.leases[0].status = SEQB_UNAVAILABLE;
    fixture->is_alive = false;
    expect_ids(fixture, 1, IDS_OF(NOW, 0), 1);
    expect_ids(fixture, 2, IDS_OF(NOW, 1), 2);
}

/* Closing includes that. */
TEST_WITH(GENERATOR, closed_one_is_shut)
{
    generator_close(&fixture->generator);
    expect_none(fixture, SEQB_CLOSED, "the broker is closing");
}

TEST(generator_without_memory_is_refused)
{
    struct generator generator = {0};

    const struct lease_options *options = script_begin();

    script.lacks_memory = true;
    assert_fails(generator_init(&generator, NULL, options, NULL, &failure),
                 SEQB_NO_MEMORY, "snowflakes: out of memory");
    assert_int_equal(script.made, 0);
    generator_close(&generator);
    generator_fini(&generator, NULL);
}
