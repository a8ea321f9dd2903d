/* SPDX-License-Identifier: Apache-2.0 */
/* A sequence that is new in its pool while the stores of another pool, which
 * may have issued its numbers, cannot be asked. */
#include "platform/clock.h"
#include "queue/queue_state.h"
#include "support/events.h"
#include "support/failure.h"
#include "support/rig.h"
#include "unit/rig_shapes.h"

#define SHORT_MS 100
#define SOME     100 /* numbers */

/* Pools "main" of b0 and b1, and "other" of b2 and b3. Their stores are made,
 * and know no sequence. */
static void split(struct rig *rig)
{
    rig_shape(rig, RIG_DIRECT, 2);
    rig_split(rig);
    rig->queue.sequence_count = 0;
    rig_close(rig_open(rig));
    rig->queue.sequence_count = 1;
    rig->sequences[0].deadline_ms = SHORT_MS;
    rig->automatic.deadline_ms = SHORT_MS;
}

static void set_automatic(struct rig *rig, int32_t pool)
{
    rig->queue.sequence_count = 0;
    rig_automatic(rig, "ord*", 10);
    rig->automatic.pool = pool;
}

/* Takes a number of "order", though deadlines pass. */
static void take_one(struct rig *rig, struct rig_broker *broker)
{
    int64_t number;

    RIG_AWAIT(rig_take_one(broker, &number, NULL) == SEQB_OK);
    numbers_add(&rig->taken, &number, 1);
}

static void take_some(struct rig *rig, struct rig_broker *broker)
{
    for (int i = 0; i < SOME; i++)
        take_one(rig, broker);
}

/* Takes what is granted, up to SOME numbers. A time-out is no answer. */
static struct seqb_error try_some(struct rig *rig, struct rig_broker *broker)
{
    struct seqb_error err = {.status = SEQB_OK};
    enum seqb_status status;
    int64_t number;

    for (int i = 0; i < SOME; i++) {
        RIG_AWAIT((status = rig_take_one(broker, &number, &err)) !=
                  SEQB_TIMEOUT);
        if (status != SEQB_OK)
            break;
        numbers_add(&rig->taken, &number, 1);
    }
    return err;
}

/* "order" was used in pool main, while only b1 of it was there. */
static void use_in_main(struct rig *rig)
{
    struct rig_broker *broker;

    fake_set_down(rig->stores[0], true);
    broker = rig_open(rig);
    take_some(rig, broker);
    rig_close(broker);
    fake_set_down(rig->stores[0], false);
}

/* Nothing is granted, and the error says why. */
static void expect_unasked(struct rig *rig, struct rig_broker *broker,
                           const char *words)
{
    const size_t before = numbers_count(&rig->taken);
    const struct seqb_error err = try_some(rig, broker);

    if (numbers_count(&rig->taken) > before)
        fail_msg("%zu numbers, %zu of them twice",
                 numbers_count(&rig->taken) - before,
                 numbers_repeats(&rig->taken));
    assert_int_equal(err.status, SEQB_UNAVAILABLE);
    rig_expect_words(err.text, words);
}

static enum seqb_status find(struct rig_broker *broker)
{
    struct seqb_sequence *sequence;

    return queue_find(broker->queue, "order", &sequence, NULL);
}

static void reload(struct rig_broker *broker, const struct queue_options *next)
{
    struct queue_reload *reload;

    assert_ok(queue_prepare(broker->queue, next, NULL, &reload, NULL));
    assert_ok(queue_commit(reload, NULL));
    queue_reload_free(reload);
}

static bool is_claimed(struct rig *rig, int32_t store, const char *name)
{
    char text[SEQB_CLAIM_SIZE];

    fake_claim_text(rig->stores[store], name, text, sizeof text);
    return text[0] != '\0';
}

TEST_WITH(DIRECT, moved_sequence_waits_for_the_store_that_may_know_it)
{
    struct rig_broker *broker;

    split(rig);
    use_in_main(rig);
    fake_set_down(rig->stores[1], true);
    fake_set_down(rig->stores[2], true); /* partition 0 */
    rig->sequences[0].pool = 1;
    /* The first broker's claim must not deceive the second one. */
    for (int i = 0; i < 2; i++) {
        broker = rig_open(rig);
        expect_unasked(rig, broker, "its numbers: fake store-1: is down");
        rig_close(broker);
        assert_false(is_claimed(rig, 2, "sequence/other/order"));
        assert_false(is_claimed(rig, 3, "sequence/other/order"));
    }
}

/* The pool that waits is well itself. */
TEST_WITH(DIRECT, health_tells_of_sequences_that_wait_for_another_pool)
{
    struct rig_broker *broker;
    char reason[SEQB_ERROR_TEXT_SIZE];

    split(rig);
    set_automatic(rig, 0);
    broker = rig_open(rig);
    assert_ok(ha_command(broker->ha, "other", 0, SEQB_ORDER_DRAIN, NULL));
    assert_int_equal(queue_health(broker->queue, NULL, 0),
                     SEQB_HEALTH_DEGRADED);
    expect_unasked(rig, broker, "of pool other");
    assert_int_equal(queue_health(broker->queue, reason, sizeof reason),
                     SEQB_HEALTH_DEGRADED);
    rig_expect_words(reason, "; 1 sequence waits for a store of another pool, "
                             "or of its own, see event=unasked");
    assert_ok(ha_command(broker->ha, "other", 0, SEQB_ORDER_RESUME, NULL));
    take_one(rig, broker);
    RIG_AWAIT(queue_health(broker->queue, NULL, 0) == SEQB_HEALTH_SERVING);
}

TEST_WITH(DIRECT, start_with_no_sequence_but_a_refused_one_is_refused)
{
    split(rig);
    rig_put_claim(rig, 0, "sequence/main/order", "", "memory_bits=7");
    rig_expect_open_fails(rig, SEQB_LAYOUT, "memory_bits=7");
}

TEST_WITH(DIRECT, it_is_refused_once_that_store_answers)
{
    struct rig_broker *broker;

    split(rig);
    use_in_main(rig);
    fake_set_down(rig->stores[1], true);
    rig->sequences[0].pool = 1;
    broker = rig_open(rig);
    expect_unasked(rig, broker, "backend b1 of pool main");
    fake_set_down(rig->stores[1], false);
    RIG_AWAIT(find(broker) == SEQB_LAYOUT);
    assert_fails(rig_take_one(broker, &(int64_t){0}, &failure), SEQB_LAYOUT,
                 "sequence order was used in pool main");
}

/* Its claim would say that it was used there. b3 is probed after the refusal.
 */
TEST_WITH(DIRECT, refused_sequence_is_claimed_nowhere)
{
    struct rig_broker *broker;

    split(rig);
    use_in_main(rig);
    rig->queue.sequence_count = 2;
    rig->sequences[0].pool = 1;
    rig->sequences[1].pool = 1;
    rig->sequences[0].prefetch = true;
    fake_set_down(rig->stores[3], true);
    broker = rig_open(rig);
    assert_status(find(broker), SEQB_LAYOUT);
    fake_set_down(rig->stores[3], false);
    RIG_AWAIT(fake_open_backends(rig->stores[3]) > 0);
    RIG_AWAIT((assert_ok(queue_next(rig_sequence(broker, "bill"), &(int64_t){0},
                                    NULL)),
               fake_value(rig->stores[3], "other/1/bill") > 0));
    assert_false(is_claimed(rig, 2, "sequence/other/order"));
    assert_false(is_claimed(rig, 3, "sequence/other/order"));
}

/* The stores of a pool no longer know "order". */
static void remove_claims(struct rig *rig, int32_t pool)
{
    const char *name =
        pool == 0 ? "sequence/main/order" : "sequence/other/order";

    for (int32_t i = 0; i < 2; i++)
        fake_claim_put(rig->stores[2 * pool + i], name, "");
}

TEST_WITH(DIRECT, waiting_sequence_gets_no_kept_number)
{
    split(rig);
    rig->queue.spool_path = rig_file(rig, "spool");
    rig_use(rig, SOME);
    remove_claims(rig, 0);
    fake_set_down(rig->stores[2], true);
    expect_unasked(rig, rig_open(rig), "backend b2 of pool other");
}

/* The numbers of "order" that a start finds. */
static int64_t kept(struct rig *rig, int32_t pool)
{
    struct rig_broker *broker;
    int64_t stock;

    rig->sequences[0].pool = pool;
    broker = rig_open(rig);
    stock = rig_status(broker, "order").stock;
    rig_close(broker);
    return stock;
}

/* As operations.md says, "If the key must be kept", there and back. The other
 * pool may have issued the numbers that were kept. */
TEST_WITH(DIRECT, kept_numbers_are_dropped_once_another_pool_serves)
{
    split(rig);
    rig->queue.spool_path = rig_file(rig, "spool");
    rig_use(rig, SOME);
    assert_true(kept(rig, 0) > 0);
    remove_claims(rig, 0);
    assert_int_equal(kept(rig, 1), 0);
    remove_claims(rig, 1);
    for (int32_t i = 0; i < 2; i++)
        fake_claim_put(rig->stores[i], "sequence/main/order", "memory_bits=2");
    assert_int_equal(kept(rig, 0), 0);
}

TEST_WITH(DIRECT, new_sequence_begins_once_all_stores_have_answered)
{
    struct rig_broker *broker;

    split(rig);
    fake_set_down(rig->stores[0], true);
    rig->sequences[0].pool = 1;
    events_start();
    broker = rig_open(rig);
    assert_int_equal(events_count("event=unasked", "waiting=1"), 1);
    expect_unasked(rig, broker, "backend b0 of pool main");
    events_expect("warn event=unasked sequences=1 keys=order waiting=1",
                  "backend b0 of pool main", 1);
    fake_set_down(rig->stores[0], false);
    take_some(rig, broker);
    events_expect("info event=asked sequences=1 keys=order waiting=0", "", 1);
}

/* Another broker has asked them. */
TEST_WITH(DIRECT, sequence_that_another_broker_began_is_served)
{
    struct rig_broker *broker;

    split(rig);
    fake_set_down(rig->stores[0], true);
    rig->sequences[0].pool = 1;
    broker = rig_open(rig);
    expect_unasked(rig, broker, "backend b0 of pool main");
    rig_put_claim(rig, 3, "sequence/other/order", "", "memory_bits=2");
    take_some(rig, broker);
}

TEST_WITH(DIRECT, sequence_that_its_pool_knows_is_served_at_once)
{
    struct rig_broker *broker;

    split(rig);
    rig->sequences[0].pool = 1;
    /* Only b2 knows it, and b3 is asked, too. */
    fake_set_down(rig->stores[3], true);
    broker = rig_open(rig);
    take_some(rig, broker);
    rig_close(broker);
    fake_set_down(rig->stores[3], false);
    fake_set_down(rig->stores[0], true);
    broker = rig_open(rig);
    for (int i = 0; i < 1000 && fake_value(rig->stores[3], "other/1/order") < 0;
         i++)
        take_some(rig, broker);
    assert_true(fake_value(rig->stores[3], "other/1/order") > 0);
}

/* Every store of pool main is away, and the broker knows it. */
static void set_main_down(struct rig *rig, struct rig_broker *broker)
{
    for (int32_t i = 0; i < 2; i++) {
        fake_set_down(rig->stores[i], true);
        assert_ok(
            ha_command(broker->ha, "main", i, SEQB_ORDER_QUARANTINE, NULL));
    }
}

TEST_WITH(DIRECT, sequence_that_a_reload_adds_waits)
{
    struct queue_options next;
    struct rig_broker *broker;

    split(rig);
    use_in_main(rig);
    rig->queue.sequence_count = 0;
    broker = rig_open(rig);
    set_main_down(rig, broker);
    rig->sequences[0].pool = 1;
    next = rig->queue;
    next.sequence_count = 1;
    reload(broker, &next);
    expect_unasked(rig, broker, "of pool main");
    fake_set_down(rig->stores[0], false);
    fake_set_down(rig->stores[1], false);
    RIG_AWAIT(find(broker) == SEQB_LAYOUT);
    rig_close(broker); /* before `next` is gone */
}

/* As if the stores had been away for long: a reload does not wait for them to
 * be asked again. */
static void rest_for_ever(struct rig_broker *broker)
{
    struct admitter *admitter = &broker->queue->admitter;

    pthread_mutex_lock(&admitter->lock);
    admitter->retry.at_ms = clock_now_ms() + RIG_FOREVER_MS;
    pthread_mutex_unlock(&admitter->lock);
}

/* It may go back to pool main. */
TEST_WITH(DIRECT, sequence_that_is_unlisted_meanwhile_is_not_claimed)
{
    struct queue_options next;
    struct rig_broker *broker;

    split(rig);
    fake_set_down(rig->stores[0], true);
    rig->queue.sequence_count = 2;
    rig->sequences[0].pool = 1;
    rig->sequences[1].pool = 1;
    broker = rig_open(rig);
    expect_unasked(rig, broker, "backend b0 of pool main");
    next = rig->queue;
    next.sequence_count = 1;
    next.sequences = &rig->sequences[1];
    reload(broker, &next);
    fake_set_down(rig->stores[0], false);
    assert_ok(queue_next(rig_sequence(broker, "bill"), &(int64_t){0}, NULL));
    assert_false(is_claimed(rig, 2, "sequence/other/order"));
    /* It is not one that waits, either. */
    RIG_AWAIT(queue_health(broker->queue, NULL, 0) == SEQB_HEALTH_SERVING);
    rest_for_ever(broker);
    next.sequence_count = 2;
    next.sequences = rig->sequences;
    reload(broker, &next);
    take_some(rig, broker);
    rig_close(broker);
}

TEST_WITH(DIRECT, automatic_sequence_waits)
{
    struct rig_broker *broker;

    split(rig);
    use_in_main(rig);
    fake_set_down(rig->stores[1], true);
    set_automatic(rig, 1);
    broker = rig_open(rig);
    expect_unasked(rig, broker, "backend b1 of pool main");
    fake_set_down(rig->stores[1], false);
    RIG_AWAIT(find(broker) == SEQB_LAYOUT);
}

TEST_WITH(DIRECT, automatic_sequence_that_its_pool_knows_is_served)
{
    struct rig_broker *broker;

    split(rig);
    set_automatic(rig, 1);
    broker = rig_open(rig);
    take_some(rig, broker);
    rig_close(broker);
    fake_set_down(rig->stores[0], true);
    fake_set_down(rig->stores[3], true);
    take_some(rig, rig_open(rig));
}

/* The store that knows it answers when it is connected, and not when it is
 * asked. */
TEST_WITH(DIRECT, store_that_fails_on_the_way_has_not_answered)
{
    struct rig_broker *broker;

    split(rig);
    use_in_main(rig);
    fake_refuse(rig->stores[1], FAKE_CLAIM, "sequence/main/order",
                SEQB_REFUSED);
    rig->sequences[0].pool = 1;
    broker = rig_open(rig);
    expect_unasked(rig, broker, "backend b1 of pool main");
    fake_refuse(rig->stores[1], FAKE_CLAIM, "sequence/main/order", SEQB_OK);
    RIG_AWAIT(find(broker) == SEQB_LAYOUT);
}

/* The cells may forget, and the authority knows every sequence that counted in
 * windows. */
TEST_WITH(WINDOWED, authority_of_the_other_pool_is_asked)
{
    struct rig_broker *broker;

    rig_split(rig);
    rig_pools[1].layout.authority = -1;
    rig->backends[1].ops = &backend_fake;
    rig->sequences[0].deadline_ms = SHORT_MS;
    broker = rig_open(rig);
    take_some(rig, broker);
    rig_close(broker);
    fake_set_down(rig->authority, true);
    rig->sequences[0].pool = 1;
    broker = rig_open(rig);
    expect_unasked(rig, broker, "backend auth of pool main");
    fake_set_down(rig->authority, false);
    RIG_AWAIT(find(broker) == SEQB_LAYOUT);
}

TEST_WITH(DIRECT, others_of_the_topology_are_served_meanwhile)
{
    struct rig_broker *broker;

    split(rig);
    rig->queue.sequence_count = 2;
    rig->sequences[0].pool = 1;
    fake_set_down(rig->stores[0], true);
    broker = rig_open(rig);
    expect_unasked(rig, broker, "backend b0 of pool main");
    assert_ok(queue_next(rig_sequence(broker, "bill"), &(int64_t){0}, NULL));
}

static int32_t rest_ms(struct rig_broker *broker)
{
    struct admitter *admitter = &broker->queue->admitter;
    int32_t rest;

    pthread_mutex_lock(&admitter->lock);
    rest = admitter->retry.rest_ms;
    pthread_mutex_unlock(&admitter->lock);
    return rest;
}

/* What is put off again goes on with the rest that it has. */
TEST_WITH(DIRECT, stores_are_asked_ever_less_often)
{
    struct rig_broker *broker;

    split(rig);
    set_automatic(rig, 1);
    fake_set_down(rig->stores[0], true);
    broker = rig_open(rig);
    assert_ok(find(broker));
    RIG_AWAIT(rest_ms(broker) >= 4 * RETRY_FIRST_MS);
}
