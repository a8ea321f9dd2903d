/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grants of several windows of one lease, over scripted stores: the last window
 * is put into the cell, and the others are granted once that is done. If it
 * fails, or nobody knows, none of them is ever used.
 */
#include <stdlib.h>

#include "ha/counter/source.h"
#include "platform/clock.h"
#include "platform/thread.h"
#include "queue/flusher/span.h"
#include "support/test.h"
#include "unit/taker.h"

#define DAY_MS INT64_C(86400000)

static void expect_whole_windows(const struct ha_grant *grant, int64_t count)
{
    assert_int_equal(grant->count, count * WINDOW);
    assert_int_equal(grant->first % (2 * RUN * WINDOW), 0);
}

TEST_WITH(TAKER, windows_that_are_wanted_take_one_install)
{
    struct ha_grant grant = taker_ask_again(taker, WANT_MANY);
    int64_t first = taker_window(&grant);

    expect_whole_windows(&grant, MANY - 1);
    assert_int_equal(taker_installs(taker), 1);
    assert_int_equal(taker_cell_window(taker), first + (MANY - 1) * STEP);
    assert_int_equal(fake_value(taker->rig->stores[0], CELL), 0);
    /* The cell goes on with the next one, of the same lessor. */
    grant = taker_ask_again(taker, 10);
    assert_int_equal(grant.count, 10);
    assert_int_equal(taker_window(&grant), first + (MANY - 1) * STEP);
    assert_int_equal(taker->counter->level[SEQB_WINDOWED],
                     taker_window(&grant));
}

/* The highest value that was granted, and window, are those of the last. */
TEST_WITH(TAKER, level_is_that_of_the_last_window)
{
    struct ha_grant grant = taker_ask_again(taker, WANT_MANY);
    int64_t last = taker_window(&grant) + (MANY - 2) * STEP;

    assert_int_equal(taker->counter->level[SEQB_WINDOWED], last);
    assert_int_equal(taker->counter->slots[0].last, (last + 1) * WINDOW - 1);
}

/* As a new pool does: its first numbers are small. */
TEST_WITH(TAKER, small_want_takes_one_window)
{
    struct ha_grant grant = taker_ask_again(taker, WINDOW - 1);

    assert_int_equal(grant.count, WINDOW - 1);
    assert_true(taker_window(&grant) < 2 * STEP);
    assert_int_equal(taker_cell_window(taker), taker_window(&grant));
}

/* How many a counter gets that wants two whole windows, or three. */
static void expect_windows(struct taker *taker,
                           struct ha_counter_attributes attributes,
                           int64_t count)
{
    static struct ha_counter_attributes kept; /* until the taker ends */
    const int64_t size = INT64_C(1) << attributes.window_bits;

    kept = attributes;
    kept.claim = "";
    kept.value_bits = 63;
    kept.keep_ms = DAY_MS;
    ha_counter_set_attributes(taker->counter, &kept);
    assert_int_equal(taker_ask_again(taker, 2 * size + 3).count, count * size);
}

/* Few leases are left in a narrow sequence: it gets no more than a share. */
TEST_WITH(TAKER, narrow_sequence_takes_one_window)
{
    expect_windows(taker,
                   (struct ha_counter_attributes){
                       .window_bits = 8, .useful = RUN * WINDOW * 2 * 2 * 64},
                   1);
}

/* The positions of a ring step over the rest of a window with each grant. */
TEST_WITH(TAKER, windows_of_2_to_the_20_numbers_are_granted_together)
{
    expect_windows(taker, (struct ha_counter_attributes){.window_bits = 18}, 2);
}

TEST_WITH(TAKER, larger_windows_are_granted_one_by_one)
{
    expect_windows(taker, (struct ha_counter_attributes){.window_bits = 19}, 1);
}

/* --- the install fails --- */

/* Another broker's window stands in the cell, of which no value was left when
 * it was asked. The taker's may be below it. */
TEST_WITH(TAKER, windows_are_dropped_if_somebody_was_faster)
{
    struct taker other;
    int64_t window;

    taker_begin(&other, taker->rig);
    (void)taker_leave_window(taker);
    (void)taker_ask_again(&other, WINDOW);
    (void)taker_ask_again(&other, WANT_MANY);
    window = taker_cell_window(&other);
    fake_refuse(taker->rig->stores[0], FAKE_RESERVE, CELL, SEQB_EXHAUSTED);
    assert_int_equal(taker_ask(taker, WANT_MANY).count, 0);
    assert_int_equal(taker_cell_window(taker), window);
    fake_refuse(taker->rig->stores[0], FAKE_RESERVE, CELL, SEQB_OK);
    taker_end(&other);
}

/* Another broker's window is above: all that were taken are dropped. */
TEST_WITH(TAKER, windows_below_another_brokers_are_dropped)
{
    struct ha_grant grant;
    int64_t leased;

    fake_refuse(taker->rig->stores[0], FAKE_INSTALL, CELL, SEQB_FENCED);
    do
        assert_int_equal(taker_ask(taker, WANT_MANY).count, 0);
    while (fake_refusals(taker->rig->stores[0]) == 0);
    leased = taker->counter->slots[0].windows->lease.block.first;
    fake_refuse(taker->rig->stores[0], FAKE_INSTALL, CELL, SEQB_OK);
    grant = taker_ask_again(taker, WANT_MANY);
    expect_whole_windows(&grant, MANY - 1);
    assert_true(taker_window(&grant) / STEP >= leased);
}

static void expect_dropped(struct taker *taker, int64_t after)
{
    const struct ha_grant grant = taker_ask_again(taker, WANT_MANY);

    expect_whole_windows(&grant, MANY - 1);
    assert_true(taker_window(&grant) > after);
}

/* Nothing was done, but nobody knows. */
TEST_WITH(TAKER, windows_are_dropped_if_the_install_is_in_doubt)
{
    struct ha_grant grant = taker_ask_again(taker, WANT_MANY);

    grant = taker_ask_again(taker, WINDOW); /* what is in the cell */
    assert_int_equal(grant.count, WINDOW);
    fake_fail(taker->rig->stores[0], FAKE_INSTALL, 1, SEQB_UNCERTAIN);
    do
        assert_int_equal(taker_ask(taker, WANT_MANY).count, 0);
    while (taker_installs(taker) < 2);
    expect_dropped(taker, taker_window(&grant) + (MANY - 1) * STEP);
}

TEST_WITH(TAKER, windows_that_a_cell_refuses_are_dropped)
{
    fake_refuse(taker->rig->stores[0], FAKE_INSTALL, CELL, SEQB_REFUSED);
    while (taker_installs(taker) == 0)
        assert_int_equal(taker_ask(taker, 3).count, 0);
    assert_int_equal(taker_installs(taker), 1);
    fake_refuse(taker->rig->stores[0], FAKE_INSTALL, CELL, SEQB_OK);
    (void)taker_ask_again(taker, 3);
    assert_int_equal(taker_installs(taker), 2);
}

/* It was done: the window in the cell is used, those below it are not. */
TEST_WITH(TAKER, windows_are_dropped_if_the_answer_is_lost)
{
    struct ha_grant grant;
    int64_t window;

    fake_lose_answers(taker->rig->stores[0], FAKE_INSTALL, 1);
    do
        assert_int_equal(taker_ask(taker, WANT_MANY).count, 0);
    while (taker_installs(taker) == 0);
    window = taker_cell_window(taker);
    assert_true(window >= (MANY - 1) * STEP);
    grant = taker_ask_again(taker, WINDOW);
    assert_int_equal(taker_window(&grant), window);
    expect_dropped(taker, window);
}

/* --- in between --- */

/* It may have been answered before, in the life that the image is of. */
TEST_WITH(TAKER, windows_asked_for_before_a_resumption_are_dropped)
{
    struct ha_grant grant;
    int64_t window;

    for (int i = 0; i < 2; i++) /* and the cell's */
        assert_int_equal(taker_ask_again(taker, WINDOW).count, WINDOW);
    fake_hang(taker->rig->stores[0]);
    taker_post(taker, WINDOW * 100);
    assert_true(
        fake_wait_for_hanging(taker->rig->stores[0], 1, RIG_PATIENCE_MS));
    ha_resumed(taker->broker->ha);
    fake_release(taker->rig->stores[0]);
    assert_int_equal(taker_answer(taker).count, 0);
    window = taker_cell_window(taker);
    grant = taker_ask_again(taker, WANT_MANY);
    assert_true(taker_window(&grant) >= window);
}

/* Those that were leased are below it. */
TEST_WITH(TAKER, windows_below_an_operators_floor_are_dropped)
{
    const int64_t to = RUN * WINDOW * 2 * 5000 + 7;
    struct ha_grant grant;

    (void)taker_ask_again(taker, WANT_MANY);
    assert_int_equal(ha_counter_advance(taker->counter, to, NULL), SEQB_OK);
    grant = taker_ask_again(taker, WANT_MANY);
    expect_whole_windows(&grant, MANY - 1);
    assert_true(grant.first > to);
}

/* Others would count on in it, below that number. */
TEST_WITH(TAKER, window_that_holds_an_operators_number_is_given_up)
{
    struct ha_grant grant = taker_ask_again(taker, 10);

    assert_int_equal(ha_counter_advance(taker->counter,
                                        grant.first + INT64_C(100) * RUN, NULL),
                     SEQB_OK);
    (void)ha_counter_raise(taker->counter, clock_now_ms() + DAY_MS, NULL);
    assert_true(taker_cell_window(taker) > taker_window(&grant));
}

/* Another stamp has counters, cells and leases of its own. */
TEST_WITH(TAKER, windows_of_a_stamp_are_of_no_other)
{
    const int64_t now_ms = clock_wall_ms();
    const struct ha_stamp next = {7, now_ms, now_ms + DAY_MS};
    struct ha_grant grant = taker_ask_again(taker, WANT_MANY);
    int64_t first = taker_window(&grant);

    grant = taker_ask_again(taker, 1);
    while (
        !ha_counter_restamp(taker->counter, &next)) /* a lease is under way */
        thread_rest_us(1000);
    grant = taker_ask_again(taker, WANT_MANY);
    expect_whole_windows(&grant, MANY - 1);
    assert_true(taker_window(&grant) <=
                first + 1); /* maybe of the other lessor */
    assert_int_equal(fake_window(taker->rig->stores[0], CELL "@7"),
                     taker_window(&grant) + (MANY - 1) * STEP);
}

/* --- with all that is above --- */

#define FIRST     (RUN * WINDOW * 2 * 10) /* of window 10, in partition 0 */
#define NEXT      (RUN * WINDOW * 2 * 12) /* of the same lessor */
#define LAST      (RUN * WINDOW * 2 * 14)
#define RUN_STEP  (2 * RUN) /* of one partition */
#define THREE_END (LAST + WINDOW * RUN_STEP)

/* Delivers three windows to a sequence with that floor, and takes them: it must
 * be the numbers of runs that begin above it. */
static void expect_above(struct seqb_sequence *order, int64_t floor)
{
    const struct ha_grant grant = {.first = FIRST, .count = 3 * WINDOW};
    int64_t number;

    pthread_mutex_lock(&order->lock);
    order->floor = floor;
    pthread_mutex_unlock(&order->lock);
    order->sink.deliver(&order->sink, &grant);
    for (int64_t begin = FIRST; begin < THREE_END; begin += RUN_STEP) {
        if (begin <= floor || begin / (2 * RUN * WINDOW) % STEP != 0)
            continue;
        for (int64_t i = 0; i < RUN; i++) {
            assert_int_equal(queue_try_run(order, 1, &number, NULL), SEQB_OK);
            assert_int_equal(number, begin + i);
        }
    }
    assert_int_equal(queue_try_run(order, 1, &number, NULL), SEQB_AGAIN);
}

/* Wherever it lies: in a window, at its ends, or in another lessor's. */
TEST_WITH(NEIGHBOURS, runs_below_the_floor_are_dropped_in_each_window)
{
    static const int64_t floors[] = {
        0,
        FIRST - 1,
        FIRST,
        FIRST + RUN_STEP - 1,
        FIRST + RUN_STEP,
        FIRST + (WINDOW - 1) * RUN_STEP - 1,
        FIRST + (WINDOW - 1) * RUN_STEP,
        FIRST + WINDOW * RUN_STEP + 5,
        NEXT - 1,
        NEXT,
        NEXT + 77,
        LAST,
        LAST + (WINDOW - 1) * RUN_STEP - 1,
        LAST + (WINDOW - 1) * RUN_STEP,
        THREE_END,
    };
    struct rig_broker *broker;
    struct seqb_sequence *order;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    order = rig_sequence(broker, "order");
    rig_await_rest(broker);
    for (size_t i = 0; i < 2; i++)
        fake_hang(rig->stores[i]); /* all that comes is from here */
    (void)sequence_drop_all(order);
    for (size_t i = 0; i < sizeof floors / sizeof floors[0]; i++)
        expect_above(order, floors[i]);
    for (size_t i = 0; i < 2; i++)
        fake_release(rig->stores[i]);
}

/* A block goes on in the next lessor's window, a segment in the same one's. */
TEST_WITH(NEIGHBOURS, kept_numbers_are_cut_and_joined_as_a_ring_has_them)
{
    struct seqb_sequence *order = rig_sequence(rig_open(rig), "order");
    struct spool_block rest = {.key = "order",
                               .bits = 1,
                               .memory_bits = 2,
                               .first = FIRST,
                               .length = 4 * WINDOW * RUN - 1};
    struct span spans[4];

    for (size_t i = 0; i < 4; i++) {
        spans[i] = span_cut(order, &rest);
        assert_int_equal(spans[i].first,
                         FIRST + (int64_t)i * WINDOW * RUN_STEP);
        assert_int_equal(spans[i].count, WINDOW * RUN - (i == 3));
    }
    assert_int_equal(rest.length, 0);
    assert_false(span_join(&spans[0], &spans[1]));
    assert_true(span_join(&spans[0], &spans[2]));
    assert_int_equal(spans[0].count, 2 * WINDOW * RUN);
    assert_false(span_join(&spans[0], &spans[3]));
    assert_false(span_join(&spans[3], &spans[0]));
}

/* Many of one broker, few of another one, by turns. */
TEST_WITH(NEIGHBOURS, brokers_that_share_cells_repeat_nothing)
{
    struct rig_broker *brokers[2];

    rig->sequences[0].max_unused = 64 * WINDOW * RUN;
    for (size_t i = 0; i < 2; i++)
        brokers[i] = rig_open(rig);
    for (int i = 0; i < 20; i++) {
        rig_take(brokers[0], 20 * (size_t)WINDOW * RUN);
        rig_take(brokers[1], i % 2 == 0 ? 10 : 8 * (size_t)WINDOW * RUN);
        if (i % 5 == 4)
            fake_restart(rig->stores[i % 2]);
    }
    /* How many windows an ask takes is a matter of the machine's speed. */
    assert_true((fake_calls(rig->stores[0], FAKE_INSTALL) +
                 fake_calls(rig->stores[1], FAKE_INSTALL)) *
                    WINDOW * RUN <
                (int64_t)numbers_count(&rig->taken));
}

/* --- a lessor is emptied --- */

/* Two stores that may forget, and two lessors. */
static int setup_forgetful(void **state)
{
    struct rig *rig;

    assert_int_equal(rig_setup_neighbours(state), 0);
    rig = *state;
    rig_shape(rig, RIG_NEIGHBOURS, 2);
    for (int32_t i = 0; i < 2; i++)
        rig->backends[i].ops = &backend_fake_windowed;
    return 0;
}

#define FORGETFUL FIXTURE(struct rig *rig, setup_forgetful, rig_teardown)

/* Its server goes on and nobody knows, and the cell is gone as well. Its run
 * begins at 1 again, and ends where the witness never was. */
TEST_WITH(FORGETFUL, run_of_an_emptied_lessor_begins_above_its_witness)
{
    struct taker taker;
    struct ha_grant grant;
    int64_t first;

    taker_begin(&taker, rig);
    grant = taker_ask_again(&taker, 10);
    first = grant.first;
    taker_end(&taker);
    fake_flush(taker.rig->stores[2]);
    fake_flush(taker.rig->stores[0]);
    taker_begin(&taker, rig);
    grant = taker_ask_again(&taker, WANT_MANY);
    assert_true(grant.first > first);
    taker_end(&taker);
}

/* Its server goes on and nobody knows. The cell stands, in a window below those
 * that the first broker holds. */
TEST_WITH(NEIGHBOURS, run_that_a_broker_holds_is_leased_to_no_other_one)
{
    struct taker one;
    struct taker two;
    struct ha_grant first;
    struct ha_grant second;

    taker_begin(&one, rig);
    (void)taker_leave_window(&one);
    (void)taker_ask_again(&one, WINDOW);
    fake_flush(one.rig->stores[1]);
    taker_begin(&two, rig);
    (void)taker_ask_again(&two, 10);
    second = taker_ask_again(&two, WINDOW - 10); /* the rest of its cell */
    first = taker_ask_again(&one, WANT_MANY);
    assert_true(taker_window(&first) > taker_window(&second));
    taker_end(&one);
    taker_end(&two);
}

/* The other one leases nothing, but knows far more, and refuses each run. */
TEST_WITH(FORGETFUL, lessor_far_behind_its_witness_is_raised_at_once)
{
    static const char leases[] = "window/main/0/bill";
    const int64_t far = 1000000000;
    struct taker taker;

    taker_begin(&taker, rig);
    (void)taker_ask_again(&taker, 10);
    fake_refuse(rig->stores[3], FAKE_RESERVE, leases, SEQB_REFUSED);
    fake_put(rig->stores[3], leases, far);
    for (int i = 0; i < 50 && fake_value(rig->stores[2], leases) <= far; i++)
        (void)taker_ask(&taker, WANT_MANY);
    assert_true(fake_value(rig->stores[2], leases) > far);
    (void)taker_ask_again(&taker, 10);
    taker_end(&taker);
}
