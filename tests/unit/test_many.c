/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Very many sequences in one broker: what each costs, how they are admitted,
 * found and listed; and that keys which are none of them leave nothing behind.
 */

#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ha/startup.h"
#include "platform/text.h"
#include "support/events.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

#define IDLE_MOST 2048 /* bytes of an idle sequence */
#define LISTED    100
#define THREADS   4

static void be_automatic(struct rig *rig, const char *pattern, int64_t limit)
{
    rig->automatic.prefetch = true;
    rig_automatic(rig, pattern, limit);
}

static void make_sequences(struct rig_broker *broker, size_t first,
                           size_t count)
{
    char key[32];

    for (size_t i = first; i < first + count; i++) {
        (void)text_format(key, sizeof key, "order.%07zu", i);
        (void)rig_sequence(broker, key);
    }
}

#if SEQB_TEST_SCALE == 1 /* a sanitizer has its own notion of memory */
/* Bytes of this process in memory that are its own, as the kernel counts. */
static int64_t own_memory(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    int64_t kilobytes = -1;

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        (void)sscanf(line, "Private_Dirty: %" SCNd64, &kilobytes);
    (void)fclose(file);
    assert_true(kilobytes >= 0);
    return kilobytes * 1024;
}

/* Pages count as they are; enough sequences that a page more or less does not.
 */
static void expect_cheap(struct rig *rig)
{
    const size_t count = 10000;
    struct rig_broker *broker;
    int64_t before;
    int64_t each;

    be_automatic(rig, "*", 1000000);
    rig->automatic.max_unused = 1000000;
    broker = rig_open(rig);
    make_sequences(broker, 0, 1000);
    before = own_memory();
    make_sequences(broker, 1000, count);
    each = (own_memory() - before) / (int64_t)count;
    print_message("  %" PRId64 " bytes each\n", each);
    assert_true(each > 256);
    assert_true(each <= IDLE_MOST);
}

TEST_WITH(DIRECT, an_idle_sequence_costs_two_kilobytes_at_most)
{
    rig_shape(rig, RIG_DIRECT, 2);
    expect_cheap(rig);
}

TEST_WITH(WINDOWED, an_idle_one_of_windowed_partitions_too)
{
    rig_shape(rig, RIG_WINDOWED, 2);
    expect_cheap(rig);
}
#endif

/* --- admission --- */

struct listed {
    struct queue_sequence_options sequences[LISTED];
    char keys[LISTED][32];
};

static void list_many(struct rig *rig, struct listed *listed)
{
    for (size_t i = 0; i < LISTED; i++) {
        (void)text_format(listed->keys[i], sizeof listed->keys[i], "key.%zu",
                          i);
        listed->sequences[i] = rig->sequences[0];
        listed->sequences[i].key = listed->keys[i];
    }
    rig->queue.sequences = listed->sequences;
    rig->queue.sequence_count = LISTED;
}

TEST_WITH(DIRECT, each_store_claims_every_listed_sequence_once)
{
    struct listed listed;
    struct rig_broker *broker;
    int64_t claims[2];

    rig_close(rig_open(rig));
    for (size_t i = 0; i < 2; i++)
        claims[i] = fake_calls(rig->stores[i], FAKE_CLAIM);
    rig_close(rig_open(rig)); /* what a start claims besides its "order" */
    for (size_t i = 0; i < 2; i++)
        claims[i] = fake_calls(rig->stores[i], FAKE_CLAIM) - claims[i] - 1;
    list_many(rig, &listed);
    for (size_t i = 0; i < 2; i++)
        claims[i] += fake_calls(rig->stores[i], FAKE_CLAIM) + LISTED;
    broker = rig_open(rig);
    for (size_t i = 0; i < LISTED; i++)
        assert_ok(queue_next(rig_sequence(broker, listed.keys[i]),
                             &(int64_t){0}, NULL));
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(fake_calls(rig->stores[i], FAKE_CLAIM), claims[i]);
    rig_close(broker); /* before the options go */
}

TEST_WITH(DIRECT, a_start_that_takes_long_logs_how_far_it_is)
{
    struct rig_broker *broker;
    struct listed listed;

    rig_close(rig_open(rig));
    list_many(rig, &listed);
    fake_set_delay(rig->stores[1], 1 + 1200 / LISTED);
    events_start();
    broker = rig_open(rig);
    assert_true(
        events_count("event=comparing backend=b1 done=", " sequences=100") > 0);
    rig_close(broker);
}

TEST_WITH(DIRECT, one_of_many_with_other_bits_is_refused_alone)
{
    static const size_t odd[] = {0, LISTED / 2, LISTED - 1};
    struct seqb_sequence *sequence;
    struct rig_broker *broker;
    struct listed listed;

    list_many(rig, &listed);
    rig_close(rig_open(rig));
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        char words[64];

        listed.sequences[odd[i]].memory_bits++;
        (void)text_format(words, sizeof words, "sequence key.%zu in backend b",
                          odd[i]);
        broker = rig_open(rig);
        assert_fails(
            queue_find(broker->queue, listed.keys[odd[i]], &sequence, &failure),
            SEQB_LAYOUT, words);
        assert_ok(queue_next(rig_sequence(broker, listed.keys[1]),
                             &(int64_t){0}, NULL));
        rig_close(broker);
        listed.sequences[odd[i]].memory_bits--;
    }
    rig_close(rig_open(rig));
}

static void no_deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    (void)sink;
    (void)grant;
}

static void counters_make(struct rig_broker *broker, struct ha_sink *sink,
                          const int32_t *bits, size_t count,
                          struct ha_counter **out)
{
    for (size_t i = 0; i < count; i++)
        assert_ok(ha_counter_new(ha_pool_at(broker->ha, 0), "bill", bits[i],
                                 sink, &out[i], NULL));
}

/* It sees the others with their first grants. The last call looks whether
 * the pool was retired. */
TEST_WITH(DIRECT, a_store_that_fails_meanwhile_is_left_alone)
{
    static const int32_t bits[] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct rig_broker *broker = rig_open(rig);
    struct ha_sink sink = {no_deliver};
    struct ha_counter *counters[8];
    int64_t claims[2];

    counters_make(broker, &sink, bits, 8, counters);
    for (size_t i = 0; i < 2; i++)
        claims[i] = fake_calls(rig->stores[i], FAKE_CLAIM);
    fake_fail(rig->stores[1], FAKE_CLAIM, 1, SEQB_UNREACHABLE);
    assert_ok(ha_admit(broker->ha, counters, 8, NULL));
    assert_int_equal(fake_calls(rig->stores[0], FAKE_CLAIM), claims[0] + 9);
    assert_true(fake_calls(rig->stores[1], FAKE_CLAIM) < claims[1] + 9);
    for (size_t i = 0; i < 8; i++)
        ha_counter_free(counters[i]);
}

/* One stall, which cost no connection: it is well, and is asked the next time.
 */
TEST_WITH(DIRECT, a_store_that_was_too_slow_once_is_asked_again)
{
    static const int32_t bits[] = {1, 1};
    struct rig_broker *broker = rig_open(rig);
    struct ha_sink sink = {no_deliver};
    struct ha_counter *counters[2];
    int64_t claims;

    counters_make(broker, &sink, bits, 2, counters);
    fake_set_delay(rig->stores[1], 2200);
    assert_ok(ha_admit(broker->ha, &counters[0], 1, NULL));
    fake_set_delay(rig->stores[1], 0);
    rig_await_state(broker, 1, SEQB_PARTITION_UP);
    claims = fake_calls(rig->stores[1], FAKE_CLAIM);
    assert_ok(ha_admit(broker->ha, &counters[1], 1, NULL));
    /* Its claim, and whether the pool was retired, perhaps still for the first
     * one, too. */
    assert_in_range(fake_calls(rig->stores[1], FAKE_CLAIM), claims + 2,
                    claims + 3);
    for (size_t i = 0; i < 2; i++)
        ha_counter_free(counters[i]);
}

/* It is freed next, and a store may answer later than it is waited for. */
TEST_WITH(DIRECT, what_is_refused_is_looked_at_by_nobody)
{
    static const int32_t bits[] = {0, 1};
    struct rig_broker *broker = rig_open(rig);
    struct ha_sink sink = {no_deliver};
    struct ha_counter *counters[2];

    counters_make(broker, &sink, bits, 2, counters);
    assert_ok(ha_admit(broker->ha, &counters[0], 1, NULL));
    fake_set_delay(rig->stores[0], 2200);
    assert_fails(ha_admit(broker->ha, &counters[1], 1, &failure), SEQB_LAYOUT,
                 "was used with memory_bits=0");
    fake_set_delay(rig->stores[0], 0);
    rig_close(broker); /* its call may still be under way */
    for (size_t i = 0; i < 2; i++)
        ha_counter_free(counters[i]);
}

/* --- finding and listing --- */

struct finder {
    pthread_t thread;
    struct rig_broker *broker;
    struct seqb_sequence **found;
    size_t count;
};

static void *run_find(void *argument)
{
    struct finder *finder = argument;
    char key[32];

    for (size_t i = 0; i < finder->count; i++) {
        (void)text_format(key, sizeof key, "order.%07zu", i);
        if (queue_find(finder->broker->queue, key, &finder->found[i], NULL) !=
            SEQB_OK)
            finder->found[i] = NULL;
    }
    return NULL;
}

TEST_WITH(DIRECT, all_threads_find_the_same_while_they_are_listed)
{
    const size_t count = rig_scaled(3000);
    struct finder finders[THREADS];
    size_t listed = 0;

    be_automatic(rig, "order.*", 1000000);
    for (size_t i = 0; i < THREADS; i++) {
        finders[i].broker = i == 0 ? rig_open(rig) : finders[0].broker;
        finders[i].count = count;
        finders[i].found = calloc(count, sizeof(struct seqb_sequence *));
        assert_non_null(finders[i].found);
    }
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&finders[i].thread, NULL, run_find, &finders[i]), 0);
    while (listed < count + 1)
        queue_status(finders[0].broker->queue, NULL, 0, &listed);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(finders[i].thread, NULL), 0);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(finders[0].found[i]);
        for (size_t j = 1; j < THREADS; j++)
            assert_ptr_equal(finders[j].found[i], finders[0].found[i]);
    }
    queue_status(finders[0].broker->queue, NULL, 0, &listed);
    assert_int_equal(listed, count + 1);
    for (size_t i = 0; i < THREADS; i++)
        free(finders[i].found);
}

TEST_WITH(DIRECT, all_are_listed_once_in_the_order_of_making)
{
    static const size_t counts[] = {1, 255, 256, 257, 600};
    struct seqb_sequence_status *all = calloc(1000, sizeof *all);
    struct rig_broker *broker;
    size_t made = 0;
    size_t count;
    char key[32];

    assert_non_null(all);
    be_automatic(rig, "order.*", 1000000);
    rig->queue.sequence_count = 0;
    broker = rig_open(rig);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        make_sequences(broker, made, counts[i] - made);
        made = counts[i];
        queue_status(broker->queue, all, 1000, &count);
        assert_int_equal(count, made);
        for (size_t j = 0; j < count; j++) {
            (void)text_format(key, sizeof key, "order.%07zu", j);
            assert_string_equal(all[j].key, key);
        }
    }
    free(all);
}

/* --- keys that are none --- */

static int64_t all_calls(struct rig *rig)
{
    int64_t sum = 0;

    for (size_t i = 0; i < 2; i++) {
        for (int call = 0; call < FAKE_CALLS; call++)
            sum += fake_calls(rig->stores[i], (enum fake_call)call);
    }
    return sum;
}

/* Neither a sequence nor a call nor a byte. */
static void expect_nothing_of(struct rig *rig, struct rig_broker *broker,
                              const char *words)
{
    const int64_t calls = all_calls(rig);
    struct seqb_sequence *found = NULL;
    struct seqb_error err;
    size_t before;
    size_t bytes;
    size_t after;
    char key[32];

    queue_status(broker->queue, NULL, 0, &before);
    bytes = mallinfo2().uordblks;
    for (size_t i = 0; i < 500; i++) {
        (void)text_format(key, sizeof key, "wrong.%zu", i);
        assert_int_equal(queue_find(broker->queue, key, &found, &err),
                         SEQB_UNKNOWN_KEY);
        assert_null(found);
    }
    rig_expect_words(err.text, words);
    assert_true(mallinfo2().uordblks <= bytes);
    queue_status(broker->queue, NULL, 0, &after);
    assert_int_equal(after, before);
    assert_int_equal(all_calls(rig), calls);
}

TEST_WITH(DIRECT, unknown_keys_leave_nothing_where_none_makes_itself)
{
    expect_nothing_of(rig, rig_open(rig), "list it under sequences");
}

TEST_WITH(DIRECT, keys_that_match_no_pattern_leave_nothing)
{
    be_automatic(rig, "right.*", 1000);
    expect_nothing_of(rig, rig_open(rig), "let auto_sequences match it");
}

/* Beside the table of keys about which the stores are asked. */
#define TABLE_MAX ((size_t)256 << 10) /* bytes */

TEST_WITH(DIRECT, keys_beyond_the_limit_leave_no_sequence)
{
    struct seqb_sequence *found;
    struct rig_broker *broker;
    struct seqb_error err;
    size_t bytes;
    size_t count;
    char key[32];

    be_automatic(rig, "*", 2);
    broker = rig_open(rig);
    make_sequences(broker, 0, 2);
    bytes = mallinfo2().uordblks;
    for (size_t i = 0; i < 20000; i++) {
        (void)text_format(key, sizeof key, "wrong.%zu", i);
        assert_int_not_equal(queue_find(broker->queue, key, &found, &err),
                             SEQB_OK);
    }
    assert_fails(rig_find(broker, "wrong", &found, &failure), SEQB_UNKNOWN_KEY,
                 "the limit of auto_sequences, 2, is");
    assert_true(mallinfo2().uordblks <= bytes + TABLE_MAX);
    queue_status(broker->queue, NULL, 0, &count);
    assert_int_equal(count, 3);   /* with "order" */
    make_sequences(broker, 0, 2); /* those that are there, are */
}

/* Of a hundred thousand listed keys the first are compared, not all. */
TEST_WITH(DIRECT, a_hint_is_given_of_the_first_keys_alone)
{
    const size_t count = 20000;
    struct queue_sequence_options *many = calloc(count, sizeof *many);
    struct queue_options options = rig->queue;
    struct seqb_sequence *found;
    struct rig_broker *broker;

    assert_non_null(many);
    for (size_t i = 0; i < count; i++)
        many[i] = (struct queue_sequence_options){.key = "some.other.key"};
    many[3].key = "waybill";
    many[count - 1].key = "invoice";
    broker = rig_open(rig);
    rig->queue.sequences = many; /* hints are looked for in the options */
    rig->queue.sequence_count = count;
    assert_fails(queue_find(broker->queue, "waybil", &found, &failure),
                 SEQB_UNKNOWN_KEY, "did you mean 'waybill'?");
    assert_fails(queue_find(broker->queue, "invoic", &found, &failure),
                 SEQB_UNKNOWN_KEY, "list it under sequences");
    rig->queue = options;
    free(many);
}
