/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sequence by itself: what it asks its counter for and when it looks again,
 * what it takes of a grant, and what it tells. The counter's answers are
 * scripted, and nobody else looks at the sequence.
 */
#include <stdatomic.h>
#include <string.h>

#include "ha/counter/counter.h"
#include "platform/clock.h"
#include "queue/flusher/flusher.h"
#include "queue/sequence_take.h"
#include "support/rig.h"
#include "support/test.h"
#include "support/wrap.h"

#define RUN  INT64_C(4) /* 2^memory_bits */
#define MOST 1024
#define NONE INT64_MAX
#define MUCH 1000000 /* numbers */
#define ONE  HA_ASK_ONE
#define ALL  HA_ASK_ALL

/* --- a counter --- */

static struct {
    const struct ha_counter *counter; /* NULL: none is scripted */
    struct ha_view view;
    int64_t asked;    /* runs that partitions are asked for */
    atomic_int looks; /* calls for the view */
    int64_t runs;     /* of the last call; -1: none was made */
    enum ha_spread spread;
} script;

WRAPPED(void, ha_counter_view, struct ha_counter *counter, int64_t now_ms,
        struct ha_view *out)
{
    if (counter != script.counter) {
        __real_ha_counter_view(counter, now_ms, out);
        return;
    }
    *out = script.view;
    atomic_fetch_add(&script.looks, 1);
}

WRAPPED(int64_t, ha_counter_ask, struct ha_counter *counter, int64_t count,
        enum ha_spread spread, int64_t now_ms)
{
    if (counter != script.counter)
        return __real_ha_counter_ask(counter, count, spread, now_ms);
    script.runs = count;
    script.spread = spread;
    return script.asked;
}

/* It has no numbers, and was never looked at. */
static struct seqb_sequence *order_of(struct rig *rig)
{
    struct seqb_sequence *order = rig_sequence(rig_open(rig), "order");

    memset(&script, 0, sizeof script);
    script.counter = order->counter;
    script.view.late_ms = NONE;
    return order;
}

static void empty(struct seqb_sequence *order)
{
    int64_t taken = 0;
    int64_t dropped = 0;

    sequence_renew(order, &taken, &dropped);
}

/* --- asking --- */

/* A look at `now`, of one that holds `stock` numbers and at which nothing was
 * used. Times count from then; a delay is 7 ms. */
static const struct {
    const char *what;
    const char *how; /* w: somebody waits, p: it is fetched ahead, f: no
                        partition can be asked */
    int64_t stock;
    int64_t fresh;
    int64_t all;
    int64_t late_ms;
    int64_t runs; /* that are asked for; -1: none */
    enum ha_spread spread;
    int64_t next_ms;
    bool is_used;
} looks[] = {
    {"unused", "", 0, 0, 0, NONE, -1, ONE, NONE, false},
    {"something is under way", "", 0, 0, 1, 30, -1, ONE, 30, true},
    {"somebody waits", "w", 0, 0, 0, NONE, 64, ALL, 2, true},
    {"all partitions fail", "wf", 0, 0, 0, NONE, 64, ALL, 2, true},
    {"a run is missing", "w", 0, 63, 63, 30, 1, ALL, 2, true},
    {"all of it will come", "w", 0, 64, 64, 30, -1, ALL, 2, true},
    {"it will come at once", "w", 0, 64, 64, 1, -1, ALL, 1, true},
    {"what is late takes room", "w", 0, 0, 501, NONE, 13, ALL, 2, true},
    {"so does what there is", "w", 8, 0, 501, NONE, 11, ALL, 2, true},
    {"nothing is there", "p", 0, 0, 0, NONE, 64, ALL, 2, true},
    {"half of it is there", "p", 128, 0, 0, NONE, 32, ONE, 2, true},
    {"more than half is there", "p", 129, 0, 0, NONE, -1, ONE, NONE, false},
    {"half, and nobody waits", "", 128, 0, 0, NONE, -1, ONE, NONE, false},
};

TEST_WITH(DIRECT, look_asks_for_what_is_missing)
{
    struct seqb_sequence *order = order_of(rig);
    const int64_t now_ms = clock_now_ms();

    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        int64_t next_ms;
        bool is_used;

        empty(order);
        if (looks[i].stock > 0)
            sequence_put(order, (int64_t)(i + 1) * MUCH,
                         (uint64_t)looks[i].stock);
        script.view =
            (struct ha_view){looks[i].fresh, looks[i].all, 7, NONE, false};
        if (looks[i].late_ms != NONE)
            script.view.late_ms = now_ms + looks[i].late_ms;
        script.asked = strchr(looks[i].how, 'f') == NULL;
        script.runs = -1;
        script.spread = looks[i].spread;
        atomic_store(&order->settings->prefetch,
                     strchr(looks[i].how, 'p') != NULL);
        atomic_store(&order->waiters, strchr(looks[i].how, 'w') != NULL);
        is_used = sequence_refill(order, now_ms, &next_ms);
        next_ms -= next_ms == NONE ? 0 : now_ms;
        if (is_used != looks[i].is_used || next_ms != looks[i].next_ms ||
            script.runs != looks[i].runs || script.spread != looks[i].spread)
            fail_msg("%s: asks for %lld, next in %lld ms", looks[i].what,
                     (long long)script.runs, (long long)next_ms);
        atomic_store(&order->waiters, 0);
    }
}

/* A waiting caller asks by itself, and comes back when the answer is late. */
TEST_WITH(DIRECT, answer_is_late_after_three_delays)
{
    struct seqb_sequence *order = order_of(rig);
    struct sequence_poll poll;

    atomic_store(&order->waiters, 1);
    script.view.delay_ms = 7;
    for (script.asked = 0; script.asked < 2; script.asked++) {
        pthread_mutex_lock(&order->lock);
        poll = sequence_ask(order, 1000);
        pthread_mutex_unlock(&order->lock);
        assert_int_equal(poll.late_ms, script.asked == 0 ? NONE : 1023);
        assert_true(poll.is_short);
        assert_true(poll.is_starved);
        assert_int_equal(poll.stock, 0);
    }
    atomic_store(&order->waiters, 0);
}

/* Each partition may answer with a segment of its own. */
TEST_WITH(DIRECT, ring_without_a_segment_for_each_partition_asks_for_nothing)
{
    struct seqb_sequence *order = order_of(rig);
    int64_t next_ms;
    int64_t n = 0;

    while (ring_free_blocks(order->ring) > 2)
        sequence_put(order, ++n * MUCH, 1);
    for (int less = 0; less < 2; less++) {
        script.runs = -1;
        atomic_store(&order->waiters, 1);
        (void)sequence_refill(order, clock_now_ms(), &next_ms);
        atomic_store(&order->waiters, 0);
        assert_int_equal(script.runs, less == 0 ? (256 - n + 3) / RUN : -1);
        sequence_put(order, ++n * MUCH, 1);
    }
}

/* Stock at which a taker wakes the refill. */
static uint64_t mark_of(const struct seqb_sequence *order)
{
    const struct ring *ring = order->ring;

    return ring->segments[ring->newest & ring->segment_mask].end - 1 -
           ring->low;
}

/* However low the mark is, one that becomes busy is looked at soon. */
TEST_WITH(DIRECT, mark_is_the_low_water_or_64k_below_the_stock)
{
    static const struct {
        uint64_t stock;
        bool prefetch;
        uint64_t mark;
    } cases[] = {
        {65536 + 301, true, 301},
        {65536 + 300, true, 300},
        {65536 + 299, true, 300},
        {65536 + 301, false, 300},
    };
    struct seqb_sequence *order = order_of(rig);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        empty(order);
        atomic_store(&order->settings->prefetch, cases[i].prefetch);
        order->low = 300;
        sequence_put(order, (int64_t)(i + 1) * MUCH, cases[i].stock);
        assert_int_equal(mark_of(order), cases[i].mark);
    }
}

/* --- what comes --- */

/* Runs of four, whose begins lie eight apart: none of those that begin at or
 * below the floor. */
TEST_WITH(DIRECT, grant_is_cut_at_the_floor)
{
    static const struct {
        int64_t floor;
        uint64_t runs; /* that are left of five, which begin at 800 */
    } cases[] = {{799, 5}, {800, 4}, {807, 4}, {808, 3},
                 {831, 1}, {832, 0}, {NONE, 0}};
    struct seqb_sequence *order = order_of(rig);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct ha_grant grant = {.first = 800, .count = 5};
        const uint64_t runs = cases[i].runs;
        int64_t number;

        empty(order);
        order->floor = cases[i].floor;
        sequence_deliver(&order->sink, &grant);
        assert_int_equal(ring_stock(order->ring), runs * RUN);
        assert_int_equal(order->granted, runs * RUN);
        if (runs > 0) {
            (void)ring_take(order->ring, &number);
            assert_int_equal(number, 840 - 8 * (int64_t)runs);
        }
    }
}

/* Nobody passes a mark that is above all there is. */
TEST_WITH(DIRECT, delivery_of_too_little_wakes_the_refill)
{
    struct seqb_sequence *order = order_of(rig);
    const struct ha_grant grant = {.first = 800, .count = 5};

    pthread_mutex_lock(&order->lock);
    order->low = 5 * RUN;
    pthread_mutex_unlock(&order->lock);
    sequence_deliver(&order->sink, &grant);
    RIG_AWAIT(atomic_load(&script.looks) > 0);
}

/* What was kept must be above the floor, and below the bits' end. */
TEST_WITH(DIRECT, kept_numbers_come_between_the_floor_and_the_end)
{
    static const int64_t end = INT64_C(1) << 53;
    static const struct {
        int64_t first;
        uint64_t count;
        uint64_t stock;
    } cases[] = {{800, 8, 0},     {804, 8, 8},     {end - 12, 8, 8},
                 {end - 4, 5, 0}, {end - 4, 4, 4}, {end - 4, 8, 0}};
    struct seqb_sequence *order;

    rig->sequences[0].value_bits = 53;
    order = order_of(rig);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        empty(order);
        order->floor = 800;
        sequence_put(order, cases[i].first, cases[i].count);
        assert_int_equal(ring_stock(order->ring), cases[i].stock);
        assert_int_equal(order->granted, cases[i].stock);
    }
}

/* Else the counter might grant the last one again. */
TEST_WITH(DIRECT, kept_numbers_are_held_to_the_last)
{
    struct seqb_sequence *order = order_of(rig);

    sequence_put(order, 800, 5); /* the last one is 808 */
    assert_int_equal(order->counter->slots[0].last, 808 >> 3);
}

TEST_WITH(DIRECT, blocks_are_welcome_while_there_is_room)
{
    struct seqb_sequence *order = order_of(rig);
    uint32_t blocks;

    sequence_put(order, MUCH, 48);
    blocks = ring_free_blocks(order->ring) - 2;
    assert_true(sequence_has_capacity(order, blocks, 2 * MOST - 48));
    assert_false(sequence_has_capacity(order, blocks, 2 * MOST - 47));
    assert_false(sequence_has_capacity(order, blocks + 1, 1));
}

TEST_WITH(DIRECT, warm_holds_its_mark_and_half_of_the_least)
{
    static const struct {
        uint64_t stock;
        int64_t low;
        int64_t most;
        bool is_warm;
    } cases[] = {
        {0, 0, 1, false},        {1, 0, 1, true},        {127, 0, MOST, false},
        {128, 0, MOST, true},    {49, 0, 100, false},    {50, 0, 100, true},
        {199, 200, MOST, false}, {200, 200, MOST, true},
    };
    struct seqb_sequence *order = order_of(rig);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        empty(order);
        order->low = cases[i].low;
        atomic_store(&order->settings->max_unused, cases[i].most);
        if (cases[i].stock > 0)
            sequence_put(order, (int64_t)(i + 1) * MUCH, cases[i].stock);
        assert_int_equal(sequence_warm(order, clock_now_ms()),
                         cases[i].is_warm);
        assert_int_equal(atomic_load(&order->waiters), 0);
    }
}

TEST_WITH(DIRECT, sequence_is_idle_once_nothing_is_taken)
{
    struct seqb_sequence *order = order_of(rig);
    int64_t number;

    order->seen_ms = 1000;
    assert_false(sequence_is_idle(order, 9000)); /* it holds nothing */
    sequence_put(order, MUCH, 2);
    assert_false(sequence_is_idle(order, 10000)); /* no idle_after */
    atomic_store(&order->settings->idle_after_ms, 500);
    assert_true(sequence_is_idle(order, 10000));
    (void)ring_take(order->ring, &number);
    assert_false(sequence_is_idle(order, 10000));
    assert_false(sequence_is_idle(order, 10499));
    assert_true(sequence_is_idle(order, 10500));
    atomic_store(&order->waiters, 1);
    assert_false(sequence_is_idle(order, 10500));
    atomic_store(&order->waiters, 0);
    assert_true(sequence_is_idle(order, 11000));
    atomic_store(&order->settings->warm, true);
    assert_false(sequence_is_idle(order, 12000));
    atomic_store(&order->settings->is_removed, true);
    assert_true(sequence_is_idle(order, 12000));
    (void)ring_take(order->ring, &number);
    assert_false(sequence_is_idle(order, 12000));
}

/* Four times in the least idle_after. */
TEST(sequences_are_looked_at_by_the_least_idle_after)
{
    static const struct {
        int64_t idle_after_ms[3]; /* of the automatic ones last */
        int64_t looks_ms;
    } cases[] = {
        {{0, 0, 0}, 60000},        {{0, 8000, 0}, 2000},
        {{12000, 8000, 0}, 2000},  {{8000, 12000, 0}, 2000},
        {{0, 999, 0}, 250},        {{0, 0, 8000}, 2000},
        {{4000, 0, 8000}, 1000},   {{240000, 0, 0}, 60000},
        {{239996, 0, 0}, 59999},   {{300000, 300000, 300000}, 60000},
        {{1000, 1004, 1004}, 250}, {{1004, 1008, 1008}, 251},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct queue_sequence_options sequences[3] = {{.key = "a"}};
        struct queue_sequence_options automatic = {
            .idle_after_ms = cases[i].idle_after_ms[2]};
        struct queue_options options = {.sequences = sequences,
                                        .sequence_count = 2};

        for (int j = 0; j < 2; j++)
            sequences[j].idle_after_ms = cases[i].idle_after_ms[j];
        sequences[2].idle_after_ms = 1; /* not one of them */
        if (automatic.idle_after_ms > 0)
            options.automatic = &automatic;
        assert_int_equal(flusher_looks(&options), cases[i].looks_ms);
    }
}

/* Else it waits for what is under way, until it may wait no longer. */
TEST_WITH(DIRECT, finish_waits_for_nothing_if_all_is_answered)
{
    struct seqb_sequence *order = order_of(rig);

    sequence_finish(order, clock_now_ms() + RIG_FOREVER_MS);
    script.view.all = 1;
    sequence_finish(order, clock_now_ms());
    sequence_finish(order, clock_now_ms() + 20);
}

/* --- stripes --- */

/* Busy from 4,000 numbers a ms on, and until it is below 1,000. A stripe takes
 * a 64th of the stock. */
TEST_WITH(DIRECT, busy_sequence_has_stripes)
{
    static const struct {
        double rate;
        double burst;
        int64_t stock;
        int64_t slice; /* -1: none */
    } cases[] = {
        {3999, 0, 8192, -1},      {0, 3999, 8192, -1},
        {4000, 0, 8192, 128},     {1000, 0, 4096, 64},
        {1000, 0, 4095, 0},       {999, 1000, 65535, 1023},
        {1000, 999, 65600, 1024}, {999, 999, 4096, -1},
        {0, 4000, 8192, 128},
    };
    struct seqb_sequence *order = order_of(rig);
    int64_t next_ms;

    order->may_stripe = true;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct stripes *stripes;

        empty(order);
        sequence_put(order, (int64_t)(i + 1) * MUCH, (uint64_t)cases[i].stock);
        order->refill.rate = cases[i].rate;
        order->refill.burst = cases[i].burst;
        assert_int_equal(
            sequence_refill(order, order->refill.last_ms, &next_ms),
            cases[i].slice >= 0);
        stripes = atomic_load(&order->stripes);
        assert_int_equal(stripes != NULL, cases[i].slice >= 0);
        if (stripes != NULL)
            assert_int_equal(stripes->slice, cases[i].slice);
    }
}

/* --- what it tells --- */

TEST_WITH(DIRECT, status_and_counts_tell_all)
{
    struct seqb_sequence *order = order_of(rig);
    struct seqb_sequence_status status;
    struct seqb_sequence_counts counts;
    int64_t next_ms;
    int64_t now_ms;
    int64_t out[10];
    size_t taken;

    sequence_put(order, MUCH, 110);
    assert_ok(queue_try_many(order, 10, out, &taken, NULL));
    script.view = (struct ha_view){3, 5, 7, NONE, false};
    atomic_store(&order->waiters, 1);
    order->ring->waits = 6;
    order->refill.rate = 2;
    order->refill.last_consumed = 10;
    now_ms = order->refill.last_ms;
    (void)sequence_refill(order, now_ms, &next_ms);
    atomic_store(&order->waiters, 0);
    sequence_status(order, now_ms, &status);
    assert_string_equal(status.key, "order");
    assert_string_equal(status.pool, "main");
    assert_int_equal(status.memory_bits, 2);
    assert_int_equal(status.window_bits, 0);
    assert_int_equal(status.stock, 100);
    assert_int_equal(status.in_flight, 5 * RUN);
    assert_int_equal(status.taken, 10);
    assert_int_equal(status.rate, 2000);
    assert_int_equal(status.waits, 6);
    assert_int_equal(status.target, 256);
    assert_int_equal(status.low_water, 0); /* nothing is fetched ahead */
    assert_int_equal(status.runway_ms, 50);
    assert_int_equal(status.asked, 256 - 100 - 3 * RUN);
    assert_string_equal(status.why, "minimum: 256 numbers");
    assert_int_equal(status.width_numbers, INT64_MAX);
    assert_int_equal(status.pool_numbers, INT64_MAX);
    assert_string_equal(status.period, "none");
    sequence_counts(order, now_ms, &counts);
    assert_int_equal(counts.taken, 10);
    assert_int_equal(counts.waits, 6);
    assert_int_equal(counts.dropped, 0);
    assert_int_equal(counts.stock, 100);
    assert_int_equal(counts.rate, 2000);
    assert_int_equal(counts.runway_ms, 50);
    assert_int_equal(counts.runs_out_ms, INT64_MAX);
    queue_status(rig->brokers[0].queue, NULL, 0, &taken);
    assert_int_equal(taken, 1);
    empty(order);
    sequence_status(order, clock_now_ms(), &status);
    assert_int_equal(status.taken + status.stock + status.asked, 0);
    assert_int_equal(status.target + status.low_water + status.rate, 0);
    assert_string_equal(status.why, "");
}
