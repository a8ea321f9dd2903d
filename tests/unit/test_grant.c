/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of stores that make no sense, or come from another history: what is
 * not surely this broker's alone is thrown away. The distortion is between
 * the ha and a scripted store that is sane.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "platform/minmax.h"
#include "platform/text.h"
#include "support/rig.h"
#include "support/test.h"

/* How the first request of every call is distorted if it was granted; NULL: not
 * at all. What is said of a window that is used up is to be believed: one that
 * is too high would be the end of all windows. */
static struct {
    pthread_mutex_t lock;
    void (*distort)(struct seqb_request *request);
} odd = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void odd_set(void (*distort)(struct seqb_request *request))
{
    pthread_mutex_lock(&odd.lock);
    odd.distort = distort;
    pthread_mutex_unlock(&odd.lock);
}

static struct seqb_backend_ops odd_ops;

static enum seqb_status odd_open(const struct seqb_backend_options *options,
                                 struct seqb_backend **out,
                                 struct seqb_error *err)
{
    const struct seqb_backend_ops *sane = odd_ops.guarantee == SEQB_DIRECT
                                              ? &backend_fake
                                              : &backend_fake_windowed;
    const enum seqb_status status = sane->open(options, out, err);

    if (status == SEQB_OK)
        (*out)->ops = &odd_ops;
    return status;
}

static enum seqb_status odd_reserve(struct seqb_backend *backend,
                                    struct seqb_request *requests, size_t n,
                                    struct seqb_error *err)
{
    const enum seqb_status status =
        backend_fake.reserve(backend, requests, n, err);

    pthread_mutex_lock(&odd.lock);
    if (odd.distort != NULL && requests[0].status == SEQB_OK)
        odd.distort(&requests[0]);
    pthread_mutex_unlock(&odd.lock);
    return status;
}

/* Puts the odd engine before the store of partition 0; there is no other. */
static struct rig_broker *open_odd(struct rig *rig, enum rig_kind kind)
{
    rig_shape(rig, kind, 0);
    odd_set(NULL);
    odd_ops = *rig->backends[0].ops;
    odd_ops.open = odd_open;
    odd_ops.reserve = odd_reserve;
    rig->backends[0].ops = &odd_ops;
    return rig_open(rig);
}

static void grant_nothing(struct seqb_request *request)
{
    request->block.count = 0;
}

static void grant_less_than_nothing(struct seqb_request *request)
{
    request->block.count = -5;
}

static void grant_too_much(struct seqb_request *request)
{
    request->block.count = request->want + 1;
}

static void grant_below_all(struct seqb_request *request)
{
    request->block.first = -1;
}

static void grant_above_the_limit(struct seqb_request *request)
{
    request->block.first = request->limit;
    request->block.count = 2;
}

static void grant_at_the_very_end(struct seqb_request *request)
{
    request->block.first = INT64_MAX;
}

static void grant_in_no_window(struct seqb_request *request)
{
    request->window = 0;
}

static void grant_in_a_window_too_high(struct seqb_request *request)
{
    request->window = INT64_MAX;
}

static void (*const oddities[])(struct seqb_request *request) = {
    grant_nothing,   grant_less_than_nothing, grant_too_much,
    grant_below_all, grant_above_the_limit,   grant_at_the_very_end};

static void (*const window_oddities[])(struct seqb_request *request) = {
    grant_in_no_window, grant_in_a_window_too_high};

static bool is_refused(void *context)
{
    struct rig_broker *broker = context;

    assert_int_not_equal(
        queue_try_run(rig_sequence(broker, "order"), 1, &(int64_t){0}, NULL),
        SEQB_OK);
    return strstr(rig_partition(broker, 0).reason, "not asked for") != NULL;
}

/* While it lasts no number comes, and the partition says why. */
static void expect_thrown_away(struct rig_broker *broker,
                               void (*distort)(struct seqb_request *request))
{
    rig_take(broker, 10);
    rig_await_rest(broker);
    rig_take(broker, (size_t)rig_status(broker, "order").stock);
    odd_set(distort);
    rig_await(is_refused, broker);
    odd_set(NULL);
    rig_await_state(broker, 0, SEQB_PARTITION_UP);
}

static void expect_all_thrown_away(
    struct rig_broker *broker,
    void (*const distortions[])(struct seqb_request *request), size_t n)
{
    for (size_t i = 0; i < n; i++)
        expect_thrown_away(broker, distortions[i]);
    rig_take(broker, 1000);
}

TEST_WITH(DIRECT, grants_that_were_not_asked_for_are_thrown_away)
{
    expect_all_thrown_away(open_odd(rig, RIG_DIRECT), oddities,
                           sizeof oddities / sizeof oddities[0]);
}

TEST_WITH(WINDOWED, windowed_grants_that_make_no_sense_are_thrown_away)
{
    struct rig_broker *broker = open_odd(rig, RIG_WINDOWED);

    expect_all_thrown_away(broker, oddities,
                           sizeof oddities / sizeof oddities[0]);
    expect_all_thrown_away(broker, window_oddities,
                           sizeof window_oddities / sizeof window_oddities[0]);
}

/* The broker's own mark is enough, were failover_gap too small. */
TEST_WITH(ONE_DIRECT,
          store_that_lost_more_than_the_gap_is_raised_above_the_mark)
{
    struct rig_broker *broker;

    rig->pool.layout.failover_gap = 0;
    broker = rig_open(rig);
    fake_save(rig->stores[0]);
    rig_take(broker, 1000);
    rig_await_rest(broker);
    fake_restore(rig->stores[0]);
    rig_take(broker, 5000);
    assert_int_equal(rig_partition(broker, 0).state, SEQB_PARTITION_UP);
}

static void use_with_gap(struct rig *rig, int64_t gap)
{
    rig->pool.layout.failover_gap = gap;
    rig_use(rig, 1000);
}

/* What is lost was granted to a broker that had a larger one; the first that
 * comes after the loss is another. */
TEST_WITH(ONE_DIRECT, largest_gap_of_all_brokers_counts)
{
    use_with_gap(rig, 100000);
    fake_save(rig->stores[0]);
    use_with_gap(rig, 100000);
    fake_restore(rig->stores[0]);
    use_with_gap(rig, 1);
    assert_true(fake_value(rig->stores[0], "main/0/order") > 100000);
}

static void reload_gap(struct rig *rig, struct rig_broker *broker, int64_t gap)
{
    struct ha_reload *reload;

    rig->pool.layout.failover_gap = gap;
    assert_ok(ha_prepare(broker->ha, &rig->ha, &reload, NULL));
    ha_commit(reload);
}

static void expect_gap(struct rig *rig, int64_t gap)
{
    char expected[24];
    char text[24];

    (void)text_format(expected, sizeof expected, "%lld", (long long)gap);
    fake_claim_text(rig->stores[0], "failover_gap/main", text, sizeof text);
    assert_string_equal(text, expected);
}

/* The broker stops, and the first that comes after the loss has another gap. */
static void expect_gap_after_reload(struct rig *rig, int64_t next)
{
    struct rig_broker *broker;
    int64_t saved;

    rig_shape(rig, RIG_DIRECT, 0);
    rig->pool.layout.failover_gap = 2000;
    broker = rig_open(rig);
    rig_take(broker, 1000);
    reload_gap(rig, broker, next);
    rig_take(broker, 5000); /* more than was fetched before */
    rig_await_rest(broker);
    expect_gap(rig, max_of(next, 2000));
    saved = fake_value(rig->stores[0], "main/0/order");
    fake_save(rig->stores[0]);
    rig_take(broker, 1000);
    rig_close(broker);
    fake_restore(rig->stores[0]);
    use_with_gap(rig, 1);
    assert_true(fake_value(rig->stores[0], "main/0/order") >
                saved + max_of(next, 2000));
}

TEST_WITH(DIRECT, gap_that_a_reload_raised_is_known_to_the_stores)
{
    expect_gap_after_reload(rig, 100000);
}

/* What the store lost may have been granted by the larger one. */
TEST_WITH(DIRECT, reload_lowers_no_gap)
{
    expect_gap_after_reload(rig, 1);
}

/* The store that is put back has heard of the lower one only. */
TEST_WITH(ONE_DIRECT, gap_that_a_reload_raised_counts_at_once)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 1000);
    rig_await_rest(broker);
    fake_save(rig->stores[0]);
    rig_take(broker, 1000);
    rig_await_rest(broker);
    reload_gap(rig, broker, 100000);
    fake_restore(rig->stores[0]);
    rig_take(broker, 5000);
    assert_int_equal(fake_first_raise(rig->stores[0], "main/0/order").gap,
                     100000);
}

static bool is_refused_alone(void *context)
{
    (void)queue_try_run(rig_sequence(context, "order"), 1, &(int64_t){0}, NULL);
    return rig_partition(context, 0).refused == 1 &&
           rig_partition(context, 0).state == SEQB_PARTITION_UP;
}

/* The store became another one, which others raised less high. */
TEST_WITH(ONE_DIRECT, lower_counter_that_is_not_raised_is_refused_alone)
{
    struct rig_broker *broker = rig_open(rig);

    fake_save(rig->stores[0]);
    rig_take_from(broker, 0, 2000);
    fake_restore(rig->stores[0]);
    fake_put(rig->stores[0], "main/0/order", 5);
    fake_refuse(rig->stores[0], FAKE_RAISE, "main/0/order", SEQB_REFUSED);
    rig_await(is_refused_alone, broker);
    fake_refuse(rig->stores[0], FAKE_RAISE, "main/0/order", SEQB_OK);
    rig_await_state(broker, 0, SEQB_PARTITION_UP);
    rig_take(broker, 5000);
}

/* Both counters of a store fail in one call; each is mended by itself. */
TEST_WITH(DIRECT, many_counters_of_one_store_are_mended_at_once)
{
    struct rig_broker *broker;
    struct numbers bills;
    int64_t many[100];

    numbers_init(&bills);
    rig->queue.sequence_count = 2;
    broker = rig_open(rig);
    for (int i = 0; i < 20; i++) {
        rig_take(broker, 100);
        assert_ok(
            queue_next_many(rig_sequence(broker, "bill"), 100, many, NULL));
        numbers_add(&bills, many, 100);
        fake_change_origin(rig->stores[i % 2]);
    }
    assert_int_equal(numbers_repeats(&bills), 0);
    numbers_fini(&bills);
}
TEST_ALSO(WINDOWED, many_counters_of_one_store_are_mended_at_once);
