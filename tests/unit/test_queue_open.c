/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of opening, serving and stopping a queue, and the deadlines that
 * each is given. */
#include <string.h>

#include "queue_script.h"
#include "support/events.h"
#include "support/failure.h"

static enum seqb_status open_queue(struct fixture *fixture)
{
    return queue_open(&fixture->options, (struct ha *)&script, &fixture->queue,
                      &failure);
}

/* --- opening --- */

TEST_WITH(QUEUE, queue_opens_in_steps)
{
    assert_ok(open_queue(fixture));
    expect_steps("clock 1100|generators|add a|add b|admit 2|expect 2|put_off 2|"
                 "leases 1150|spool 1150|seqb:refill|flusher|");
    assert_ptr_equal(script.argument, fixture->queue);
    assert_ptr_equal(fixture->queue->first, &fixture->options);
    assert_ptr_equal(fixture->queue->ha, &script);
    assert_int_equal(script.inits, 6);
    assert_int_equal(script.kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    assert_true(fixture->queue->is_started);
    assert_false(queue_is_forked(fixture->queue));
    *fixture->queue->is_alive = false;
    assert_true(queue_is_forked(fixture->queue));
}

TEST_WITH(QUEUE, queue_without_clock_and_spool_has_none)
{
    fixture->options.clock = NULL;
    fixture->options.spool_path = NULL;
    fixture->options.sequence_count = 0;
    assert_ok(open_queue(fixture));
    expect_steps("generators|admit 0|expect 0|put_off 0|leases 1100|"
                 "seqb:refill|");
}

/* What was made is freed with the queue. */
TEST_WITH(QUEUE, failed_step_is_the_last_one)
{
    static const char *const steps[] = {
        "clock 1100", "generators",  "add a",      "add b",       "admit 2",
        "expect 2",   "leases 1150", "spool 1150", "seqb:refill", "flusher"};

    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        script.now_ms = NOW;
        script.journal[0] = '\0';
        script.fails = steps[i];
        assert_fails(open_queue(fixture), SEQB_STATE_DIR, "scripted");
        assert_string_equal(strrchr(script.journal, '|') == NULL
                                ? script.journal
                                : strrchr(script.journal, '|') + 1,
                            steps[i]);
        assert_int_equal(fixture->queue->is_started,
                         strcmp(steps[i], "flusher") == 0);
        queue_free(fixture->queue);
        fixture->queue = NULL;
    }
}

TEST_WITH(QUEUE, memory_may_be_short_at_any_step)
{
    int i = 0;

    script.lacks = 1;
    assert_fails(open_queue(fixture), SEQB_NO_MEMORY, "queue: out of memory");
    assert_null(fixture->queue);
    script.lacks = 0;
    script.lacks_memory = true;
    assert_fails(open_queue(fixture), SEQB_NO_MEMORY, "queue: out of memory");
    script.lacks_memory = false;
    script.fails = "wiped";
    assert_fails(open_queue(fixture), SEQB_NO_MEMORY, "queue: out of memory");
    script.fails = NULL;
    do {
        queue_free(fixture->queue);
        fixture->queue = NULL;
        script.callocs = 0;
        script.lacks = ++i;
    } while (open_queue(fixture) == SEQB_NO_MEMORY);
    assert_true(i > 5); /* and each of them was told */
}

TEST_WITH(QUEUE, refused_sequence_is_marked)
{
    script.refused = 2;
    assert_ok(open_queue(fixture));
    assert_false(sequences[0].is_refused);
    assert_true(sequences[1].is_refused);
}

TEST_WITH(QUEUE, all_sequences_have_their_attributes)
{
    static const struct queue_sequence_options automatic = {.attributes = "x"};

    assert_ok(open_queue(fixture));
    assert_true(fixture->queue->attributes[LISTED].asks_first);
    assert_false(fixture->queue->attributes[0].asks_first);
    assert_string_equal(fixture->queue->attributes[0].claim, "A");
    assert_string_equal(fixture->queue->attributes[1].claim, "B");
    queue_free(fixture->queue);
    fixture->options.automatic = &automatic;
    assert_ok(open_queue(fixture));
    assert_string_equal(fixture->queue->attributes[LISTED].claim, "x");
    assert_true(fixture->queue->attributes[LISTED].asks_first);
}

/* --- warm sequences --- */

static void be_warm(void)
{
    for (size_t i = 0; i < LISTED; i++)
        atomic_store(&sequences[i].settings->warm, true);
}

static void expect_warming(struct fixture *fixture, const char *steps)
{
    assert_ok(open_queue(fixture));
    assert_string_equal(strstr(script.journal, "flusher|"), steps);
}

TEST_WITH(QUEUE, warm_sequences_are_filled_together)
{
    be_warm();
    script.is_cold[1] = true;
    events_start();
    expect_warming(fixture, "flusher|wake a|wake b|warm a 1150|warm b 1150|");
    assert_int_equal(
        events_count("warn event=cold sequences=1 keys=b", "open_timeout"), 1);
    events_stop();
}

TEST_WITH(QUEUE, others_are_not_waited_for)
{
    be_warm();
    script.refused = 1;
    atomic_store(&sequences[1].settings->admission, SEQUENCE_ADMITTING);
    events_start();
    expect_warming(fixture, "flusher|");
    assert_int_equal(events_count("event=", ""), 0);
    events_stop();
}

/* --- the refill thread --- */

TEST_WITH(QUEUE, thread_polls_those_of_its_list)
{
    assert_ok(open_queue(fixture));
    script.journal[0] = '\0';
    script.next_ms[0] = 1100;
    script.next_ms[1] = 1060;
    assert_null(script.run(script.argument));
    expect_steps("watch|watch|refill a|width a|end a 1|refill b|width b|end b "
                 "0|");
    assert_int_equal(script.until_ms[0], 0);
    assert_int_equal(script.until_ms[1], 0);
    assert_int_equal(script.until_ms[2], 1060);
    script.rounds = 0;
    script.next_ms[0] = script.next_ms[1] = INT64_MAX;
    (void)script.run(script.argument);
    assert_int_equal(script.until_ms[2], 1070);
}

TEST_WITH(QUEUE, thread_wakes_those_that_are_due)
{
    assert_ok(open_queue(fixture));
    script.journal[0] = '\0';
    script.is_due = true;
    sequences[0].poll_ms = script.now_ms;
    sequences[1].poll_ms = script.now_ms + 1;
    (void)script.run(script.argument);
    assert_string_equal(strtok(script.journal, "|"), "watch");
    assert_string_equal(strtok(NULL, "|"), "wake a");
    assert_string_equal(strtok(NULL, "|"), "poll_at 1051");
    assert_string_equal(strtok(NULL, "|"), "watch");
}

/* --- the end --- */

TEST_WITH(QUEUE, queue_stops_in_steps)
{
    assert_ok(open_queue(fixture));
    script.journal[0] = '\0';
    script.now_ms = NOW;
    queue_stop(fixture->queue);
    expect_steps("end_waits 1200|clock_stop 1|shut|looks_shut|close a|close b|"
                 "looks_stop|admitter_stop|agenda_stop|join|flusher_stop|"
                 "finish a 1500|finish b 1500|end_waits 2700|keep 2700|"
                 "end_waits 2000|generators_close|");
    queue_stop(fixture->queue);
    assert_null(strstr(script.journal, "join"));
    assert_null(strstr(script.journal, "keep"));
    queue_stop(NULL);
}

/* A host may give the spool more time. */
TEST_WITH(QUEUE, spool_has_as_long_as_the_host_says)
{
    assert_ok(open_queue(fixture));
    script.now_ms = NOW;
    script.journal[0] = '\0';
    queue_end_waits(fixture->queue, 2701);
    expect_steps("end_waits 1200|");
    queue_stop(fixture->queue);
    assert_non_null(strstr(script.journal, "end_waits 2701|keep 2701|"));
}

TEST_WITH(QUEUE, queue_without_spool_keeps_nothing)
{
    fixture->options.spool_path = NULL;
    assert_ok(open_queue(fixture));
    script.journal[0] = '\0';
    queue_stop(fixture->queue);
    assert_non_null(strstr(script.journal, "join|end_waits 2050|"));
}

TEST_WITH(QUEUE, queue_is_freed_with_what_reloads_left)
{
    assert_ok(open_queue(fixture));
    script.journal[0] = '\0';
    fixture->queue->abandoned = &sequences[2];
    queue_free(fixture->queue);
    fixture->queue = NULL;
    expect_steps("flusher_close 1|free a|free b|free c|generators_free|"
                 "clock_close 1|");
    assert_int_equal(script.finis, 4);
}
