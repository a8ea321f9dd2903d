/* SPDX-License-Identifier: Apache-2.0 */
/* Many takers at once on one memcached counter, over windows that end all the
 * time and a server that forgets: no number comes twice. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contract/memcached_fixture.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "support/test.h"

#define TAKERS_MAX  48
#define WINDOWS_MAX ((int64_t)1 << 16)
#define STUCK_MS    120000 /* only a machine that is stuck takes this long */

struct crowd {
    struct fixture *f;
    int64_t size;                /* of a window */
    atomic_uchar *seen;          /* a bit a number */
    atomic_int_least64_t next;   /* the window leased next */
    atomic_int_least64_t taken;  /* numbers */
    atomic_int_least64_t twice;  /* of those, numbers that came before */
    atomic_int_least64_t missed; /* counts that came too late */
    atomic_bool is_over;
    bool takes_turns; /* one leases at a time, so that each window is
                         used, and followed by the next */
    atomic_flag turn;
    size_t takers;
    pthread_t threads[TAKERS_MAX];
};

static void rest_shortly(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static void numbers_mark(struct crowd *crowd, const struct seqb_request *got)
{
    for (int64_t i = 0; i < got->block.count; i++) {
        const int64_t number = got->window * crowd->size + got->block.first + i;
        const unsigned char bit = (unsigned char)(1U << (number % 8));

        if ((atomic_fetch_or(&crowd->seen[number / 8], bit) & bit) != 0)
            atomic_fetch_add(&crowd->twice, 1);
    }
    atomic_fetch_add(&crowd->taken, got->block.count);
}

/* A fresh window; false if the connection must be closed. */
static bool window_take(struct crowd *crowd, struct seqb_backend *backend)
{
    const struct seqb_window window = {.counter = COUNTER,
                                       .window =
                                           atomic_fetch_add(&crowd->next, 1),
                                       .size = crowd->size};
    int64_t standing;
    enum seqb_status status;

    if (window.window >= WINDOWS_MAX) {
        atomic_store(&crowd->is_over, true);
        return true;
    }
    status = backend->ops->install(backend, &window, &standing, NULL);
    return status == SEQB_OK || status == SEQB_FENCED || status == SEQB_AGAIN;
}

/* One call; false if the connection must be closed. */
static bool numbers_take(struct crowd *crowd, struct seqb_backend *backend,
                         bool *wants_window)
{
    struct seqb_request request = {
        .counter = COUNTER,
        .want = 1 + atomic_load(&crowd->taken) % crowd->size,
        .limit = crowd->size,
    };

    if (backend->ops->reserve(backend, &request, 1, NULL) != SEQB_OK)
        return false;
    if (request.status == SEQB_OK) {
        numbers_mark(crowd, &request);
        return true;
    }
    if (strstr(request.error.text, "meanwhile") != NULL)
        atomic_fetch_add(&crowd->missed, 1);
    *wants_window = true;
    return true;
}

/* One lease after the other: who waited may find a fresh window. */
static bool turn_take(struct crowd *crowd, struct seqb_backend *backend)
{
    bool wants_window = false;
    bool is_well;

    if (atomic_flag_test_and_set(&crowd->turn))
        return true;
    is_well = numbers_take(crowd, backend, &wants_window);
    if (is_well && wants_window)
        is_well = window_take(crowd, backend);
    atomic_flag_clear(&crowd->turn);
    return is_well;
}

static bool taker_step(struct crowd *crowd, struct seqb_backend *backend)
{
    bool wants_window = false;

    if (!numbers_take(crowd, backend, &wants_window))
        return false;
    if (!wants_window)
        return true;
    return crowd->takes_turns ? turn_take(crowd, backend)
                              : window_take(crowd, backend);
}

static void *taker_run(void *argument)
{
    struct crowd *crowd = argument;
    struct seqb_backend *backend = NULL;

    while (!atomic_load(&crowd->is_over)) {
        if (backend == NULL &&
            backend_memcached.open(&crowd->f->options, &backend, NULL) !=
                SEQB_OK) {
            rest_shortly();
            continue;
        }
        if (taker_step(crowd, backend))
            continue;
        backend_memcached.close(backend);
        backend = NULL;
    }
    backend_memcached.close(backend);
    return NULL;
}

static struct crowd *crowd_start(struct fixture *f, int64_t size, size_t takers,
                                 bool takes_turns)
{
    struct crowd *crowd = calloc(1, sizeof *crowd);

    assert_non_null(crowd);
    crowd->f = f;
    crowd->size = size;
    crowd->seen = calloc((size_t)(WINDOWS_MAX * size / 8), 1);
    assert_non_null(crowd->seen);
    atomic_store(&crowd->next, 1);
    crowd->takers = takers;
    crowd->takes_turns = takes_turns;
    atomic_flag_clear(&crowd->turn);
    for (size_t i = 0; i < takers; i++)
        assert_ok(
            thread_start(&crowd->threads[i], "taker", taker_run, crowd, NULL));
    return crowd;
}

/* Waits until so many more numbers were taken. */
static void crowd_await(struct crowd *crowd, int64_t more)
{
    const int64_t goal = atomic_load(&crowd->taken) + more;
    const int64_t until_ms = clock_now_ms() + STUCK_MS;

    while (atomic_load(&crowd->taken) < goal && !atomic_load(&crowd->is_over) &&
           clock_now_ms() < until_ms)
        rest_shortly();
    if (atomic_load(&crowd->taken) < goal)
        print_error("stuck at %lld numbers, window %lld\n",
                    (long long)atomic_load(&crowd->taken),
                    (long long)atomic_load(&crowd->next));
}

/* Ends it; the numbers that came twice. `*taken` is how many came. */
static int64_t crowd_stop(struct crowd *crowd, int64_t *taken)
{
    int64_t twice;

    atomic_store(&crowd->is_over, true);
    for (size_t i = 0; i < crowd->takers; i++)
        pthread_join(crowd->threads[i], NULL);
    twice = atomic_load(&crowd->twice);
    *taken = atomic_load(&crowd->taken);
    print_message(
        "%lld numbers of %lld windows, %lld twice, %lld counts late\n",
        (long long)*taken, (long long)atomic_load(&crowd->next) - 1,
        (long long)twice, (long long)atomic_load(&crowd->missed));
    free(crowd->seen);
    free(crowd);
    return twice;
}

/* --- tests --- */

/* Each call looks at all its cells before it counts in any of them. */
TEST_SKIPPABLE(STARTED, of_two_who_saw_the_last_value_one_gets_nothing)
{
    struct seqb_request both[] = {
        {.counter = COUNTER, .want = 1, .limit = SIZE},
        {.counter = COUNTER, .want = 1, .limit = SIZE},
    };

    must_install(f, 5);
    must_grant(f, 5, 0, SIZE - 1);
    assert_ok(f->ops->reserve(f->backend, both, COUNT(both), &f->err));
    assert_ok(both[0].status);
    assert_int_equal(both[0].block.first, SIZE - 1);
    assert_int_equal(both[1].status, SEQB_EXHAUSTED);
    /* Nor did that count begin the next window, which may be another's. */
    must_answer(f, SEQB_EXHAUSTED, 5);
}

/* As many takers as connections, nearly, and windows as small as allowed:
 * every window ends with late counts. */
TEST_STATE(ON_SERVER, crowd_at_the_end_of_tiny_windows_takes_nothing_twice)
{
    static const char *const args[] = {"-c", "64", NULL};
    struct fixture *f = fixture_start(state, args);
    const int64_t goal = 12000 / SEQB_TEST_SCALE;
    struct crowd *crowd = crowd_start(f, 64, TAKERS_MAX, true);
    int64_t taken;

    crowd_await(crowd, goal);
    assert_int_equal(crowd_stop(crowd, &taken), 0);
    assert_true(taken >= goal);
}

/* Items of the cell's size, until the server lacks room. */
static void pressure(struct fixture *f)
{
    static char commands[300 * 64];

    for (int round = 0; round < 200; round++) {
        commands[0] = '\0';
        for (int i = 0; i < 300; i++)
            (void)text_append(commands, sizeof commands,
                              "%sms filler:%d:%d 20\r\n%020d",
                              i > 0 ? "\r\n" : "", round, i, i);
        memcached_execute(f->server, commands, f->answer, sizeof f->answer);
    }
}

TEST_STATE(ON_SERVER, server_that_forgets_in_every_way_repeats_nothing)
{
    static const char *const args[] = {"-c", "64", "-m", "2", NULL};
    struct fixture *f = fixture_start(state, args);
    const int64_t part = 5000 / SEQB_TEST_SCALE;
    struct crowd *crowd;
    int64_t taken;

    f->options.timeout_ms = 200;
    f->options.connect_timeout_ms = 200;
    crowd = crowd_start(f, SIZE, 4, false);
    for (int i = 0; i < 4; i++) {
        crowd_await(crowd, part);
        must_execute(f, "flush_all", "OK\r\n");
        crowd_await(crowd, part);
        server_kill(f->server);
        server_start(f->server);
        crowd_await(crowd, part);
        pressure(f);
        crowd_await(crowd, part);
        memcached_execute(f->server, "md " KEY, f->answer, sizeof f->answer);
        crowd_await(crowd, part);
        server_pause(f->server);
        for (int ms = 0; ms < 300; ms++)
            rest_shortly(); /* past the takers' time-out */
        server_resume(f->server);
    }
    crowd_await(crowd, part);
    assert_int_equal(crowd_stop(crowd, &taken), 0);
    assert_true(taken >= 21 * part);
}
