/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys beyond the limit of auto_sequences, over stores, a clock and a thread
 * that are scripted: the thread's function runs on the test's own, until it
 * waits for keys.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/hash.h"
#include "platform/thread.h"
#include "queue/queue_state.h"
#include "support/failure.h"
#include "support/test.h"
#include "support/wrap.h"

#define POOL    3 /* of automatic sequences */
#define KEEP_MS 5000
#define REST_MS INT64_C(100)
#define SETS    256
#define WAYS    4
#define BATCH   HA_KNOWN_MAX

static struct {
    struct queue *queue;
    void *(*run)(void *argument); /* of the thread */
    int starts, joins, signals, waits, rests, freed, conditions;
    int64_t now_ms, woken_ms;
    enum seqb_status start;
    bool lacks_memory;
    bool stops_at_rest;
    size_t calls;              /* of the stores */
    size_t asked;              /* keys, in all */
    char keys[BATCH + 1][32];  /* the last call's, then "" */
    char added[BATCH * 2][32]; /* in turn */
    size_t adds;
} script;

WRAPPED(void *, calloc, size_t count, size_t size)
{
    return script.lacks_memory ? NULL : __real_calloc(count, size);
}

WRAPPED(void, free, void *memory)
{
    script.freed += script.queue != NULL && memory != NULL &&
                    memory == script.queue->looks.table;
    __real_free(memory);
}

WRAPPED(int64_t, clock_now_ms, void)
{
    return script.now_ms;
}

WRAPPED(enum seqb_status, thread_start, pthread_t *out, const char *name,
        void *(*run)(void *argument), void *argument, struct seqb_error *err)
{
    (void)out;
    assert_string_equal(name, "seqb:look");
    assert_ptr_equal(argument, script.queue);
    script.run = run;
    script.starts++;
    return script.start == SEQB_OK ? SEQB_OK
                                   : error_set(err, script.start, "no thread");
}

WRAPPED(int, pthread_join, pthread_t thread, void **out)
{
    (void)thread;
    (void)out;
    script.joins++;
    return 0;
}

WRAPPED(void, condition_init, pthread_cond_t *condition)
{
    script.conditions += condition == &script.queue->looks.changed;
    __real_condition_init(condition);
}

WRAPPED(int, pthread_cond_signal, pthread_cond_t *condition)
{
    script.signals += condition == &script.queue->looks.changed;
    return 0;
}

/* It has no more to do: ends. */
WRAPPED(int, pthread_cond_wait, pthread_cond_t *condition,
        pthread_mutex_t *lock)
{
    assert_ptr_equal(condition, &script.queue->looks.changed);
    assert_int_equal(pthread_mutex_trylock(lock), EBUSY);
    script.waits++;
    script.queue->looks.is_stopping = true;
    return 0;
}

/* Wakes too early once. */
WRAPPED(bool, condition_wait, pthread_cond_t *condition, pthread_mutex_t *lock,
        int64_t until_ms)
{
    assert_ptr_equal(condition, &script.queue->looks.changed);
    assert_int_equal(pthread_mutex_trylock(lock), EBUSY);
    script.rests++;
    if (until_ms == script.woken_ms) {
        script.now_ms = until_ms;
        return false;
    }
    script.woken_ms = until_ms;
    assert_int_equal(until_ms, script.now_ms + REST_MS);
    script.queue->looks.is_stopping = script.stops_at_rest;
    return true;
}

WRAPPED(struct ha_pool *, ha_pool_at, struct ha *ha, size_t i)
{
    assert_ptr_equal(ha, &script);
    assert_int_equal(i, POOL);
    return (struct ha_pool *)&script.queue;
}

/* They know the keys that begin with a capital letter. */
WRAPPED(void, ha_known, struct ha *ha, struct ha_pool *pool,
        const char *const *keys, size_t count, bool *is_known)
{
    assert_ptr_equal(ha, &script);
    assert_ptr_equal(pool, &script.queue);
    assert_int_equal(pthread_mutex_trylock(&script.queue->admit_lock), EBUSY);
    assert_in_range(count, 1, BATCH);
    script.calls++;
    script.asked += count;
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(script.keys[i], sizeof script.keys[i], "%s", keys[i]);
        is_known[i] = keys[i][0] >= 'A' && keys[i][0] <= 'Z';
    }
    script.keys[count][0] = '\0';
}

static void add(struct queue *queue, const char *key)
{
    assert_ptr_equal(queue, script.queue);
    (void)snprintf(script.added[script.adds++], sizeof script.added[0], "%s",
                   key);
}

struct fixture {
    struct queue queue;
    struct queue_options options;
    struct queue_sequence_options automatic;
};

static int setup(void **state)
{
    static struct fixture fixture;

    memset(&script, 0, sizeof script);
    memset(&fixture, 0, sizeof fixture);
    fixture.automatic.pool = POOL;
    fixture.options.automatic = &fixture.automatic;
    fixture.options.auto_limit = 7;
    fixture.queue.options = &fixture.options;
    fixture.queue.ha = (struct ha *)&script;
    pthread_rwlock_init(&fixture.queue.catalog_lock, NULL);
    pthread_mutex_init(&fixture.queue.admit_lock, NULL);
    script.queue = &fixture.queue;
    script.now_ms = 1000;
    looks_init(&fixture.queue.looks, add);
    assert_int_equal(script.conditions, 1);
    *state = &fixture.queue;
    return 0;
}

static int teardown(void **state)
{
    struct queue *queue = *state;
    const int tables = queue->looks.table != NULL;

    looks_fini(&queue->looks);
    assert_int_equal(script.freed, tables);
    script.queue = NULL;
    return 0;
}

#define QUEUE FIXTURE(struct queue *queue, setup, teardown)

static void expect_asked(struct queue *queue, const char *key, size_t waiting)
{
    assert_status(looks_ask(queue, key, NULL), SEQB_UNAVAILABLE);
    assert_int_equal(queue->looks.waiting, waiting);
}

static void expect_refused(struct queue *queue, const char *key)
{
    const size_t waiting = queue->looks.waiting;

    assert_status(looks_ask(queue, key, NULL), SEQB_UNKNOWN_KEY);
    assert_int_equal(queue->looks.waiting, waiting);
}

/* Until it waits for keys. The next test of the queue goes on. */
static void run(struct queue *queue)
{
    assert_null(script.run(queue));
    assert_int_equal(pthread_mutex_trylock(&queue->admit_lock), 0);
    pthread_mutex_unlock(&queue->admit_lock);
    assert_int_equal(pthread_rwlock_trywrlock(&queue->catalog_lock), 0);
    pthread_rwlock_unlock(&queue->catalog_lock);
    queue->looks.is_stopping = false;
}

TEST_WITH(QUEUE, key_is_asked_about_once)
{
    assert_fails(looks_ask(queue, "a", &failure), SEQB_UNAVAILABLE,
                 "sequence a is not there yet: the limit of auto_sequences, 7");
    expect_asked(queue, "a", 1);
    expect_asked(queue, "B", 2);
    assert_int_equal(script.starts, 1);
    assert_int_equal(script.signals, 2);
    run(queue);
    assert_int_equal(script.calls, 1);
    assert_int_equal(script.asked, 2);
    assert_int_equal(script.adds, 1);
    assert_string_equal(script.added[0], "B");
    assert_int_equal(script.waits, 1);
    assert_int_equal(script.rests, 2); /* it was woken too early */
}

/* A key that they know should have its sequence by now. */
TEST_WITH(QUEUE, key_that_is_unknown_is_refused_for_a_while)
{
    const int64_t asked_ms = script.now_ms;

    expect_asked(queue, "a", 1);
    expect_asked(queue, "B", 2);
    run(queue);
    assert_fails(looks_ask(queue, "a", &failure), SEQB_UNKNOWN_KEY,
                 "unknown sequence 'a', and the limit of auto_sequences, 7, ");
    script.now_ms = asked_ms + KEEP_MS - 1;
    expect_refused(queue, "a");
    script.now_ms++;
    expect_asked(queue, "a", 1);
    expect_asked(queue, "B", 2);
    run(queue);
    assert_int_equal(script.asked, 4);
    assert_int_equal(script.adds, 2);
    assert_int_equal(script.starts, 1);
}

/* The i-th key of those with a hash, which begins with `letter`. */
static const char *key_of_set(char letter, size_t set, int i)
{
    static char key[32];

    for (int n = 0; i >= 0; n++) {
        (void)snprintf(key, sizeof key, "%c%d", letter, n);
        i -= hash_text(key) % SETS == set;
    }
    return key;
}

/* The first ones that were refused make room for others. */
TEST_WITH(QUEUE, hash_has_room_for_four_keys)
{
    for (int i = 0; i < WAYS; i++)
        expect_asked(queue, key_of_set('a', SETS - 1, i), (size_t)i + 1);
    expect_refused(queue, key_of_set('a', SETS - 1, WAYS));
    expect_asked(queue, key_of_set('a', 0, 0), WAYS + 1);
    run(queue);
    assert_int_equal(script.asked, WAYS + 1);
    script.now_ms += KEEP_MS;
    for (int i = WAYS - 1; i >= 0; i--) { /* in turn, at other times */
        expect_asked(queue, key_of_set('a', SETS - 1, i), 1);
        run(queue);
    }
    expect_asked(queue, key_of_set('b', SETS - 1, 0), 1); /* for the 4th */
    for (int i = 0; i < WAYS - 1; i++)
        expect_refused(queue, key_of_set('a', SETS - 1, i));
    expect_asked(queue, key_of_set('a', SETS - 1, WAYS - 1), 2); /* for a 3rd */
    expect_asked(queue, key_of_set('C', SETS - 1, 0), 3);
    expect_asked(queue, key_of_set('b', SETS - 1, 1), 4);
    expect_refused(queue, key_of_set('D', SETS - 1, 0));
    run(queue);
    /* The place of the known one is free. */
    expect_asked(queue, key_of_set('d', SETS - 1, 0), 1);
    expect_refused(queue, key_of_set('b', SETS - 1, 0));
    expect_refused(queue, key_of_set('b', SETS - 1, 1));
    expect_refused(queue, key_of_set('a', SETS - 1, WAYS - 1));
}

static int find_key(const char *key)
{
    int i = 0;

    while (script.keys[i][0] != '\0' && strcmp(script.keys[i], key) != 0)
        i++;
    return script.keys[i][0] == '\0' ? -1 : i;
}

/* A call of each store, and then a rest. It goes on behind the last batch, so
 * that the first keys of the table do not hold up the others. */
TEST_WITH(QUEUE, keys_are_asked_about_in_batches)
{
    for (size_t set = 0; set <= BATCH; set++)
        expect_asked(queue, key_of_set('a', set, 0), set + 1);
    script.stops_at_rest = true;
    run(queue);
    assert_int_equal(script.asked, BATCH);
    assert_int_equal(queue->looks.waiting, 1);
    assert_int_equal(find_key(key_of_set('a', BATCH - 1, 0)), BATCH - 1);
    script.now_ms++;
    expect_asked(queue, key_of_set('a', 0, 1), 2);
    run(queue);
    assert_int_equal(script.asked, BATCH + 2);
    assert_int_equal(find_key(key_of_set('a', BATCH, 0)), 0);
    assert_int_equal(find_key(key_of_set('a', 0, 1)), 1);
    assert_int_equal(script.calls, 2);
    assert_int_equal(script.rests, 2);
    assert_int_equal(script.waits, 0);
}

TEST_WITH(QUEUE, thread_rests_between_two_batches)
{
    const int64_t from_ms = script.now_ms;

    for (size_t set = 0; set <= BATCH; set++)
        expect_asked(queue, key_of_set('a', set, 0), set + 1);
    run(queue);
    assert_int_equal(script.calls, 2);
    assert_int_equal(script.rests, 4);
    assert_int_equal(script.now_ms, from_ms + 2 * REST_MS);
}

/* The place just before the one where it goes on. */
TEST_WITH(QUEUE, last_place_of_the_table_is_looked_at)
{
    for (size_t set = 0; set < BATCH; set++)
        expect_asked(queue, key_of_set('a', set, 0), set + 1);
    run(queue);
    script.now_ms += KEEP_MS;
    expect_asked(queue, key_of_set('a', BATCH - 1, 0), 1);
    run(queue);
    assert_int_equal(script.asked, BATCH + 1);
}

/* A reload has taken auto_sequences out. */
TEST_WITH(QUEUE, no_store_is_asked_without_automatic_sequences)
{
    struct queue_options without = *queue->options;

    without.automatic = NULL;
    queue->options = &without;
    expect_asked(queue, "B", 1);
    run(queue);
    assert_int_equal(script.calls, 0);
    assert_int_equal(script.adds, 0);
    expect_refused(queue, "B");
}

TEST_WITH(QUEUE, nothing_is_asked_after_the_end)
{
    expect_asked(queue, "B", 1);
    assert_false(looks_are_shut(&queue->looks));
    looks_shut(&queue->looks);
    assert_true(looks_are_shut(&queue->looks));
    assert_fails(looks_ask(queue, "a", &failure), SEQB_CLOSED,
                 "the broker is closing");
    assert_int_equal(queue->looks.waiting, 1);
    assert_null(script.run(queue));
    assert_int_equal(script.calls + (size_t)script.waits, 0);
    looks_stop(&queue->looks);
    looks_stop(&queue->looks);
    assert_int_equal(script.joins, 1);
    assert_true(looks_are_shut(&queue->looks));
}

TEST_WITH(QUEUE, queue_that_never_asked_stops)
{
    looks_stop(&queue->looks);
    assert_int_equal(script.joins, 0);
    assert_true(looks_are_shut(&queue->looks));
    assert_int_equal(script.signals, 1);
}

TEST_WITH(QUEUE, memory_or_a_thread_may_be_short)
{
    script.lacks_memory = true;
    assert_fails(looks_ask(queue, "a", &failure), SEQB_NO_MEMORY,
                 "queue: out of memory");
    script.lacks_memory = false;
    assert_int_equal(script.starts, 0);
    script.start = SEQB_NO_MEMORY;
    assert_fails(looks_ask(queue, "a", &failure), SEQB_NO_MEMORY, "no thread");
    assert_int_equal(queue->looks.waiting, 0);
    looks_stop(&queue->looks);
    assert_int_equal(script.joins, 0);
    queue->looks.is_stopping = false;
    script.start = SEQB_OK;
    expect_asked(queue, "a", 1);
    assert_int_equal(script.starts, 2);
    run(queue);
    assert_int_equal(script.asked, 1);
}
