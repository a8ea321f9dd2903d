/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences that make themselves while no store answers, and their limit. */
#include <pthread.h>
#include <stdio.h>

#include "ha/counter/counter.h"
#include "ha/counter/slot.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/hash.h"
#include "queue/queue_state.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/wrap.h"
#include "unit/period_fixture.h"
#include "unit/rig_shapes.h"

#define FLOOD 20000 /* keys: far more than may wait */

static void expect_no_sequence(struct rig_broker *broker, const char *key,
                               enum seqb_status expected, const char *words)
{
    struct seqb_sequence *sequence;
    struct seqb_error err;

    assert_int_equal(rig_find(broker, key, &sequence, &err), expected);
    rig_expect_words(err.text, words);
}

/* Down, and known to be. */
static void stores_go_down(struct rig *rig, struct rig_broker *broker)
{
    rig_set_down(rig, true);
    rig_set_deadline(broker, "order", 20);
    assert_int_equal(rig_take_refused(broker, "order").status,
                     SEQB_UNAVAILABLE);
}

static void expect_number(struct rig_broker *broker, const char *key)
{
    assert_ok(queue_next(rig_sequence(broker, key), &(int64_t){0}, NULL));
}

static struct rig_broker *open_automatic(struct rig *rig, int64_t limit)
{
    rig_automatic(rig, "tmp-*", limit);
    return rig_open(rig);
}

static void slips_in_an_outage(struct rig *rig)
{
    struct rig_broker *broker = open_automatic(rig, 3);
    struct seqb_sequence *slip;

    expect_number(broker, "tmp-1");
    stores_go_down(rig, broker);
    slip = rig_sequence(broker, "tmp-a");
    (void)rig_sequence(broker, "tmp-b");
    (void)rig_sequence(broker, "tmp-c");
    (void)rig_sequence(broker, "tmp-d");
    rig_set_down(rig, false);
    rig_await_use(broker, 0);
    expect_number(broker, "tmp-2");
    expect_number(broker, "tmp-3");
    expect_no_sequence(broker, "tmp-4", SEQB_UNKNOWN_KEY,
                       "limit of auto_sequences, 3, is reached");
    /* Its handle is good as long as the broker. */
    assert_ok(queue_next(slip, &(int64_t){0}, NULL));
    assert_ptr_equal(rig_sequence(broker, "tmp-a"), slip);
}

TEST_WITH(DIRECT, keys_of_an_outage_shut_nobody_out)
{
    slips_in_an_outage(rig);
}

TEST_WITH(PERIOD, keys_with_a_period_of_an_outage_shut_nobody_out)
{
    fixture->rig->automatic.period = &fixture->rules;
    slips_in_an_outage(fixture->rig);
}

/* One is quarantined, the last one is not: it may be asked still. */
static void stores_hang(struct rig *rig, struct rig_broker *broker)
{
    struct seqb_error err;

    for (int i = 0; i < 2; i++)
        fake_hang(rig->stores[i]);
    rig_set_deadline(broker, "order", 20);
    while (queue_next(rig_sequence(broker, "order"), &(int64_t){0}, &err) ==
           SEQB_OK)
        continue;
    assert_int_equal(err.status, SEQB_TIMEOUT);
    RIG_AWAIT(!ha_pool_answers(ha_pool_at(broker->ha, 0)));
}

TEST_WITH(DIRECT, keys_of_a_hang_shut_nobody_out)
{
    struct rig_broker *broker;

    rig->pool.timeout_ms = 20; /* of calls that go on for long */
    broker = open_automatic(rig, 3);
    expect_number(broker, "tmp-1");
    stores_hang(rig, broker);
    (void)rig_sequence(broker, "tmp-a");
    (void)rig_sequence(broker, "tmp-b");
    (void)rig_sequence(broker, "tmp-c");
    (void)rig_sequence(broker, "tmp-d");
    for (int i = 0; i < 2; i++)
        fake_release(rig->stores[i]);
    RIG_AWAIT(ha_pool_answers(ha_pool_at(broker->ha, 0)));
    expect_number(broker, "tmp-2");
    expect_number(broker, "tmp-3");
    expect_no_sequence(broker, "tmp-4", SEQB_UNKNOWN_KEY,
                       "limit of auto_sequences, 3, is reached");
}

/* They were made while stores answered, and count no more. */
TEST_WITH(DIRECT, keys_from_before_an_outage_shut_nobody_out)
{
    struct rig_broker *broker = open_automatic(rig, 2);

    rig_take(broker, 1);
    (void)rig_sequence(broker, "tmp-a");
    (void)rig_sequence(broker, "tmp-b");
    stores_go_down(rig, broker);
    (void)rig_sequence(broker, "tmp-c");
}

static enum seqb_status may_add_locked(struct queue *queue, const char *key)
{
    enum seqb_status status;

    pthread_rwlock_rdlock(&queue->catalog_lock);
    status = automatic_may_add(queue, key, NULL);
    pthread_rwlock_unlock(&queue->catalog_lock);
    return status;
}

/* Those that have numbers count, whatever the stores do. */
TEST_WITH(DIRECT, an_outage_raises_no_limit)
{
    struct rig_broker *broker = open_automatic(rig, 2);

    expect_number(broker, "tmp-1");
    expect_number(broker, "tmp-2");
    stores_go_down(rig, broker);
    expect_no_sequence(broker, "tmp-3", SEQB_UNKNOWN_KEY, "is reached");
    assert_int_not_equal(may_add_locked(broker->queue, "tmp-4"), SEQB_AGAIN);
}

TEST_WITH(DIRECT, keys_of_an_outage_are_bounded)
{
    struct rig_broker *broker = open_automatic(rig, 2);
    char key[16];

    stores_go_down(rig, broker);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(key, sizeof key, "tmp-%d", i);
        (void)rig_sequence(broker, key);
    }
    expect_no_sequence(broker, "tmp-x", SEQB_UNAVAILABLE, "no store answers");
    (void)rig_sequence(broker, "tmp-7");
}

static _Thread_local bool has_no_memory;

WRAPPED(bool, catalog_add, struct catalog *catalog,
        struct seqb_sequence *sequence)
{
    return !has_no_memory && __real_catalog_add(catalog, sequence);
}

TEST_WITH(DIRECT, key_that_there_is_no_memory_for_leaves_nothing)
{
    struct rig_broker *broker = open_automatic(rig, 1);
    struct seqb_sequence *sequence;

    has_no_memory = true;
    assert_fails(rig_find(broker, "tmp-1", &sequence, &failure), SEQB_NO_MEMORY,
                 "out of memory");
    has_no_memory = false;
    expect_number(broker, "tmp-1");
}

/* Their counters' names hold the stamp, too. */
TEST(key_with_a_period_is_shorter)
{
    static const char longest[] = "123456789.123456789.123456789.12345678.48"
                                  ".123456789";
    static const struct period_rules day = {.unit = PERIOD_DAY};
    const struct queue_sequence_options plain = {.period = NULL};
    const struct queue_sequence_options daily = {.period = &day};
    const char *const key = longest + sizeof longest - 1 - 48;

    assert_ok(automatic_check(&daily, key, NULL));
    assert_fails(automatic_check(&daily, key - 1, &failure), SEQB_INVALID,
                 "at most 48 characters");
    assert_ok(automatic_check(&plain, key - 1, NULL));
}

/* --- the first number --- */

static bool has_heard(struct ha_counter *counter, int32_t partition)
{
    bool has;

    pthread_mutex_lock(counter->pool->lock);
    has = (counter->claims_read >> partition & 1) != 0;
    pthread_mutex_unlock(counter->pool->lock);
    return has;
}

/* It may be claimed with other bits there. */
static void expect_all_are_asked_first(struct rig *rig,
                                       struct rig_broker *broker)
{
    struct ha_counter *counter;

    fake_hang(rig->stores[1]);
    counter = rig_sequence(broker, "tmp-a")->counter;
    assert_int_equal(ha_counter_ask(counter, 8, HA_ASK_ALL, clock_now_ms()), 0);
    assert_true(fake_wait_for_hanging(rig->stores[1], 1, RIG_PATIENCE_MS));
    RIG_AWAIT(has_heard(counter, 0));
    assert_int_equal(ha_counter_ask(counter, 8, HA_ASK_ALL, clock_now_ms()), 0);
    assert_int_equal(fake_value(rig->stores[0], "main/0/tmp-a"), -1);
    fake_release(rig->stores[1]);
    expect_number(broker, "tmp-a");
}

TEST_WITH(DIRECT, no_store_counts_a_new_key_before_the_others_were_asked)
{
    expect_all_are_asked_first(rig, open_automatic(rig, 3));
}

TEST_WITH(DIRECT, nor_one_that_is_new_after_a_reload)
{
    struct rig_broker *broker = open_automatic(rig, 3);
    struct queue_options options = rig->queue;
    struct queue_reload *reload = NULL;

    assert_ok(queue_prepare(broker->queue, &options, NULL, &reload, NULL));
    assert_ok(queue_commit(reload, NULL));
    queue_reload_free(reload);
    expect_all_are_asked_first(rig, broker);
    rig_close(broker); /* before its options are gone */
}

/* A probe is made with the counter that was asked for last. */
TEST_WITH(DIRECT, no_probe_counts_a_new_key_before_the_others_were_asked)
{
    struct rig_broker *broker;
    struct ha_counter *counter;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = open_automatic(rig, 3);
    fake_hang(rig->stores[1]);
    fake_fail(rig->stores[0], FAKE_CLAIM, 1, SEQB_UNREACHABLE);
    counter = rig_sequence(broker, "tmp-a")->counter;
    assert_int_equal(ha_counter_ask(counter, 8, HA_ASK_ALL, clock_now_ms()), 0);
    assert_true(fake_wait_for_hanging(rig->stores[1], 1, RIG_PATIENCE_MS));
    RIG_AWAIT(rig_partition(broker, 0).ejections == 1);
    rig_await_use(broker, 0);
    assert_int_equal(fake_value(rig->stores[0], "main/0/tmp-a"), -1);
    fake_release(rig->stores[1]);
    expect_number(broker, "tmp-a");
}

static void *advance(void *broker)
{
    struct seqb_error err;

    (void)queue_advance(((struct rig_broker *)broker)->queue, "tmp-a", 1000,
                        &err);
    return NULL;
}

TEST_WITH(DIRECT, no_advance_counts_a_new_key_before_the_others_were_asked)
{
    struct rig_broker *broker;
    struct ha_counter *counter;
    pthread_t thread;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = open_automatic(rig, 3);
    fake_hang(rig->stores[1]);
    counter = rig_sequence(broker, "tmp-a")->counter;
    assert_int_equal(pthread_create(&thread, NULL, advance, broker), 0);
    assert_true(fake_wait_for_hanging(rig->stores[1], 1, RIG_PATIENCE_MS));
    RIG_AWAIT(has_heard(counter, 0));
    assert_int_equal(fake_value(rig->stores[0], "main/0/tmp-a"), -1);
    fake_release(rig->stores[1]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(fake_value(rig->stores[0], "main/0/tmp-a") > 0);
    expect_number(broker, "tmp-a");
}

/* Asks as a refill does. */
static bool is_refused_by_first(struct ha_counter *counter)
{
    bool is_refused;

    (void)ha_counter_ask(counter, 8, HA_ASK_ALL, clock_now_ms());
    pthread_mutex_lock(counter->pool->lock);
    is_refused = counter->slots[0].refusal != NULL;
    pthread_mutex_unlock(counter->pool->lock);
    return is_refused;
}

static bool is_idle(struct ha_counter *counter)
{
    bool is_busy;

    pthread_mutex_lock(counter->pool->lock);
    is_busy = counter->slots[0].is_busy;
    pthread_mutex_unlock(counter->pool->lock);
    return !is_busy;
}

/* Whether partition 0, which refuses the counter, is tried again when the n-th
 * of its rests is over. */
static bool is_retried(struct ha_counter *counter, int n)
{
    struct ha_pool *pool = counter->pool;
    const int64_t now_ms = clock_now_ms() + (int64_t)n * RIG_FOREVER_MS;
    struct slot *slot;
    int64_t next_ms;

    pthread_mutex_lock(pool->lock);
    slot = slot_retry(pool, 0, now_ms, &next_ms);
    if (slot != NULL)
        slot->is_busy = worker_push(pool->workers[0], &slot->job);
    pthread_mutex_unlock(pool->lock);
    return slot != NULL;
}

static void set_heard(struct ha_counter *counter, int32_t partition, bool has)
{
    const uint64_t bit = (uint64_t)1 << partition;

    pthread_mutex_lock(counter->pool->lock);
    counter->claims_read =
        has ? counter->claims_read | bit : counter->claims_read & ~bit;
    pthread_mutex_unlock(counter->pool->lock);
}

/* A store that comes back knows nothing of the key, or other bits. */
TEST_WITH(DIRECT, no_retry_counts_a_key_before_a_store_that_came_back_was_asked)
{
    struct rig_broker *broker = open_automatic(rig, 3);
    struct ha_counter *counter;
    int n = 3; /* the worker may have begun a retry of its own */

    fake_refuse(rig->stores[0], FAKE_RESERVE, "main/0/tmp-a", SEQB_REFUSED);
    expect_number(broker, "tmp-a");
    counter = rig_sequence(broker, "tmp-a")->counter;
    RIG_AWAIT(is_refused_by_first(counter));
    RIG_AWAIT(is_retried(counter, 1));
    RIG_AWAIT(is_idle(counter));
    set_heard(counter, 1, false);
    assert_false(is_retried(counter, 2));
    set_heard(counter, 1, true);
    RIG_AWAIT(is_retried(counter, n++));
}

/* --- keys that the stores know --- */

/* Takes a number of a key that may have to be looked up. */
static void expect_known(struct rig_broker *broker, const char *key)
{
    struct seqb_sequence *sequence;
    struct seqb_error err;
    int64_t number;

    assert_int_equal(rig_find(broker, key, &sequence, &err), SEQB_OK);
    assert_ok(queue_next(sequence, &number, NULL));
    assert_true(number > 0);
}

static void known_above_the_limit(struct rig *rig)
{
    struct rig_broker *broker = open_automatic(rig, 3);

    expect_number(broker, "tmp-1");
    expect_number(broker, "tmp-2");
    expect_number(broker, "tmp-3");
    rig_close(broker);
    broker = open_automatic(rig, 1);
    expect_number(broker, "tmp-new");
    expect_known(broker, "tmp-1");
    expect_known(broker, "tmp-2");
    expect_no_sequence(broker, "tmp-newer", SEQB_UNKNOWN_KEY,
                       "limit of auto_sequences, 1, is reached");
    pthread_mutex_lock(&broker->queue->looks.lock);
    assert_int_equal(broker->queue->looks.waiting, 0);
    pthread_mutex_unlock(&broker->queue->looks.lock);
}

TEST_WITH(DIRECT, a_key_that_the_stores_know_is_admitted_above_the_limit)
{
    known_above_the_limit(rig);
}

TEST_WITH(WINDOWED, windowed_key_that_is_known_is_admitted_above_the_limit)
{
    known_above_the_limit(rig);
}

TEST_WITH(PERIOD, key_with_a_period_that_is_known_is_admitted_above_the_limit)
{
    fixture->rig->automatic.period = &fixture->rules;
    known_above_the_limit(fixture->rig);
}

static enum seqb_status add_locked(struct queue *queue, const char *key,
                                   struct seqb_error *err)
{
    struct seqb_sequence *sequence;
    enum seqb_status status;

    pthread_rwlock_wrlock(&queue->catalog_lock);
    status = automatic_add(queue, key, &sequence, err);
    pthread_rwlock_unlock(&queue->catalog_lock);
    return status;
}

/* Others may reach the limit while a caller waits for the catalog. */
TEST_WITH(DIRECT, limit_is_checked_with_the_catalog_locked)
{
    struct rig_broker *broker = open_automatic(rig, 1);

    expect_number(broker, "tmp-1");
    assert_fails(add_locked(broker->queue, "tmp-2", &failure), SEQB_UNAVAILABLE,
                 "the stores are asked");
    looks_shut(&broker->queue->looks);
    assert_fails(add_locked(broker->queue, "tmp-3", &failure), SEQB_CLOSED,
                 "the broker is closing");
    assert_int_equal(broker->queue->catalog.count, 2);
}

static int64_t claim_calls(const struct rig *rig)
{
    int64_t calls = 0;

    for (int i = 0; i < 4; i++)
        calls += fake_calls(rig->stores[i], FAKE_CLAIM);
    return calls;
}

/* However many keys come, each store is asked about one batch at a time. */
TEST_WITH(DIRECT, a_flood_of_unknown_keys_costs_few_calls)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err;
    int64_t before;
    char key[32];

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = open_automatic(rig, 1);
    expect_number(broker, "tmp-1");
    before = claim_calls(rig);
    for (int i = 0; i < 4; i++)
        fake_hang(rig->stores[i]);
    for (int i = 0; i < FLOOD; i++) {
        (void)snprintf(key, sizeof key, "tmp-flood-%d", i);
        assert_int_not_equal(queue_find(broker->queue, key, &sequence, &err),
                             SEQB_OK);
    }
    assert_true(claim_calls(rig) - before <= 4);
    rig_expect_words(err.text, "is reached");
    for (int i = 0; i < 4; i++)
        fake_release(rig->stores[i]);
    expect_no_sequence(broker, "tmp-last", SEQB_UNKNOWN_KEY, "is reached");
}

/* Four keys of the same hash are looked up at a time. */
TEST_WITH(DIRECT, key_that_is_looked_up_keeps_its_place)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;
    char key[32];
    int asked = 0;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = open_automatic(rig, 1);
    expect_number(broker, "tmp-1");
    for (int i = 0; i < 2; i++)
        fake_hang(rig->stores[i]);
    for (int i = 2; asked < 5; i++) {
        (void)snprintf(key, sizeof key, "tmp-%d", i);
        if (hash_text(key) % 256 != 0)
            continue;
        assert_int_equal(queue_find(broker->queue, key, &sequence, NULL),
                         ++asked <= 4 ? SEQB_UNAVAILABLE : SEQB_UNKNOWN_KEY);
    }
    for (int i = 0; i < 2; i++)
        fake_release(rig->stores[i]);
}
