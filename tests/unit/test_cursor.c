/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors over scripted stores: what they take, what they give back, and what
 * a forked child finds. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seqbroker/seqbroker.h>

#include "platform/fork_wiped.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"
#include "support/wrap.h"

#define RUN     4 /* 2^memory_bits of the rig */
#define THREADS 4

static struct seqb_cursor *cursor_open(struct rig_broker *broker, size_t slice)
{
    struct seqb_cursor *cursor;
    struct seqb_error err;

    assert_done(
        queue_cursor_open(rig_sequence(broker, "order"), slice, &cursor, &err),
        err);
    return cursor;
}

static int64_t cursor_take(struct seqb_cursor *cursor, struct numbers *out)
{
    struct seqb_error err;
    int64_t number = 0;

    assert_done(seqb_cursor_next(cursor, &number, &err), err);
    if (out != NULL)
        numbers_add(out, &number, 1);
    return number;
}

TEST_WITH(DIRECT, slices_out_of_range_are_refused)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_cursor *cursor = NULL;

    assert_fails(queue_cursor_open(rig_sequence(broker, "order"), (1 << 20) + 1,
                                   &cursor, &failure),
                 SEQB_INVALID, "sequence order");
    assert_null(cursor);
    queue_cursor_close(NULL);
    queue_cursor_close(cursor_open(broker, 1 << 20));
}

static _Thread_local bool has_no_memory;

WRAPPED(void *, fork_wiped_take, struct fork_wiped *fork_wiped, size_t size)
{
    return has_no_memory ? NULL : __real_fork_wiped_take(fork_wiped, size);
}

TEST_WITH(DIRECT, no_cursor_is_made_without_memory)
{
    struct seqb_sequence *order = rig_sequence(rig_open(rig), "order");
    struct seqb_cursor *cursor;

    has_no_memory = true;
    assert_fails(queue_cursor_open(order, 0, &cursor, &failure), SEQB_NO_MEMORY,
                 "sequence order: out of memory");
    has_no_memory = false;
}

/* And its memory is used again. */
TEST_WITH(DIRECT, a_new_cursor_takes_nothing)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_cursor *first = cursor_open(broker, 0);
    struct seqb_cursor *second;

    queue_cursor_close(first);
    second = cursor_open(broker, 0);
    assert_ptr_equal(second, first);
    queue_cursor_close(second);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE), 0);
}

/* Over the bounds of slices, runs and grants, beside others who take. */
TEST_WITH(DIRECT, every_number_comes_once_whatever_the_slice)
{
    static const size_t slices[] = {0, 1, 3, RUN, 10, 1000};
    struct rig_broker *broker = rig_open(rig);

    for (size_t i = 0; i < sizeof slices / sizeof slices[0]; i++) {
        struct seqb_cursor *cursor = cursor_open(broker, slices[i]);

        for (int j = 0; j < 500; j++) {
            (void)cursor_take(cursor, &rig->taken);
            rig_take(broker, 1);
        }
        queue_cursor_close(cursor);
    }
}
TEST_ALSO(WINDOWED, every_number_comes_once_whatever_the_slice);

/* After each number of a slice: nothing is lost, nothing comes twice. */
TEST_WITH(ONE_DIRECT, closing_gives_the_rest_back)
{
    struct rig_broker *broker = rig_open(rig);

    for (int used = 0; used < 5 * RUN; used++) {
        struct seqb_cursor *cursor = cursor_open(broker, (size_t)5 * RUN);

        for (int i = 0; i < used; i++)
            (void)cursor_take(cursor, &rig->taken);
        queue_cursor_close(cursor);
    }
    rig_await_rest(broker);
    rig_take(broker, (size_t)rig_status(broker, "order").stock);
    assert_int_equal(numbers_count(&rig->taken),
                     rig_partition(broker, 0).granted * RUN);
}

/* The end of that run would be 2^63. */
static void take_the_last_runs(struct rig *rig, size_t slice)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_cursor *cursor;
    struct seqb_error err;
    int64_t number = 0;

    assert_done(queue_advance(broker->queue, "order",
                              INT64_MAX - (int64_t)2 * RUN, &err),
                err);
    cursor = cursor_open(broker, slice);
    while (number < INT64_MAX) {
        number = cursor_take(cursor, &rig->taken);
        assert_true(cursor->next <= cursor->end);
    }
    assert_int_equal(rig->taken.count, 2 * RUN);
    seqb_cursor_close(cursor);
    assert_status(seqb_next(rig_sequence(broker, "order"), &number, &err),
                  SEQB_EXHAUSTED);
}

TEST_WITH(ONE_DIRECT, the_last_run_is_given_without_an_overflow)
{
    take_the_last_runs(rig, 64);
}

TEST_WITH(ONE_DIRECT, the_last_half_of_a_run_is_given_without_an_overflow)
{
    take_the_last_runs(rig, RUN / 2);
}

TEST_WITH(DIRECT, a_cursor_waits_and_fails_as_any_caller)
{
    struct rig_broker *broker;
    struct seqb_cursor *cursor;
    struct seqb_error err;
    enum seqb_status status;
    int64_t number = -1;

    rig->sequences[0].deadline_ms = 200;
    broker = rig_open(rig);
    cursor = cursor_open(broker, 0);
    rig_set_down(rig, true);
    do
        status = seqb_cursor_next(cursor, &number, &err);
    while (status == SEQB_TIMEOUT); /* the stores have not answered yet */
    assert_int_equal(status, SEQB_UNAVAILABLE);
    assert_int_equal(number, -1);
    rig_expect_words(err.text, "partition 0 (b0): fake store-0: is down");
    rig_set_down(rig, false);
    while (seqb_cursor_next(cursor, &number, &err) != SEQB_OK)
        continue; /* until a probe has brought one back */
    assert_true(number > 0);
    queue_cursor_close(cursor);
}

struct worker {
    pthread_t thread;
    struct seqb_cursor *cursor;
    struct numbers *numbers;
    bool has_failed;
};

static void *worker_run(void *argument)
{
    struct worker *worker = argument;
    int64_t number;

    for (size_t i = 0; i < rig_scaled(20000); i++) {
        worker->has_failed |=
            seqb_cursor_next(worker->cursor, &number, NULL) != SEQB_OK;
        numbers_add(worker->numbers, &number, 1);
    }
    queue_cursor_close(worker->cursor);
    return NULL;
}

TEST_WITH(DIRECT, threads_with_a_cursor_each_share_no_number)
{
    struct rig_broker *broker;
    struct worker workers[THREADS];

    rig->sequences[0].deadline_ms = RIG_FOREVER_MS;
    rig->sequences[0].max_unused = 5000;
    broker = rig_open(rig);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.cursor = cursor_open(broker, 1 + 50 * i),
                                     .numbers = &rig->taken};
        assert_int_equal(
            pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]),
            0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_false(workers[i].has_failed);
    }
}

/* What the cursor held is the parent's. */
TEST_WITH(DIRECT, a_forked_child_finds_a_dead_cursor)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    struct seqb_cursor *cursor = cursor_open(broker, 100);
    const int64_t first = cursor_take(cursor, NULL);
    struct seqb_cursor *other;
    int status;
    pid_t child;

    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const bool is_dead =
            seqb_cursor_next(cursor, &(int64_t){0}, NULL) == SEQB_FORKED &&
            queue_cursor_open(order, 0, &other, NULL) == SEQB_FORKED;

        queue_cursor_close(cursor);
        _exit(is_dead ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(cursor_take(cursor, NULL), first + 1);
    queue_cursor_close(cursor);
}
