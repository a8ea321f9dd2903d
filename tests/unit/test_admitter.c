/* SPDX-License-Identifier: Apache-2.0 */
/* Automatic sequences that the stores are asked about before their first
 * number, and listed ones that wait for another pool. Nobody who looks up a key
 * waits for that. */
#include <pthread.h>
#include <stdatomic.h>

#include "ha/startup.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/thread.h"
#include "queue/queue_state.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/wrap.h"
#include "unit/flake_fixture.h"
#include "unit/period_fixture.h"
#include "unit/rig_shapes.h"

#define SHORT_MS  20
/* Longer than the spool rests between two searches. */
#define SEARCH_MS 1500

static struct rig_broker *open_automatic(struct rig *rig, int64_t limit)
{
    rig_automatic(rig, "tmp-*", limit);
    rig->automatic.claims_first = true;
    return rig_open(rig);
}

/* The stores take their time to answer, except at the start, whose calls come
 * from the test's own thread. */
static atomic_bool is_busy;
static pthread_t main_thread;
static atomic_int lacking; /* calls that ask no store, for want of memory */

WRAPPED(enum seqb_status, ha_admit, struct ha *ha,
        struct ha_counter *const *counters, size_t count,
        struct seqb_error *err)
{
    while (atomic_load(&is_busy) && !pthread_equal(pthread_self(), main_thread))
        thread_rest_us(1000);
    if (atomic_load(&lacking) > 0) {
        atomic_fetch_sub(&lacking, 1);
        return error_set(err, SEQB_NO_MEMORY, "scripted");
    }
    return __real_ha_admit(ha, counters, count, err);
}

/* The admitter rests between the stores' answer and what follows of it. */
static atomic_bool is_held, is_resting;

WRAPPED(enum seqb_status, ha_counter_availability, struct ha_counter *counter,
        struct seqb_error *err)
{
    while (atomic_load(&is_held) &&
           !pthread_equal(pthread_self(), main_thread)) {
        atomic_store(&is_resting, true);
        thread_rest_us(1000);
    }
    return __real_ha_counter_availability(counter, err);
}

static void begin_busy(void)
{
    main_thread = pthread_self();
    atomic_store(&is_busy, true);
}

static void end_busy(void)
{
    atomic_store(&is_busy, false);
}

/* A thread that looks up a key. */
struct lookup {
    struct rig_broker *broker;
    const char *key;
    pthread_t thread;
    atomic_bool is_done;
    struct seqb_sequence *sequence;
    enum seqb_status status;
};

static void *lookup_run(void *argument)
{
    struct lookup *lookup = argument;

    lookup->status =
        queue_find(lookup->broker->queue, lookup->key, &lookup->sequence, NULL);
    atomic_store(&lookup->is_done, true);
    return NULL;
}

/* While the stores are busy. They no longer are if it waits for them. */
static struct seqb_sequence *look_up(struct rig_broker *broker, const char *key)
{
    struct lookup lookup = {.broker = broker, .key = key};
    const int64_t until_ms = rig_patience_end();
    bool is_done = false;

    assert_int_equal(pthread_create(&lookup.thread, NULL, lookup_run, &lookup),
                     0);
    while (!is_done && clock_now_ms() < until_ms) {
        thread_rest_us(1000);
        is_done = atomic_load(&lookup.is_done);
    }
    if (!is_done)
        end_busy();
    pthread_join(lookup.thread, NULL);
    assert_true(is_done);
    assert_int_equal(lookup.status, SEQB_OK);
    return lookup.sequence;
}

static enum seqb_status try_one(struct seqb_sequence *sequence)
{
    return queue_try_next(sequence, &(int64_t){0}, NULL);
}

static enum seqb_status take_one(struct seqb_sequence *sequence,
                                 struct seqb_error *err)
{
    return queue_next(sequence, &(int64_t){0}, err);
}

/* None of its numbers comes before the stores have answered, and all do after
 * that. */
static void expect_admitted_first(struct rig_broker *broker)
{
    struct seqb_sequence *sequence;
    enum seqb_status tried;
    enum seqb_status taken;
    struct seqb_error err;

    begin_busy();
    sequence = look_up(broker, "tmp-a");
    (void)look_up(broker, "tmp-b");
    tried = try_one(sequence);
    taken = take_one(sequence, &err);
    end_busy();
    assert_int_equal(tried, SEQB_AGAIN);
    assert_int_not_equal(taken, SEQB_OK);
    RIG_AWAIT(take_one(sequence, &err) == SEQB_OK);
    RIG_AWAIT(try_one(sequence) == SEQB_OK);
}

TEST_WITH(DIRECT, look_up_does_not_wait_for_the_stores)
{
    rig->automatic.deadline_ms = SHORT_MS;
    expect_admitted_first(open_automatic(rig, 3));
}
TEST_ALSO(WINDOWED, look_up_does_not_wait_for_the_stores);

TEST_WITH(DIRECT, stores_that_could_not_be_asked_are_asked_again)
{
    struct rig_broker *broker = open_automatic(rig, 3);
    struct seqb_sequence *sequence;

    atomic_store(&lacking, 2);
    sequence = rig_sequence(broker, "tmp-a");
    RIG_AWAIT(sequence_admission(sequence) == SEQUENCE_ADMITTED);
    assert_int_equal(atomic_load(&lacking), 0);
}

/* They may know it by its earlier layout. */
TEST_WITH(DIRECT, stores_of_a_migrated_pool_are_asked_about_a_key_first)
{
    struct rig_broker *broker = open_automatic(rig, 3);
    struct ha_pool *pool = ha_pool_at(broker->ha, 0);
    struct seqb_sequence *usual;
    struct seqb_sequence *migrated;
    enum sequence_admission admissions[2];

    rig->automatic.claims_first = false;
    begin_busy();
    usual = look_up(broker, "tmp-a");
    pool->current.layout.generation = 2;
    migrated = look_up(broker, "tmp-b");
    pool->current.layout.generation = 1;
    admissions[0] = sequence_admission(usual);
    admissions[1] = sequence_admission(migrated);
    end_busy();
    assert_int_equal(admissions[0], SEQUENCE_ADMITTED);
    assert_int_equal(admissions[1], SEQUENCE_ADMITTING);
}

TEST_WITH(PERIOD, stamp_is_not_begun_before_the_stores_have_answered)
{
    struct rig *rig = fixture->rig;

    rig->automatic.period = &fixture->rules;
    rig->automatic.deadline_ms = SHORT_MS;
    expect_admitted_first(open_automatic(rig, 3));
}

/* It asks no store for its numbers, so that nothing else compares its claim. */
TEST_WITH(SNOWFLAKES, snowflake_is_admitted_before_its_first_number)
{
    struct rig_broker *broker;

    script_clock_run(clock_wall_us() / 1000);
    rig->automatic.snowflake = rig->sequences[0].snowflake;
    rig->automatic.memory_bits = 0;
    rig->automatic.deadline_ms = SHORT_MS;
    broker = open_automatic(rig, 3);
    rig_take(broker, 1); /* its pool has a worker id */
    expect_admitted_first(broker);
}

/* --- other pools --- */

static struct ha_pool_options two[2]; /* the teardown needs them */

static void add_store(struct rig *rig, const char *name, const char *path,
                      int32_t *out)
{
    const size_t i = rig->ha.backend_count++;

    rig->backends[i] = rig->backends[i - 1];
    rig->backends[i].ops = &backend_fake;
    rig->backends[i].options.name = name;
    rig->backends[i].options.path = path;
    *out = (int32_t)i;
}

/* A pool "other" of b2 and b3. b3 is away once the stores are made. */
static void add_pool(struct rig *rig)
{
    const size_t count = rig->queue.sequence_count;

    two[0] = rig->pool;
    two[1] = rig->pool;
    two[1].layout.name = "other";
    two[1].layout.bits = 1;
    two[1].layout.authority = -1;
    add_store(rig, "b2", "store-2", &two[1].layout.partitions[0]);
    add_store(rig, "b3", "store-3", &two[1].layout.partitions[1]);
    rig->ha.pools = two;
    rig->ha.pool_count = 2;
    rig->queue.sequence_count = 0;
    rig_close(rig_open(rig));
    rig->queue.sequence_count = count;
    rig->sequences[0].deadline_ms = SHORT_MS;
    fake_set_down(rig->stores[3], true);
}

/* "order", which is listed, has no number before that store was asked. */
static void expect_asked_first(struct rig *rig)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err;

    add_pool(rig);
    broker = rig_open(rig);
    sequence = rig_sequence(broker, "order");
    assert_fails(queue_try_next(sequence, &(int64_t){0}, &failure),
                 SEQB_UNAVAILABLE, "backend b3 of pool other cannot be asked");
    assert_fails(take_one(sequence, &failure), SEQB_UNAVAILABLE,
                 "backend b3 of pool other cannot be asked");
    RIG_AWAIT(admitter_waiting(broker->queue) == 1);
    fake_set_down(rig->stores[3], false);
    RIG_AWAIT(take_one(sequence, &err) == SEQB_OK);
    RIG_AWAIT(admitter_waiting(broker->queue) == 0);
}

TEST_WITH(DIRECT, sequence_waits_for_another_pool)
{
    expect_asked_first(rig);
}

TEST_WITH(PERIOD, stamp_is_not_begun_before_another_pool_has_answered)
{
    expect_asked_first(fixture->rig);
}

TEST_WITH(SNOWFLAKES, snowflake_waits_for_another_pool)
{
    script_clock_run(clock_wall_us() / 1000);
    expect_asked_first(rig);
}

static void become_ready(void *context)
{
    atomic_store((atomic_bool *)context, true);
}

/* "tmp-a" is used with other codes than those of the next broker. */
static void use_other(struct rig *rig)
{
    rig->automatic.attributes = " shuffle=10/0123456789abcdef";
    assert_ok(take_one(rig_sequence(open_automatic(rig, 3), "tmp-a"), NULL));
    RIG_AWAIT(rig_status(&rig->brokers[0], "tmp-a").stock > 0);
    rig_close(&rig->brokers[0]);
    rig->automatic.attributes = " shuffle=10/fedcba9876543210";
}

TEST_WITH(DIRECT, refusal_is_told_to_those_who_wait)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;
    atomic_bool is_ready = false;
    enum seqb_status tried;
    struct seqb_error err;

    use_other(rig);
    broker = open_automatic(rig, 3);
    begin_busy();
    sequence = look_up(broker, "tmp-a");
    sequence->source->on_ready(sequence, become_ready, &is_ready);
    tried = try_one(sequence);
    end_busy();
    assert_int_equal(tried, SEQB_AGAIN);
    RIG_AWAIT(atomic_load(&is_ready));
    assert_int_equal(try_one(sequence), SEQB_LAYOUT);
    assert_fails(take_one(sequence, &failure), SEQB_LAYOUT,
                 "shuffle=10/0123456789abcdef");
    err.text[0] = '\0';
    /* The stores' answer is known a moment before the admitter has noted it. */
    RIG_AWAIT(queue_find(broker->queue, "tmp-a", &sequence, &err) ==
              SEQB_LAYOUT);
    rig_expect_words(err.text, "shuffle=10/0123456789abcdef");
}

TEST_WITH(DIRECT, refused_one_does_not_count_against_the_limit)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err;

    use_other(rig);
    broker = open_automatic(rig, 3);
    RIG_AWAIT(queue_find(broker->queue, "tmp-a", &sequence, NULL) ==
              SEQB_LAYOUT);
    assert_ok(take_one(rig_sequence(broker, "tmp-1"), &err));
    assert_ok(take_one(rig_sequence(broker, "tmp-2"), &err));
    assert_ok(take_one(rig_sequence(broker, "tmp-3"), &err));
    assert_int_equal(rig_find(broker, "tmp-4", &sequence, &err),
                     SEQB_UNKNOWN_KEY);
}

static void reload(struct rig_broker *broker,
                   const struct queue_options *options)
{
    struct queue_reload *reload = NULL;

    assert_ok(queue_prepare(broker->queue, options, NULL, &reload, NULL));
    assert_ok(queue_commit(reload, NULL));
    queue_reload_free(reload);
}

/* A reload, meanwhile, makes it a listed one, or none. It counted both. */
static void expect_counted_once(struct rig *rig, bool is_listed)
{
    static struct queue_sequence_options listed[2]; /* outlive the test */
    static struct queue_options options;
    struct rig_broker *broker;
    struct seqb_sequence *sequence;

    use_other(rig);
    broker = open_automatic(rig, 3);
    listed[0] = rig->sequences[0];
    listed[1] = rig->automatic;
    listed[1].key = "tmp-a";
    options = rig->queue;
    options.auto_pattern = "x-*";
    options.sequences = listed;
    options.sequence_count = is_listed ? 2 : 1;
    main_thread = pthread_self();
    atomic_store(&is_held, true);
    assert_ok(queue_find(broker->queue, "tmp-a", &sequence, NULL));
    RIG_AWAIT(atomic_load(&is_resting));
    reload(broker, &options);
    atomic_store(&is_held, false);
    RIG_AWAIT(sequence_admission(sequence) == SEQUENCE_REFUSED);
    assert_int_equal(broker->queue->automatic, 0);
}

TEST_WITH(DIRECT, refused_one_that_was_removed_is_not_counted_again)
{
    expect_counted_once(rig, false);
}

TEST_WITH(DIRECT, refused_one_that_was_listed_is_not_counted_again)
{
    expect_counted_once(rig, true);
}

TEST_WITH(DIRECT, sequence_is_refused_once_the_admitter_has_stopped)
{
    struct rig_broker *broker = open_automatic(rig, 3);
    struct seqb_sequence *sequence = NULL;

    admitter_stop(&broker->queue->admitter);
    assert_int_equal(queue_find(broker->queue, "tmp-a", &sequence, NULL),
                     SEQB_CLOSED);
    assert_false(broker->queue->admitter.is_started);
    assert_int_equal(broker->queue->automatic, 0);
    assert_null(queue_peek(broker->queue, "tmp-a"));
}

/* Whatever became of it since the stores were asked. */
TEST_WITH(DIRECT, key_that_stores_know_is_added_once_if_at_all)
{
    struct queue *queue = open_automatic(rig, 3)->queue;

    automatic_add_known(queue, "tmp-a");
    automatic_add_known(queue, "tmp-a");
    automatic_add_known(queue, "other");
    looks_shut(&queue->looks);
    automatic_add_known(queue, "tmp-b");
    assert_int_equal(queue->automatic, 1);
}

TEST_WITH(DIRECT, advance_waits_until_the_sequence_is_admitted)
{
    enum seqb_status advanced;
    struct rig_broker *broker;
    struct seqb_error err;

    rig->automatic.deadline_ms = SHORT_MS;
    broker = open_automatic(rig, 3);
    begin_busy();
    (void)look_up(broker, "tmp-a");
    advanced = queue_advance(broker->queue, "tmp-a", 1000, &err);
    end_busy();
    assert_int_equal(advanced, SEQB_UNAVAILABLE);
    RIG_AWAIT(queue_advance(broker->queue, "tmp-a", 1000, &err) == SEQB_OK);
}

/* The stores' answer does not matter any more. */
TEST_WITH(DIRECT, advance_does_not_wait_for_a_sequence_that_was_taken_out)
{
    struct seqb_sequence *sequence;
    enum seqb_status waited;
    struct rig_broker *broker;
    struct seqb_error err;

    rig->automatic.deadline_ms = SHORT_MS;
    broker = open_automatic(rig, 3);
    begin_busy();
    sequence = look_up(broker, "tmp-a");
    sequence_remove(sequence, false);
    waited = admitter_wait(sequence, &err);
    end_busy();
    assert_status(waited, SEQB_UNKNOWN_KEY);
}

/* The spool has numbers of "tmp-a" with other codes. If `is_made_later`, the
 * start does not make the sequence. */
static void expect_no_other_codes(struct rig *rig, bool is_made_later)
{
    struct rig_broker *broker;
    enum seqb_status taken;
    struct seqb_error err;

    rig->queue.spool_path = rig_file(rig, "spool");
    rig->automatic.deadline_ms = SEARCH_MS;
    use_other(rig);
    begin_busy();
    broker = open_automatic(rig, is_made_later ? 0 : 3);
    rig->queue.auto_limit = 3;
    taken = take_one(look_up(broker, "tmp-a"), &err);
    end_busy();
    assert_int_not_equal(taken, SEQB_OK);
}

TEST_WITH(DIRECT, start_takes_no_spooled_numbers_of_a_sequence_not_admitted)
{
    expect_no_other_codes(rig, false);
}

TEST_WITH(DIRECT, nor_does_a_call_that_waits_for_numbers)
{
    expect_no_other_codes(rig, true);
}

/* The stores grant nothing more. */
TEST_WITH(DIRECT, spooled_numbers_are_issued_once_the_stores_have_answered)
{
    struct rig_broker *broker;

    rig->queue.spool_path = rig_file(rig, "spool");
    broker = open_automatic(rig, 3);
    assert_ok(take_one(rig_sequence(broker, "tmp-a"), NULL));
    RIG_AWAIT(rig_status(broker, "tmp-a").stock > 0);
    rig_close(broker);
    fake_refuse(rig->stores[0], FAKE_RESERVE, "main/0/tmp-a", SEQB_REFUSED);
    fake_refuse(rig->stores[1], FAKE_RESERVE, "main/1/tmp-a", SEQB_REFUSED);
    assert_ok(take_one(rig_sequence(open_automatic(rig, 3), "tmp-a"), NULL));
}
