/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a worker: who waits, who gives up, and who frees them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "ha/ask.h"
#include "ha/startup.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "support/rig.h"
#include "support/test.h"

#define PATIENCE_MS 1000
#define STEP_MS     100

static atomic_int freed; /* questions, in a test */
static atomic_bool is_held;

struct question {
    struct ask ask; /* first */
    int32_t steps;  /* made before it is answered */
    bool fails;
    int64_t last_ms;    /* when the last step began, or before the first one */
    int64_t longest_ms; /* from one step to the next, or to the answer */
};

static void question_free(struct ask *ask)
{
    ask_fini(ask);
    free(ask);
    atomic_fetch_add(&freed, 1);
}

static void question_note(struct question *question, int64_t began_ms)
{
    question->longest_ms =
        max_of(question->longest_ms, clock_now_ms() - question->last_ms);
    question->last_ms = began_ms;
}

static enum seqb_status question_run(struct worker *worker, struct ask *ask,
                                     struct seqb_error *err)
{
    struct question *question = (struct question *)ask;
    int64_t began_ms;

    (void)worker;
    RIG_AWAIT(!atomic_load(&is_held));
    for (int32_t i = 0; i < question->steps; i++) {
        nanosleep(&(struct timespec){0, STEP_MS * 1000000L}, NULL);
        began_ms = clock_now_ms();
        ask_step(ask);
        question_note(question, began_ms);
    }
    if (question->fails)
        return error_set(err, SEQB_CORRUPT, "as it was to");
    return SEQB_OK;
}

static struct question *question_new(void)
{
    struct question *question = calloc(1, sizeof *question);

    assert_non_null(question);
    ask_init(&question->ask, question_run, question_free);
    return question;
}

static struct worker *worker_of(struct rig *rig)
{
    atomic_store(&freed, 0);
    atomic_store(&is_held, false);
    return &rig_open(rig)->ha->workers[0];
}

static int64_t forever_ms(void)
{
    return clock_now_ms() + RIG_PATIENCE_MS;
}

TEST_WITH(DIRECT, an_answer_in_time_is_the_askers)
{
    struct worker *worker = worker_of(rig);
    struct question *question = question_new();
    struct seqb_error err;

    question->fails = true;
    assert_true(worker_ask(worker, &question->ask, forever_ms(), &err));
    assert_int_equal(question->ask.error.status, SEQB_CORRUPT);
    assert_string_equal(question->ask.error.text, "as it was to");
    assert_int_equal(atomic_load(&freed), 0);
    ask_release(&question->ask);
    assert_int_equal(atomic_load(&freed), 1);
}

TEST_WITH(DIRECT, who_gives_up_leaves_it_to_the_worker)
{
    struct worker *worker = worker_of(rig);
    struct question *question = question_new();
    struct seqb_error err;

    atomic_store(&is_held, true);
    assert_false(worker_ask(worker, &question->ask, clock_now_ms() + 20, &err));
    assert_int_equal(err.status, SEQB_UNAVAILABLE);
    assert_int_equal(atomic_load(&freed), 0);
    atomic_store(&is_held, false);
    RIG_AWAIT(atomic_load(&freed) == 1);
}

TEST_WITH(DIRECT, what_is_asked_of_one_that_stops_is_closed)
{
    struct worker *worker = worker_of(rig);
    struct question *first = question_new();
    struct question *second = question_new();
    struct seqb_error err;

    atomic_store(&is_held, true);
    assert_true(ask_post(worker, &first->ask));
    assert_true(ask_post(worker, &second->ask));
    worker_stop(worker);
    assert_false(worker_ask(worker, &question_new()->ask, forever_ms(), &err));
    assert_int_equal(err.status, SEQB_CLOSED);
    assert_int_equal(atomic_load(&freed), 1);
    atomic_store(&is_held, false);
    assert_true(ask_wait(&first->ask, forever_ms()));
    assert_true(ask_wait(&second->ask, forever_ms()));
    ask_release(&first->ask);
    ask_release(&second->ask);
    assert_int_equal(atomic_load(&freed), 3);
}

/* Each step is well within the patience, all of them are not. False if a step
 * took longer, since this machine stalled. */
static bool is_waited_for(struct worker *worker, int32_t patience_ms)
{
    struct question *question = question_new();
    bool was_waited_for;

    question->steps = 2 * patience_ms / STEP_MS;
    atomic_store(&is_held, true);
    assert_true(ask_post(worker, &question->ask));
    assert_false(ask_wait(&question->ask, clock_now_ms() + 1));
    question->last_ms = clock_now_ms();
    atomic_store(&is_held, false);
    was_waited_for = ask_wait_steps(&question->ask, patience_ms);
    assert_true(ask_wait(&question->ask, clock_now_ms() + RIG_FOREVER_MS));
    question_note(question, question->last_ms);
    assert_true(was_waited_for || question->longest_ms >= patience_ms);
    assert_int_equal(question->ask.steps, question->steps);
    ask_release(&question->ask);
    return was_waited_for;
}

TEST_WITH(DIRECT, one_that_gets_on_is_waited_for)
{
    struct worker *worker = worker_of(rig);
    int32_t patience_ms = PATIENCE_MS;

    while (!is_waited_for(worker, patience_ms)) {
        patience_ms *= 2;
        assert_true(patience_ms <= RIG_PATIENCE_MS);
    }
}

TEST_WITH(DIRECT, one_that_does_not_get_on_is_waited_for_no_more)
{
    struct worker *worker = worker_of(rig);
    struct question *question = question_new();

    atomic_store(&is_held, true);
    assert_true(ask_post(worker, &question->ask));
    assert_false(ask_wait_steps(&question->ask, 20));
    ask_release(&question->ask);
    assert_int_equal(atomic_load(&freed), 0);
    atomic_store(&is_held, false);
    RIG_AWAIT(atomic_load(&freed) == 1);
}
