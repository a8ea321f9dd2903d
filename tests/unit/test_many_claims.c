/* SPDX-License-Identifier: Apache-2.0 */
/* Claims of many sequences in one call of a store, of which something fails. */
#include <pthread.h>

#include "ha/ha.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"

#define LISTED 100

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

static void no_deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    (void)sink;
    (void)grant;
}

/* Of counters that a store is asked of in one call. */
static void listed_claim(size_t i, char out[SEQB_COUNTER_SIZE])
{
    (void)text_format(out, SEQB_COUNTER_SIZE, "sequence/main/key.%zu", i);
}

static void expect_claims(struct fake_store *store, size_t but)
{
    for (size_t i = 0; i < LISTED; i++) {
        char name[SEQB_COUNTER_SIZE];
        char text[64];

        listed_claim(i, name);
        fake_claim_text(store, name, text, sizeof text);
        assert_string_equal(text, i == but ? "" : "memory_bits=2");
    }
}

/* The store says no more of those that were asked of with it: they are asked of
 * alone. */
TEST_WITH(DIRECT, one_that_a_store_refuses_among_many_hides_no_other)
{
    static const size_t refused = LISTED / 2;
    static const size_t odd = LISTED / 2 + 3;
    struct seqb_sequence *sequence;
    char name[SEQB_COUNTER_SIZE];
    struct rig_broker *broker;
    struct seqb_error err;
    struct listed listed;

    rig_close(rig_open(rig));
    list_many(rig, &listed);
    listed_claim(refused, name);
    fake_refuse(rig->stores[1], FAKE_CLAIM, name, SEQB_REFUSED);
    listed_claim(odd, name);
    fake_claim_put(rig->stores[1], name, "memory_bits=7");
    broker = rig_open(rig);
    assert_fails(
        queue_find(broker->queue, listed.keys[odd], &sequence, &failure),
        SEQB_LAYOUT, "in backend b1 was used with memory_bits=7");
    rig_expect_words(failure.text, "put the settings back");
    for (size_t i = 0; i < LISTED; i++) {
        if (i != odd)
            assert_ok(queue_next(rig_sequence(broker, listed.keys[i]),
                                 &(int64_t){0}, &err));
    }
    fake_claim_put(rig->stores[1], name, "memory_bits=2");
    expect_claims(rig->stores[1], refused);
    rig_close(broker);
    listed_claim(refused, name);
    fake_refuse(rig->stores[1], FAKE_CLAIM, name, SEQB_OK);
    rig_close(rig_open(rig));
    for (size_t i = 0; i < 2; i++)
        expect_claims(rig->stores[i], LISTED);
}

TEST_WITH(DIRECT, each_of_many_claims_what_it_is)
{
    static const char *const more[] = {" ids=1", "", ""};
    struct listed listed;

    list_many(rig, &listed);
    for (size_t i = 0; i < LISTED; i++) {
        listed.sequences[i].memory_bits = (int32_t)(i / 4 % 2);
        listed.sequences[i].attributes = more[i % 3];
    }
    rig_close(rig_open(rig));
    for (size_t i = 0; i < LISTED; i++) {
        char name[SEQB_COUNTER_SIZE];
        char expected[64];
        char text[64];

        listed_claim(i, name);
        fake_claim_text(rig->stores[0], name, text, sizeof text);
        (void)text_format(expected, sizeof expected, "memory_bits=%d%s",
                          (int)(i / 4 % 2), more[i % 3]);
        assert_string_equal(text, expected);
    }
}

/* --- while the broker closes --- */

#define VISITED 3000 /* more than one call of a store asks about */

struct visited {
    struct ha *ha;
    struct ha_counter *counters[VISITED];
};

static void *visited_run(void *argument)
{
    struct visited *visited = argument;

    (void)ha_admit(visited->ha, visited->counters, VISITED, NULL);
    return NULL;
}

/* Nobody waits for the rest, and a stop has other questions to that store. */
TEST_WITH(ONE_DIRECT, claims_end_at_their_next_step_when_the_broker_closes)
{
    struct ha_sink sink = {.deliver = no_deliver};
    struct visited visited;
    struct rig_broker *broker;
    pthread_t thread;
    int64_t before;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    visited.ha = broker->ha;
    for (size_t i = 0; i < VISITED; i++) {
        char key[32];

        (void)text_format(key, sizeof key, "visited.%zu", i);
        assert_ok(ha_counter_new(ha_pool_at(broker->ha, 0), key, 2, &sink,
                                 &visited.counters[i], NULL));
    }
    before = fake_calls(rig->stores[0], FAKE_CLAIM);
    fake_hang(rig->stores[0]);
    assert_int_equal(pthread_create(&thread, NULL, visited_run, &visited), 0);
    assert_true(fake_wait_for_hanging(rig->stores[0], 1, RIG_PATIENCE_MS));
    ha_end_waits(broker->ha, clock_now_ms());
    pthread_join(thread, NULL);
    fake_release(rig->stores[0]);
    rig_close(broker);
    assert_true(fake_calls(rig->stores[0], FAKE_CLAIM) - before < VISITED);
    for (size_t i = 0; i < VISITED; i++)
        ha_counter_free(visited.counters[i]);
}

static void distinct_make(struct rig_broker *broker, struct ha_sink *sink,
                          int32_t bits, struct ha_counter **out)
{
    for (size_t i = 0; i < 8; i++) {
        char key[32];

        (void)text_format(key, sizeof key, "key.%zu", i);
        assert_ok(ha_counter_new(ha_pool_at(broker->ha, 0), key, bits, sink,
                                 &out[i], NULL));
    }
}

/* What it has claimed stands, and it goes on from there. */
TEST_WITH(DIRECT, a_store_that_is_lost_among_many_goes_on_with_the_next_start)
{
    struct rig_broker *broker = rig_open(rig);
    struct ha_sink sink = {no_deliver};
    struct ha_counter *first[8];
    struct ha_counter *other[8];
    struct ha_counter *next[8];
    char text[64];

    distinct_make(broker, &sink, 0, first);
    distinct_make(broker, &sink, 3, other);
    distinct_make(broker, &sink, 0, next);
    fake_lose_answers(rig->stores[1], FAKE_CLAIM, 1);
    assert_ok(ha_admit(broker->ha, first, 8, NULL));
    fake_claim_text(rig->stores[1], "sequence/main/key.0", text, sizeof text);
    assert_string_equal(text, "memory_bits=0");
    fake_claim_text(rig->stores[1], "sequence/main/key.1", text, sizeof text);
    assert_string_equal(text, "");
    rig_await_state(broker, 1, SEQB_PARTITION_UP);
    assert_fails(ha_admit(broker->ha, other, 8, &failure), SEQB_LAYOUT,
                 "was used with memory_bits=0");
    assert_ok(ha_admit(broker->ha, next, 8, NULL));
    for (size_t i = 0; i < 8; i++) {
        ha_counter_free(first[i]);
        ha_counter_free(other[i]);
        ha_counter_free(next[i]);
    }
}

TEST_WITH(DIRECT, one_that_was_refused_before_hides_no_other)
{
    struct rig_broker *broker = rig_open(rig);
    struct ha_sink sink = {no_deliver};
    struct ha_counter *counters[8];
    struct seqb_error err;

    distinct_make(broker, &sink, 0, counters);
    fake_claim_put(rig->stores[0], "sequence/main/key.0", "memory_bits=7");
    assert_ok(ha_admit(broker->ha, counters, 2, &err));
    fake_claim_put(rig->stores[0], "sequence/main/key.3", "memory_bits=7");
    assert_ok(ha_admit(broker->ha, counters, 8, &err));
    for (size_t i = 0; i < 8; i++) {
        assert_status(ha_counter_availability(counters[i], &err),
                      i == 0 || i == 3 ? SEQB_LAYOUT : SEQB_OK);
        ha_counter_free(counters[i]);
    }
}
