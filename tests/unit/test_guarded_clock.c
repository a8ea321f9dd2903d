/* SPDX-License-Identifier: Apache-2.0 */
/* The guarded clock at work: what is issued was kept before. */
#include <pthread.h>
#include <stdlib.h>

#include "clock_fixture.h"
#include "platform/clock.h"
#include "platform/thread.h"
#include "queue/guarded_clock/file.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"

#define THREADS 4
#define STAMPS  20

/* --- one caller --- */

TEST_WITH(WALL, stamp_is_kept_before_it_is_issued)
{
    struct clock_world *world = clock_world();

    clock_case_start(c);
    clock_case_expect_now(c, NOON);
    assert_int_equal(clock_case_status(c).issued_ms, 0);
    atomic_store(&world->is_held_up, true);
    assert_int_equal(guarded_clock_issue(c->clock, NOON, 0, &c->err),
                     SEQB_AGAIN);
    clock_await_calls(&world->moves, 1);
    assert_int_equal(
        guarded_clock_issue(c->clock, NOON, clock_now_ms() + 5, &c->err),
        SEQB_AGAIN);
    assert_int_equal(clock_file_says(), 0);
    atomic_store(&world->is_held_up, false);
    clock_case_issue(c, NOON);
    assert_int_equal(clock_file_says(), NOON);
    assert_ok(guarded_clock_issue(c->clock, NOON, 0, &c->err));
    assert_int_equal(clock_case_status(c).issued_ms, NOON);
    assert_int_equal(atomic_load(&world->notes), 0); /* it has no store */
}

TEST_WITH(WALL, expected_stamp_is_issued_at_once)
{
    clock_case_start(c);
    assert_false(guarded_clock_expect(c->clock, NOON + SECOND));
    RIG_AWAIT(guarded_clock_expect(c->clock, NOON + SECOND));
    assert_int_equal(clock_file_says(), NOON + SECOND);
    clock_go_on(SECOND);
    assert_ok(guarded_clock_issue(c->clock, NOON + SECOND, 0, &c->err));
    assert_int_equal(atomic_load(&clock_world()->moves), 1);
}

/* Else a kill before it would leave a broker that cannot start. */
TEST_WITH(WALL, stamp_is_expected_no_farther_ahead_than_a_start_allows)
{
    clock_case_start(c);
    assert_false(guarded_clock_expect(c->clock, NOON + 10 * MINUTE + 1));
    clock_case_issue(c, NOON);
    assert_int_equal(clock_file_says(), NOON);
    assert_false(guarded_clock_expect(c->clock, NOON + 10 * MINUTE));
    clock_case_issue(c, NOON + 1);
    clock_case_stop(c);
    clock_case_start(c);
    assert_int_equal(clock_file_says(), NOON + 10 * MINUTE);
}

TEST_WITH(WALL, what_is_wanted_meanwhile_is_kept_in_one)
{
    struct clock_world *world = clock_world();

    clock_case_start(c);
    atomic_store(&world->is_held_up, true);
    (void)guarded_clock_expect(c->clock, NOON);
    clock_await_calls(&world->moves, 1);
    for (int64_t i = 1; i <= 60; i++)
        (void)guarded_clock_expect(c->clock, NOON + i * SECOND);
    (void)guarded_clock_expect(c->clock, NOON + 1);
    atomic_store(&world->is_held_up, false);
    clock_case_issue(c, NOON + MINUTE);
    assert_int_equal(atomic_load(&world->moves), 2);
    assert_int_equal(clock_file_says(), NOON + MINUTE);
}

/* --- what fails --- */

TEST_WITH(WALL, store_keeps_it_after_the_file)
{
    struct clock_world *world = clock_world();

    int64_t began_ms;

    c->options.store = 3;
    clock_case_start(c);
    assert_int_equal(atomic_load(&world->noted_ms), 0); /* only read */
    began_ms = clock_now_ms();
    clock_case_issue(c, NOON);
    assert_string_equal(world->name, "clock/orders");
    assert_int_equal(atomic_load(&world->noted_ms), NOON);
    assert_int_equal(atomic_load(&world->file_ms), NOON);
    /* Both may take their time. */
    assert_true(atomic_load(&world->lock_until_ms) > began_ms);
    assert_true(atomic_load(&world->note_until_ms) > began_ms);
}

/* A neighbour's process of one name asked another store, or none. */
static void neighbour_keeps(struct clock_case *c, int64_t begin_ms)
{
    struct clock_file file;
    int64_t standing;

    assert_ok(clock_file_init(&file, c->path, "orders", &c->err));
    assert_done(
        clock_file_keep(&file, begin_ms, clock_soon(), &standing, &c->err),
        c->err);
}

TEST_WITH(WALL, what_only_the_file_keeps_is_noted_too)
{
    struct clock_world *world = clock_world();

    c->options.store = 0;
    clock_case_start(c);
    clock_case_issue(c, NOON);
    neighbour_keeps(c, NOON + 3 * SECOND);
    clock_case_issue(c, NOON + SECOND);
    assert_int_equal(atomic_load(&world->noted_ms), NOON + SECOND);
    clock_case_issue(c, NOON + 2 * SECOND);
    assert_int_equal(atomic_load(&world->noted_ms), NOON + 2 * SECOND);
}

TEST_WITH(WALL, stamp_is_not_issued_that_the_store_does_not_keep)
{
    struct clock_world *world = clock_world();

    c->options.store = 0;
    clock_case_start(c);
    atomic_store(&world->is_down, true);
    assert_int_equal(guarded_clock_issue(c->clock, NOON, 0, &c->err),
                     SEQB_AGAIN);
    clock_await_more(&world->notes, 2); /* the first one's failure is known */
    assert_int_equal(guarded_clock_issue(c->clock, NOON, 0, &c->err),
                     SEQB_CLOCK);
    rig_expect_words(c->err.text, "backend 0 is down");
    atomic_store(&world->is_down, false);
    clock_case_issue(c, NOON);
}

TEST_WITH(WALL, stamp_is_not_issued_that_the_store_keeps_less_of)
{
    struct clock_world *world = clock_world();

    c->options.store = 0;
    clock_case_start(c);
    atomic_store(&world->is_lagging, true);
    (void)guarded_clock_expect(c->clock, NOON);
    clock_await_more(&world->notes, 2);
    assert_int_equal(guarded_clock_issue(c->clock, NOON, 0, &c->err),
                     SEQB_CLOCK);
    rig_expect_words(c->err.text, "clock/orders");
    atomic_store(&world->is_lagging, false);
    clock_case_issue(c, NOON);
}

TEST_WITH(WALL, failure_is_told_once_and_ends_by_itself)
{
    struct clock_world *world = clock_world();

    clock_case_start(c);
    events_start();
    atomic_store(&world->failure, "the disk is full");
    (void)guarded_clock_expect(c->clock, NOON);
    clock_await_calls(&world->moves, 3);
    assert_int_equal(
        guarded_clock_issue(c->clock, NOON, clock_now_ms() + 5, &c->err),
        SEQB_CLOCK);
    rig_expect_words(c->err.text, "the disk is full");
    rig_expect_words(clock_case_status(c).reason, "the disk is full");
    atomic_store(&world->failure, "the disk is gone");
    clock_await_event("the disk is gone");
    atomic_store(&world->failure, NULL);
    clock_case_issue(c, NOON);
    assert_int_equal(clock_file_says(), NOON);
    assert_string_equal(clock_case_status(c).reason, "");
    clock_case_stop(c); /* it may be told after it is so */
    events_expect("event=clock_not_kept", "disk is full", 1);
    events_expect("event=clock_not_kept", "disk is gone", 1);
    events_expect("event=clock_not_kept", "", 2);
    events_expect("event=clock_not_kept", c->path, 2);
    events_expect("event=clock_kept", c->path, 1);
}

/* Asks for what begins later, which wakes the thread, until it waits for
 * another time than `until_ms`. Returns that time. */
static int64_t next_wait(struct clock_case *c, int64_t *begin_ms,
                         int64_t until_ms)
{
    const int64_t patience_ms = rig_patience_end();
    int64_t next_ms;

    while ((next_ms = atomic_load(&clock_world()->wait_until_ms)) == until_ms) {
        (void)guarded_clock_expect(c->clock, ++*begin_ms);
        rig_wait(patience_ms, "another wait");
    }
    return next_ms;
}

/* A tenth of a second after a failure, then twice as long, unless it has to
 * poll the stores' clocks before, at `poll_ms`. */
static void expect_rests(struct clock_case *c, int64_t begin_ms,
                         int64_t poll_ms)
{
    const int64_t began_ms = clock_now_ms();
    int64_t first_ms;
    int64_t second_ms;

    atomic_store(&clock_world()->is_patient, true);
    atomic_store(&clock_world()->failure, "the disk is full");
    first_ms = next_wait(c, &begin_ms, poll_ms);
    assert_true(first_ms >= began_ms + 100);
    second_ms = next_wait(c, &begin_ms, first_ms);
    assert_true(second_ms <= clock_now_ms() + 200);
    assert_true(second_ms >= first_ms + 200 || second_ms >= poll_ms);
}

TEST_WITH(WALL, thread_rests_until_it_has_something_to_do)
{
    struct clock_world *world = clock_world();
    const int64_t began_ms = clock_now_ms();
    int64_t poll_ms;

    atomic_store(&world->is_patient, true);
    events_start();
    clock_case_start(c);
    clock_await_calls(&world->waits, 1);
    poll_ms = atomic_load(&world->wait_until_ms);
    assert_true(poll_ms >= began_ms + 2 * SECOND);
    if (clock_now_ms() < began_ms + 2 * SECOND)
        assert_int_equal(atomic_load(&world->looks), 1); /* at the start */
    expect_rests(c, NOON, poll_ms);
    events_expect("event=clock_not_kept", "", 1);
    events_expect("event=clock_", "", 1);
    /* It begins with the least again once the time was kept. */
    atomic_store(&world->is_patient, false);
    atomic_store(&world->failure, NULL);
    clock_case_issue(c, NOON + MINUTE);
    expect_rests(c, NOON + MINUTE, atomic_load(&world->wait_until_ms));
    clock_case_stop(c);
    assert_int_equal(atomic_load(&world->waiting), 0);
}

/* --- callers at once --- */

struct caller {
    pthread_t thread;
    struct guarded_clock *clock;
    enum seqb_status status;
};

static void *wait_for_it(void *argument)
{
    struct caller *caller = argument;

    caller->status =
        guarded_clock_issue(caller->clock, NOON, clock_soon(), NULL);
    return NULL;
}

static void caller_start(struct caller *caller, struct clock_case *c,
                         void *(*run)(void *argument))
{
    *caller = (struct caller){.clock = c->clock, .status = SEQB_OK};
    assert_ok(thread_start(&caller->thread, "caller", run, caller, &c->err));
}

TEST_WITH(WALL, callers_are_answered_when_the_broker_stops)
{
    struct clock_world *world = clock_world();
    struct caller caller;

    c->options.store = 0;
    clock_case_start(c);
    atomic_store(&world->is_down, true);
    caller_start(&caller, c, wait_for_it);
    clock_await_more(&world->notes, 1); /* for what it wants */
    guarded_clock_stop(c->clock);
    pthread_join(caller.thread, NULL);
    assert_int_equal(caller.status, SEQB_CLOSED);
    assert_false(guarded_clock_expect(c->clock, NOON));
    assert_int_equal(guarded_clock_issue(c->clock, NOON, clock_soon(), NULL),
                     SEQB_CLOSED);
    guarded_clock_stop(c->clock);
}

/* Neither the thread nor callers look again by themselves. */
TEST_WITH(WALL, stopping_wakes_the_thread_and_those_who_wait)
{
    struct clock_world *world = clock_world();
    struct caller caller;

    atomic_store(&world->is_patient, true);
    atomic_store(&world->failure, "the disk is full");
    clock_case_start(c);
    clock_await_calls(&world->waits, 1); /* the thread's */
    caller_start(&caller, c, wait_for_it);
    clock_await_calls(&world->waits, 4); /* each once more, after the failure */
    guarded_clock_stop(c->clock);
    pthread_join(caller.thread, NULL);
    assert_int_equal(caller.status, SEQB_CLOSED);
    assert_int_equal(atomic_load(&world->late), 0);
}

static void *issue_many(void *argument)
{
    struct caller *caller = argument;
    int64_t time_ms;

    for (int64_t i = 0; i < STAMPS && caller->status == SEQB_OK; i++) {
        caller->status = guarded_clock_now(caller->clock, &time_ms, NULL);
        if (caller->status != SEQB_OK)
            break;
        caller->status =
            guarded_clock_issue(caller->clock, time_ms, clock_soon(), NULL);
        if (clock_file_says() < time_ms)
            caller->status = SEQB_POISONED;
        clock_go_on(1);
    }
    return NULL;
}

TEST_WITH(WALL, each_thread_has_its_stamps_kept)
{
    struct caller callers[THREADS];

    clock_case_start(c);
    for (int i = 0; i < THREADS; i++)
        caller_start(&callers[i], c, issue_many);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_ok(callers[i].status);
    }
}
