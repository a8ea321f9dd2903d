/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grants of several windows of one lease, over scripted stores: the last window
 * is put into the cell, and the others are granted once that is done. If it
 * fails, or nobody knows, none of them is ever used.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "ha/counter/source.h"
#include "platform/clock.h"
#include "queue/flusher/span.h"
#include "support/rig.h"
#include "support/test.h"

#define CELL      "cell:main/0/bill"
#define WINDOW    INT64_C(256) /* runs */
#define RUN       INT64_C(4)
#define STEP      INT64_C(2) /* of one lessor's windows, where there are two */
#define DAY_MS    INT64_C(86400000)
#define MANY      INT64_C(5) /* windows that an ask takes: four, and the cell's */
#define WANT_MANY ((MANY - 1) * WINDOW + 3)

/* A counter of its own, which no thread refills, and its last answer. */
struct taker {
    struct ha_sink sink; /* first */
    struct ha_counter *counter;
    struct rig *rig;
    struct rig_broker *broker;
    struct ha_grant grant;
    atomic_int answers;
};

static const struct ha_counter_attributes attributes = {
    .claim = "", .value_bits = 63, .keep_ms = DAY_MS};

static void taker_deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    struct taker *taker = (struct taker *)sink;

    taker->grant = *grant;
    atomic_fetch_add(&taker->answers, 1);
}

/* Two partitions; the other one leases to the first, or the first itself. */
static void taker_begin(struct taker *taker, void **state)
{
    *taker = (struct taker){.sink = {.deliver = taker_deliver}, .rig = *state};
    rig_set_timeout(taker->rig, RIG_FOREVER_MS);
    taker->broker = rig_open(taker->rig);
    assert_int_equal(ha_counter_new(ha_pool_at(taker->broker->ha, 0), "bill", 2,
                                    &taker->sink, &taker->counter, NULL),
                     SEQB_OK);
    ha_counter_set_attributes(taker->counter, &attributes);
}

static void taker_end(struct taker *taker)
{
    struct rig_broker *broker = taker->broker;

    queue_stop(broker->queue);
    ha_close(broker->ha);
    queue_free(broker->queue);
    ha_counter_free(taker->counter);
    *broker = (struct rig_broker){NULL, NULL};
}

static void post(struct taker *taker, int64_t want)
{
    struct ha_pool *pool = ha_pool_at(taker->broker->ha, 0);
    struct slot *slot = &taker->counter->slots[0];

    atomic_store(&taker->answers, 0);
    pthread_mutex_lock(pool->lock);
    slot_ask(slot, want, clock_now_ms());
    assert_true(worker_push(pool->workers[0], &slot->job));
    pthread_mutex_unlock(pool->lock);
}

/* An answer is there, and the slot may be asked again. */
static bool is_answered(void *context)
{
    const struct taker *taker = context;
    struct ha_view view;

    ha_counter_view(taker->counter, clock_now_ms(), &view);
    return atomic_load(&taker->answers) > 0 && view.all == 0;
}

static struct ha_grant answer(struct taker *taker)
{
    rig_await(is_answered, taker);
    return taker->grant;
}

static struct ha_grant ask(struct taker *taker, int64_t want)
{
    post(taker, want);
    return answer(taker);
}

/* Until it is answered well, as its partition may have to be rescued. */
static struct ha_grant ask_again(struct taker *taker, int64_t want)
{
    struct ha_grant grant;

    do
        grant = ask(taker, want);
    while (grant.count == 0);
    return grant;
}

static int64_t window_of(const struct ha_grant *grant)
{
    return grant->first / RUN / 2 / WINDOW; /* partitions */
}

static int64_t cell_window(const struct taker *taker)
{
    return fake_window(taker->rig->stores[0], CELL);
}

static int64_t installs(const struct taker *taker)
{
    return fake_calls(taker->rig->stores[0], FAKE_INSTALL);
}

static void expect_whole_windows(const struct ha_grant *grant, int64_t count)
{
    assert_int_equal(grant->count, count * WINDOW);
    assert_int_equal(grant->first % (2 * RUN * WINDOW), 0);
}

TEST_STATE(NEIGHBOURS, windows_that_are_wanted_take_one_install)
{
    struct taker taker;
    struct ha_grant grant;
    int64_t first;

    taker_begin(&taker, state);
    grant = ask_again(&taker, WANT_MANY);
    first = window_of(&grant);
    expect_whole_windows(&grant, MANY - 1);
    assert_int_equal(installs(&taker), 1);
    assert_int_equal(cell_window(&taker), first + (MANY - 1) * STEP);
    assert_int_equal(fake_value(taker.rig->stores[0], CELL), 0);
    /* The cell goes on with the next one, of the same lessor. */
    grant = ask_again(&taker, 10);
    assert_int_equal(grant.count, 10);
    assert_int_equal(window_of(&grant), first + (MANY - 1) * STEP);
    assert_int_equal(taker.counter->level[SEQB_WINDOWED], window_of(&grant));
    taker_end(&taker);
}

/* The highest value that was granted, and window, are those of the last. */
TEST_STATE(NEIGHBOURS, level_is_that_of_the_last_window)
{
    struct taker taker;
    struct ha_grant grant;
    int64_t last;

    taker_begin(&taker, state);
    grant = ask_again(&taker, WANT_MANY);
    last = window_of(&grant) + (MANY - 2) * STEP;
    assert_int_equal(taker.counter->level[SEQB_WINDOWED], last);
    assert_int_equal(taker.counter->slots[0].last, (last + 1) * WINDOW - 1);
    taker_end(&taker);
}

/* As a new pool does: its first numbers are small. */
TEST_STATE(NEIGHBOURS, small_want_takes_one_window)
{
    struct taker taker;
    struct ha_grant grant;

    taker_begin(&taker, state);
    grant = ask_again(&taker, WINDOW - 1);
    assert_int_equal(grant.count, WINDOW - 1);
    assert_true(window_of(&grant) < 2 * STEP);
    assert_int_equal(cell_window(&taker), window_of(&grant));
    taker_end(&taker);
}

/* Few leases are left in a narrow sequence: it gets no more than a share. */
TEST_STATE(NEIGHBOURS, narrow_sequence_takes_one_window)
{
    const struct ha_counter_attributes narrow = {.claim = "",
                                                 .value_bits = 63,
                                                 .keep_ms = DAY_MS,
                                                 .useful =
                                                     RUN * WINDOW * 2 * 2 * 64};
    struct taker taker;
    struct ha_grant grant;

    taker_begin(&taker, state);
    ha_counter_set_attributes(taker.counter, &narrow);
    grant = ask_again(&taker, WANT_MANY);
    assert_int_equal(grant.count, WINDOW);
    taker_end(&taker);
}

/* --- a cell that has nothing of what is wanted --- */

/* Of which the window in the cell is next to nothing. */
#define WANT_LARGE (64 * WINDOW)

static bool has_spares(void *context)
{
    const struct taker *taker = context;
    struct ha_pool *pool = ha_pool_at(taker->broker->ha, 0);
    const struct window_source *source = taker->counter->slots[0].windows;
    bool has_some;

    pthread_mutex_lock(pool->lock);
    has_some = source->run.left > 1;
    pthread_mutex_unlock(pool->lock);
    return has_some;
}

/* Leaves a whole window of the taker in the cell, and windows at hand. */
static int64_t leave_window(struct taker *taker)
{
    (void)ask_again(taker, WANT_MANY);
    rig_await(has_spares, taker);
    return cell_window(taker);
}

/* To ask it first would be a round trip for a grant that is far too small. */
TEST_STATE(NEIGHBOURS, large_want_passes_over_a_window)
{
    struct taker taker;
    struct ha_grant grant;
    int64_t window;

    taker_begin(&taker, state);
    window = leave_window(&taker);
    grant = ask(&taker, WANT_LARGE);
    assert_true(grant.count >= WINDOW);
    assert_int_equal(grant.count % WINDOW, 0);
    assert_true(window_of(&grant) > window);
    assert_int_equal(installs(&taker), 2);
    taker_end(&taker);
}

TEST_STATE(NEIGHBOURS, smaller_want_takes_the_window_first)
{
    struct taker taker;
    struct ha_grant grant;
    int64_t window;

    taker_begin(&taker, state);
    window = leave_window(&taker);
    grant = ask(&taker, WANT_LARGE - 1);
    assert_int_equal(grant.count, WINDOW);
    assert_int_equal(window_of(&grant), window);
    assert_int_equal(installs(&taker), 1);
    taker_end(&taker);
}

/* What is left of it is more than nothing while no other window is there. */
TEST_STATE(NEIGHBOURS, large_want_takes_the_window_if_there_is_no_other)
{
    struct taker taker;
    struct ha_grant grant;
    struct window_source *source;
    int64_t window;

    taker_begin(&taker, state);
    window = leave_window(&taker);
    source = taker.counter->slots[0].windows;
    pthread_mutex_lock(source->lock);
    source_drop(source, source_last(source) - STEP);
    pthread_mutex_unlock(source->lock);
    grant = ask(&taker, WANT_LARGE);
    assert_int_equal(grant.count, WINDOW);
    assert_int_equal(window_of(&grant), window);
    taker_end(&taker);
}

/* Each of them would put an end to the other one's window. */
TEST_STATE(NEIGHBOURS, window_that_another_broker_counts_in_is_taken_first)
{
    struct taker takers[2];
    struct ha_grant grant;
    int64_t window;

    taker_begin(&takers[0], state);
    taker_begin(&takers[1], state);
    window = leave_window(&takers[0]);
    assert_int_equal(ask_again(&takers[1], 10).count, 10);
    grant = ask(&takers[0], 20);
    assert_int_equal(grant.count, 20);
    assert_int_equal(window_of(&grant), window);
    grant = ask(&takers[0], WANT_LARGE);
    assert_int_equal(grant.count, WINDOW - 30);
    assert_int_equal(window_of(&grant), window);
    taker_end(&takers[0]);
    taker_end(&takers[1]);
}

/* The broker was wrong: the store refuses its window, and is asked. */
TEST_STATE(NEIGHBOURS, window_that_was_put_above_is_taken_after_all)
{
    struct taker takers[2];
    struct ha_grant grant;

    taker_begin(&takers[0], state);
    taker_begin(&takers[1], state);
    (void)leave_window(&takers[0]);
    do /* its windows are leased above all */
        grant = ask_again(&takers[1], WANT_MANY);
    while (cell_window(&takers[1]) <
           source_last(takers[0].counter->slots[0].windows));
    grant = ask(&takers[0], WANT_LARGE);
    assert_int_equal(grant.count, WINDOW);
    assert_int_equal(window_of(&grant), cell_window(&takers[1]));
    taker_end(&takers[0]);
    taker_end(&takers[1]);
}

static int64_t reserves(const struct taker *taker)
{
    return fake_calls(taker->rig->stores[0], FAKE_RESERVE);
}

/* The broker was granted all of it. */
TEST_STATE(WINDOWED, window_that_is_used_up_is_followed_without_asking)
{
    struct taker taker;
    int64_t before;

    taker_begin(&taker, state);
    while (ask_again(&taker, WINDOW).count < WINDOW)
        continue;
    before = reserves(&taker);
    assert_int_equal(ask(&taker, WINDOW).count, WINDOW);
    assert_int_equal(reserves(&taker), before + 1);
    taker_end(&taker);
}

/* --- the install fails --- */

/* Another broker's window stands in the cell, of which no value was left when
 * it was asked. The taker's may be below it. */
TEST_STATE(NEIGHBOURS, windows_are_dropped_if_somebody_was_faster)
{
    struct taker takers[2];
    int64_t window;

    taker_begin(&takers[0], state);
    taker_begin(&takers[1], state);
    (void)leave_window(&takers[0]);
    (void)ask_again(&takers[1], WINDOW);
    (void)ask_again(&takers[1], WANT_MANY);
    window = cell_window(&takers[1]);
    fake_refuse(takers[0].rig->stores[0], FAKE_RESERVE, CELL, SEQB_EXHAUSTED);
    assert_int_equal(ask(&takers[0], WANT_MANY).count, 0);
    assert_int_equal(cell_window(&takers[0]), window);
    fake_refuse(takers[0].rig->stores[0], FAKE_RESERVE, CELL, SEQB_OK);
    taker_end(&takers[0]);
    taker_end(&takers[1]);
}

/* Another broker's window is above: all that were taken are dropped. */
TEST_STATE(NEIGHBOURS, windows_below_another_brokers_are_dropped)
{
    struct taker taker;
    struct ha_grant grant;
    int64_t leased;

    taker_begin(&taker, state);
    fake_refuse(taker.rig->stores[0], FAKE_INSTALL, CELL, SEQB_FENCED);
    do
        assert_int_equal(ask(&taker, WANT_MANY).count, 0);
    while (fake_refusals(taker.rig->stores[0]) == 0);
    leased = taker.counter->slots[0].windows->lease.block.first;
    fake_refuse(taker.rig->stores[0], FAKE_INSTALL, CELL, SEQB_OK);
    grant = ask_again(&taker, WANT_MANY);
    expect_whole_windows(&grant, MANY - 1);
    assert_true(window_of(&grant) / STEP >= leased);
    taker_end(&taker);
}

static void expect_dropped(struct taker *taker, int64_t after)
{
    const struct ha_grant grant = ask_again(taker, WANT_MANY);

    expect_whole_windows(&grant, MANY - 1);
    assert_true(window_of(&grant) > after);
}

/* Nothing was done, but nobody knows. */
TEST_STATE(NEIGHBOURS, windows_are_dropped_if_the_install_is_in_doubt)
{
    struct taker taker;
    struct ha_grant grant;

    taker_begin(&taker, state);
    grant = ask_again(&taker, WANT_MANY);
    grant = ask_again(&taker, WINDOW); /* what is in the cell */
    assert_int_equal(grant.count, WINDOW);
    fake_fail(taker.rig->stores[0], FAKE_INSTALL, 1, SEQB_UNCERTAIN);
    do
        assert_int_equal(ask(&taker, WANT_MANY).count, 0);
    while (installs(&taker) < 2);
    expect_dropped(&taker, window_of(&grant) + (MANY - 1) * STEP);
    taker_end(&taker);
}

/* It was done: the window in the cell is used, those below it are not. */
TEST_STATE(NEIGHBOURS, windows_are_dropped_if_the_answer_is_lost)
{
    struct taker taker;
    struct ha_grant grant;
    int64_t window;

    taker_begin(&taker, state);
    fake_lose_answers(taker.rig->stores[0], FAKE_INSTALL, 1);
    do
        assert_int_equal(ask(&taker, WANT_MANY).count, 0);
    while (installs(&taker) == 0);
    window = cell_window(&taker);
    assert_true(window >= (MANY - 1) * STEP);
    grant = ask_again(&taker, WINDOW);
    assert_int_equal(window_of(&grant), window);
    expect_dropped(&taker, window);
    taker_end(&taker);
}

/* --- in between --- */

/* It may have been answered before, in the life that the image is of. */
TEST_STATE(NEIGHBOURS, windows_asked_for_before_a_resumption_are_dropped)
{
    struct taker taker;
    struct ha_grant grant;
    int64_t window;

    taker_begin(&taker, state);
    for (int i = 0; i < 2; i++) /* and the cell's */
        assert_int_equal(ask_again(&taker, WINDOW).count, WINDOW);
    fake_hang(taker.rig->stores[0]);
    post(&taker, WINDOW * 100);
    assert_true(
        fake_wait_for_hanging(taker.rig->stores[0], 1, RIG_PATIENCE_MS));
    ha_resumed(taker.broker->ha);
    fake_release(taker.rig->stores[0]);
    assert_int_equal(answer(&taker).count, 0);
    window = cell_window(&taker);
    grant = ask_again(&taker, WANT_MANY);
    assert_true(window_of(&grant) >= window);
    taker_end(&taker);
}

/* Those that were leased are below it. */
TEST_STATE(NEIGHBOURS, windows_below_an_operators_floor_are_dropped)
{
    const int64_t to = RUN * WINDOW * 2 * 5000 + 7;
    struct taker taker;
    struct ha_grant grant;

    taker_begin(&taker, state);
    (void)ask_again(&taker, WANT_MANY);
    assert_int_equal(ha_counter_advance(taker.counter, to, NULL), SEQB_OK);
    grant = ask_again(&taker, WANT_MANY);
    expect_whole_windows(&grant, MANY - 1);
    assert_true(grant.first > to);
    taker_end(&taker);
}

/* Another stamp has counters, cells and leases of its own. */
TEST_STATE(NEIGHBOURS, windows_of_a_stamp_are_of_no_other)
{
    const int64_t now_ms = clock_wall_ms();
    const struct ha_stamp next = {7, now_ms, now_ms + DAY_MS};
    struct taker taker;
    struct ha_grant grant;
    int64_t first;

    taker_begin(&taker, state);
    grant = ask_again(&taker, WANT_MANY);
    first = window_of(&grant);
    grant = ask_again(&taker, 1);
    assert_true(ha_counter_restamp(taker.counter, &next));
    grant = ask_again(&taker, WANT_MANY);
    expect_whole_windows(&grant, MANY - 1);
    assert_true(window_of(&grant) <= first + 1); /* maybe of the other lessor */
    assert_int_equal(fake_window(taker.rig->stores[0], CELL "@7"),
                     window_of(&grant) + (MANY - 1) * STEP);
    taker_end(&taker);
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
    struct numbers numbers;

    numbers_init(&numbers);
    rig->sequences[0].max_unused = 64 * WINDOW * RUN;
    for (size_t i = 0; i < 2; i++)
        brokers[i] = rig_open(rig);
    for (int i = 0; i < 20; i++) {
        rig_take(brokers[0], 20 * (size_t)WINDOW * RUN, &numbers);
        rig_take(brokers[1], i % 2 == 0 ? 10 : 8 * (size_t)WINDOW * RUN,
                 &numbers);
        if (i % 5 == 4)
            fake_restart(rig->stores[i % 2]);
    }
    assert_int_equal(numbers_repeats(&numbers), 0);
    /* How many windows an ask takes is a matter of the machine's speed. */
    assert_true((fake_calls(rig->stores[0], FAKE_INSTALL) +
                 fake_calls(rig->stores[1], FAKE_INSTALL)) *
                    WINDOW * RUN <
                (int64_t)numbers_count(&numbers));
    numbers_fini(&numbers);
}
