/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that a direct store keeps under a name: they are read and replaced only
 * in a store that may be believed, and that is what it was. */
#include <stdlib.h>

#include "ha/members.h"
#include "platform/clock.h"
#include "support/rig.h"
#include "support/test.h"

#define NAME "worker/main/0"

static enum seqb_status call(struct rig_broker *broker,
                             const struct ha_text *about, struct ha_answer *out,
                             struct seqb_error *err)
{
    return ha_text(ha_pool_at(broker->ha, 0), about,
                   clock_now_ms() + RIG_PATIENCE_MS, out, err);
}

static struct ha_answer must_call(struct rig_broker *broker,
                                  const struct ha_text *about)
{
    struct ha_answer answer;
    struct seqb_error err;

    assert_done(call(broker, about, &answer, &err), err);
    return answer;
}

static void expect_refused(struct rig_broker *broker,
                           const struct ha_text *about, enum seqb_status status,
                           const char *words)
{
    struct ha_answer answer;
    struct seqb_error err;

    assert_int_equal(call(broker, about, &answer, &err), status);
    rig_expect_words(err.text, words);
}

static const struct ha_text put = {
    .member = 1, .name = NAME, .expected = "", .text = "first"};
static const struct ha_text look = {.member = 1, .name = NAME};

TEST_WITH(DIRECT, text_is_replaced_if_it_is_what_was_expected)
{
    struct rig_broker *broker = rig_open(rig);
    struct ha_text next = put;

    assert_string_equal(must_call(broker, &look).standing, "");
    assert_string_equal(must_call(broker, &put).standing, "first");
    next.text = "second";
    assert_string_equal(must_call(broker, &next).standing, "first");
    next.expected = "first";
    assert_string_equal(must_call(broker, &next).standing, "second");
    assert_string_equal(must_call(broker, &look).standing, "second");
    assert_string_equal(must_call(broker, &look).origin, "fake:store-1:0");
}

static void set_state(struct rig_broker *broker, int32_t member,
                      enum seqb_partition_state state)
{
    struct ha_pool *pool = ha_pool_at(broker->ha, 0);

    pthread_mutex_lock(pool->lock);
    pool->pool.member[member].state = state;
    pthread_mutex_unlock(pool->lock);
}

static bool is_answered(void *context)
{
    struct ha_answer answer;
    struct seqb_error err;

    return call(context, &look, &answer, &err) == SEQB_OK;
}

/* The other store of the pool is well. */
TEST_WITH(DIRECT, store_that_may_not_be_asked_keeps_no_texts)
{
    static const enum seqb_partition_state states[] = {SEQB_PARTITION_DRAINED,
                                                       SEQB_PARTITION_REFUSED,
                                                       SEQB_PARTITION_POISONED};
    struct rig_broker *broker = rig_open(rig);

    for (size_t i = 0; i < COUNT_OF(states); i++) {
        set_state(broker, 1, states[i]);
        expect_refused(broker, &look, SEQB_UNAVAILABLE,
                       seqb_partition_state_name(states[i]));
        expect_refused(broker, &put, SEQB_UNAVAILABLE, "it is ");
    }
    set_state(broker, 1, SEQB_PARTITION_UP);
    set_state(broker, 0, SEQB_PARTITION_POISONED);
    assert_string_equal(must_call(broker, &look).standing, "");
}

TEST_WITH(DIRECT, text_of_a_store_that_changed_is_not_replaced)
{
    struct rig_broker *broker = rig_open(rig);
    struct ha_text next = put;

    next.origin = "fake:store-1:0";
    (void)must_call(broker, &next);
    fake_change_origin(rig->stores[1]);
    fake_restart(rig->stores[1]);
    rig_take(broker, 1000);
    rig_await_use(broker, 1);
    next.expected = "first";
    next.text = "second";
    rig_await(is_answered, broker);
    expect_refused(broker, &next, SEQB_FENCED, "not what it was");
    assert_string_equal(must_call(broker, &look).standing, "first");
}

/* Its connection is lost, and made again. */
TEST_WITH(DIRECT, text_whose_answer_is_lost_fails)
{
    struct rig_broker *broker = rig_open(rig);

    fake_lose_answers(rig->stores[1], FAKE_SWAP, 1);
    expect_refused(broker, &put, SEQB_UNCERTAIN, "");
    rig_await(is_answered, broker);
    assert_string_equal(must_call(broker, &look).standing, "first");
}

/* One that may forget keeps none. */
TEST_WITH(WINDOWED, texts_are_kept_by_direct_stores_alone)
{
    struct ha_pool *pool;

    rig->backends[0].options.connect_timeout_ms = 300;
    rig->backends[0].options.timeout_ms = 20;
    pool = ha_pool_at(rig_open(rig)->ha, 0);
    assert_false(ha_pool_keeps(pool, 0));
    assert_false(ha_pool_keeps(pool, 1));
    assert_true(ha_pool_keeps(pool, 2));
    assert_false(ha_pool_keeps(pool, 3));
    assert_int_equal(ha_text_patience_ms(pool, 0), 320);
}
