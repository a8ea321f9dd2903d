/* SPDX-License-Identifier: Apache-2.0 */
/* What the admitter does with the stores' answers, to the ms. */
#include "admitter_script.h"
#include "support/events.h"
#include "support/failure.h"

static void add(size_t i)
{
    assert_ok(admitter_add(&queue, &sequences[i], NULL));
    assert_int_equal(sequence_admission(&sequences[i]), SEQUENCE_ADMITTING);
}

/* Until it has no more to do, or `stop_ms`. */
static void run(void)
{
    assert_null(script.run(&queue));
    assert_int_equal(pthread_rwlock_trywrlock(&queue.catalog_lock), 0);
    pthread_rwlock_unlock(&queue.catalog_lock);
}

static void expect(size_t i, enum sequence_admission admission)
{
    assert_int_equal(sequence_admission(&sequences[i]), admission);
}

/* --- what is added --- */

TEST_WITH(QUEUE, new_sequences_are_asked_about_at_once)
{
    add(0);
    add(1);
    assert_int_equal(script.starts, 1);
    assert_int_equal(script.signals, 2);
    run();
    assert_int_equal(script.calls, 1);
    assert_int_equal(script.counts[0], 2);
    expect(0, SEQUENCE_ADMITTED);
    expect(1, SEQUENCE_ADMITTED);
    assert_int_equal(script.ends, 1);
    assert_int_equal(script.rests, 0);
    assert_int_equal(queue.automatic, 9);
    assert_int_equal(events_count("event=", ""), 0);
}

TEST_WITH(QUEUE, batch_has_64_sequences)
{
    for (size_t i = 0; i <= BATCH; i++)
        add(i);
    run();
    assert_int_equal(script.calls, 2);
    assert_int_equal(script.counts[0], BATCH);
    assert_int_equal(script.counts[1], 1);
    for (size_t i = 0; i <= BATCH; i++)
        expect(i, SEQUENCE_ADMITTED);
}

/* Of these, key2 and key4 were counted: they are not listed, and the pattern
 * matches them. */
TEST_WITH(QUEUE, refused_ones_are_settled_and_not_counted)
{
    static const size_t refused[] = {0, 1, 2, 4, 10};

    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        sequence_set_without_number(&sequences[refused[i]]);
        script.is_refused[refused[i]] = true;
        add(refused[i]);
    }
    add(3);
    run();
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        expect(refused[i], SEQUENCE_REFUSED);
    expect(3, SEQUENCE_ADMITTED);
    assert_int_equal(queue.automatic, 7);
    assert_int_equal(atomic_load(&context.without_number), 0);
    assert_int_equal(script.rests, 0);
    assert_int_equal(script.calls, 1);
}

/* All are asked about again after a rest, except one that is refused. */
TEST_WITH(QUEUE, failed_call_is_made_again)
{
    add(0);
    add(1);
    add(2);
    script.is_refused[2] = true;
    script.admitted[0] = script.admitted[1] = SEQB_NO_MEMORY;
    run();
    assert_int_equal(script.calls, 3);
    assert_int_equal(script.counts[0], 3);
    assert_int_equal(script.counts[1], 2);
    assert_int_equal(script.counts[2], 2);
    assert_int_equal(script.rests, 2);
    expect(0, SEQUENCE_ADMITTED);
    expect(1, SEQUENCE_ADMITTED);
    expect(2, SEQUENCE_REFUSED);
    assert_int_equal(admitter_waiting(&queue), 0);
}

/* --- stores of other pools that are away --- */

static void be_unasked(size_t i, size_t until_call)
{
    script.is_unasked[i] = true;
    script.asked_at[i] = until_call;
}

static void expect_calls(size_t count, const int64_t *after_ms)
{
    assert_int_equal(script.calls, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(script.at_ms[i] - NOW, after_ms[i]);
}

/* Each rest is twice the one before. It is told once, and when it ends. */
TEST_WITH(QUEUE, unasked_ones_are_put_off)
{
    static const int64_t at_ms[] = {0, 1000, 3000, 7000};

    be_unasked(0, 3);
    be_unasked(1, 3);
    add(0);
    add(1);
    add(2);
    run();
    expect_calls(4, at_ms);
    assert_int_equal(script.counts[0], 3);
    assert_int_equal(script.counts[3], 2);
    expect(0, SEQUENCE_ADMITTED);
    expect(1, SEQUENCE_ADMITTED);
    expect(2, SEQUENCE_ADMITTED);
    assert_int_equal(events_count("event=unasked", ""), 1);
    assert_int_equal(
        events_count("warn event=unasked sequences=2 keys=key1,key0 waiting=2",
                     "key1 is away"),
        1);
    assert_int_equal(
        events_count("info event=asked sequences=2 keys=", " waiting=0"), 1);
    assert_int_equal(events_count("event=asked", ""), 1);
    assert_int_equal(admitter_waiting(&queue), 0);
    assert_false(sequences[0].is_put_off || sequences[0].is_waiting);
}

static void use_another_store(void)
{
    script.usable++;
}

static void list_again(void)
{
    admitter_retry_now(&queue);
}

/* Another store can be asked, or a reload listed one again. */
TEST_WITH(QUEUE, put_off_ends_early_at_a_change)
{
    static const int64_t at_ms[] = {0, LOOK_MS};

    be_unasked(0, 1);
    add(0);
    script.at_look = use_another_store;
    run();
    expect_calls(2, at_ms);
    queue.admitter.is_stopping = false;
    script.calls = 0;
    script.now_ms = NOW;
    be_unasked(1, 1);
    add(1);
    script.at_look = list_again;
    script.signals = 0;
    run();
    expect_calls(2, at_ms);
    assert_int_equal(script.signals, 2); /* put off, and listed */
}

static void add_another(void)
{
    be_unasked(1, SIZE_MAX);
    add(1);
}

/* Those that come later do not delay the first ones. */
TEST_WITH(QUEUE, later_ones_join_those_that_are_put_off)
{
    static const int64_t at_ms[] = {0, LOOK_MS, 1000};

    be_unasked(0, 2);
    add(0);
    script.at_look = add_another;
    script.stop_ms = NOW + 1000;
    run();
    expect_calls(3, at_ms);
    assert_int_equal(script.counts[1], 1);
    assert_int_equal(script.counts[2], 2);
    expect(0, SEQUENCE_ADMITTED);
    expect(1, SEQUENCE_ADMITTING);
    assert_int_equal(admitter_waiting(&queue), 1);
    assert_int_equal(events_count("event=unasked sequences=1", "waiting=1"), 1);
    assert_int_equal(events_count("event=unasked sequences=1", "waiting=2"), 1);
    assert_int_equal(events_count("event=asked sequences=1", "waiting=1"), 1);
}

TEST_WITH(QUEUE, refused_one_need_not_wait_any_more)
{
    be_unasked(2, 1);
    add(2);
    script.stop_ms = NOW;
    run();
    assert_int_equal(admitter_waiting(&queue), 1);
    script.is_refused[2] = true;
    queue.admitter.is_stopping = false;
    script.stop_ms = INT64_MAX;
    run();
    expect(2, SEQUENCE_REFUSED);
    assert_int_equal(admitter_waiting(&queue), 0);
    assert_int_equal(events_count("event=asked sequences=1", "waiting=0"), 1);
}

static void remove_first(void)
{
    atomic_store(&sequences[0].settings->is_removed, true);
}

/* They may go back to another pool. They are not waited for, and nothing is
 * told of them. */
TEST_WITH(QUEUE, removed_ones_are_not_asked_about)
{
    be_unasked(0, 0);
    add(0);
    remove_first();
    script.stop_ms = NOW + 3000;
    run();
    assert_int_equal(script.calls, 0);
    assert_int_equal(admitter_waiting(&queue), 0);
    assert_int_equal(events_count("event=", ""), 0);
    queue.admitter.is_stopping = false;
    add(1);
    atomic_store(&sequences[0].settings->is_removed, false);
    admitter_retry_now(&queue);
    run();
    assert_int_equal(script.calls, 2);
    expect(0, SEQUENCE_ADMITTED);
    expect(1, SEQUENCE_ADMITTED);
}

TEST_WITH(QUEUE, one_that_is_removed_later_does_not_wait_any_more)
{
    be_unasked(0, SIZE_MAX);
    be_unasked(1, SIZE_MAX);
    add(0);
    add(1);
    script.at_look = remove_first;
    script.stop_ms = NOW + 1000;
    run();
    assert_int_equal(script.calls, 2);
    assert_int_equal(script.counts[1], 1);
    assert_int_equal(admitter_waiting(&queue), 1);
    assert_int_equal(events_count("event=asked", ""), 0);
    assert_int_equal(events_count("event=unasked", ""), 1);
}

/* --- those that were listed --- */

TEST_WITH(QUEUE, listed_ones_that_are_unasked_are_put_off)
{
    struct seqb_sequence *const some[] = {&sequences[0], &sequences[1],
                                          &sequences[2]};

    assert_ok(admitter_expect(&queue, some, 3, NULL));
    admitter_put_off(&queue, some, 3);
    assert_int_equal(script.starts, 0);
    assert_int_equal(admitter_waiting(&queue), 0);
    be_unasked(0, 0);
    assert_ok(admitter_expect(&queue, some, 3, NULL));
    assert_int_equal(script.starts, 1);
    be_unasked(2, 0);
    assert_ok(admitter_expect(&queue, some, 3, NULL));
    assert_int_equal(script.starts, 1);
    expect(0, SEQUENCE_ADMITTING);
    expect(1, SEQUENCE_ADMITTED);
    admitter_put_off(&queue, some, 3);
    assert_int_equal(admitter_waiting(&queue), 2);
    assert_int_equal(
        events_count("event=unasked sequences=2 keys=key0,key2", "key0 is"), 1);
    run();
    assert_int_equal(script.at_ms[0], NOW + 1000);
    expect(0, SEQUENCE_ADMITTED);
    expect(2, SEQUENCE_ADMITTED);
}

/* --- the end --- */

TEST_WITH(QUEUE, nothing_is_asked_after_the_end)
{
    add(0);
    admitter_stop(&queue.admitter);
    assert_int_equal(script.joins, 1);
    assert_int_equal(script.signals, 2);
    run();
    assert_int_equal(script.calls, 0);
    admitter_stop(&queue.admitter);
    assert_int_equal(script.joins, 1);
    assert_fails(admitter_add(&queue, &sequences[1], &failure), SEQB_CLOSED,
                 "the broker is closing");
    expect(1, SEQUENCE_ADMITTED);
    assert_int_equal(script.starts, 1);
}

TEST_WITH(QUEUE, thread_may_not_start)
{
    struct seqb_sequence *const one[] = {&sequences[0]};

    script.start = SEQB_NO_MEMORY;
    assert_fails(admitter_add(&queue, one[0], &failure), SEQB_NO_MEMORY,
                 "no thread");
    expect(0, SEQUENCE_ADMITTED);
    assert_null(queue.admitter.first);
    script.is_unasked[0] = true;
    assert_fails(admitter_expect(&queue, one, 1, &failure), SEQB_NO_MEMORY,
                 "no thread");
    assert_int_equal(script.starts, 2);
    admitter_stop(&queue.admitter);
    assert_int_equal(script.joins, 0);
}

/* --- waiting for an answer --- */

static void admit_first(void)
{
    atomic_store(&sequences[0].settings->admission, SEQUENCE_ADMITTED);
}

TEST_WITH(QUEUE, caller_waits_until_it_is_settled_or_its_deadline)
{
    struct seqb_sequence *order = &sequences[0];

    order->settings->deadline_ms = 70;
    assert_ok(admitter_wait(order, NULL));
    assert_int_equal(script.until_ms, 0);
    atomic_store(&order->settings->admission, SEQUENCE_ADMITTING);
    script.at_look = admit_first;
    assert_ok(admitter_wait(order, NULL));
    assert_int_equal(script.until_ms, NOW + 70);
    atomic_store(&order->settings->admission, SEQUENCE_ADMITTING);
    script.goes_on = false;
    assert_fails(admitter_wait(order, &failure), SEQB_UNAVAILABLE, "is new");
    script.goes_on = true;
    script.at_look = remove_first;
    assert_fails(admitter_wait(order, &failure), SEQB_UNKNOWN_KEY,
                 "was taken out");
}
