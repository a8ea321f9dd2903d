/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a period in a SQLite file: what noting, deleting and making them
 * do to each other, and times that somebody edited. */
#include "contract/sqlite_case.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "backends/backends.h"
#include "contract/sqlite_faults.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "support/test.h"

#define BEGINS_MS INT64_C(1795219200000)
#define DAY       ORDER "@20261121"
#define NEXT      ORDER "@20261122"

static const struct seqb_purge day_is_over = {ORDER, NEXT, BEGINS_MS + 1, 9};

static struct seqb_request request_of(const char *counter)
{
    return (struct seqb_request){
        .counter = counter, .want = 1, .limit = LIMIT, .begins_ms = BEGINS_MS};
}

static enum seqb_status reserve(struct seqb_backend *backend,
                                const char *counter, struct seqb_request *out)
{
    enum seqb_status status;

    *out = request_of(counter);
    status = backend->ops->reserve(backend, out, 1, NULL);
    return status == SEQB_OK ? out->status : status;
}

/* --- purged while it is counted in --- */

#define TAKERS    2
#define ROUNDS    10
#define TAKES_MAX 20000
#define BEFORE    5   /* takes of all before the purge */
#define AFTER     20  /* takes of each after it, if it let them */
#define PAUSE_US  500 /* that leaves the lock to others */

struct round {
    const struct sqlite_files *files;
    char counter[SEQB_COUNTER_SIZE];
    char day[SEQB_COUNTER_SIZE];
    char next[SEQB_COUNTER_SIZE];
    atomic_int taken;      /* or given up; released after each take */
    atomic_bool is_purged; /* released after the purge */
};

struct taker {
    struct round *round;
    pthread_t thread;
    int count;
    int64_t values[TAKES_MAX];
    enum seqb_status status;
};

static void *taker_run(void *argument)
{
    struct taker *me = argument;
    struct round *round = me->round;
    struct seqb_backend *backend = NULL;
    struct seqb_request request;
    int more = AFTER;

    me->status = backend_sqlite.open(&round->files->options, &backend, NULL);
    while (me->status == SEQB_OK && me->count < TAKES_MAX && more > 0) {
        if (atomic_load_explicit(&round->is_purged, memory_order_acquire))
            more--;
        me->status = reserve(backend, round->day, &request);
        if (me->status == SEQB_OK)
            me->values[me->count++] = request.block.first;
        atomic_fetch_add_explicit(&round->taken, 1, memory_order_release);
        (void)usleep(PAUSE_US);
    }
    atomic_fetch_add_explicit(&round->taken, BEFORE, memory_order_release);
    backend_sqlite.close(backend);
    return NULL;
}

static void round_begin(struct round *round, struct taker *takers, int number)
{
    (void)text_format(round->counter, sizeof round->counter, "main/0/%d",
                      number);
    (void)text_format(round->day, sizeof round->day, "main/0/%d@20261121",
                      number);
    (void)text_format(round->next, sizeof round->next, "main/0/%d@20261122",
                      number);
    for (int i = 0; i < TAKERS; i++) {
        takers[i].round = round;
        takers[i].count = 0;
        assert_ok(thread_start(&takers[i].thread, "taker", taker_run,
                               &takers[i], NULL));
    }
    while (atomic_load_explicit(&round->taken, memory_order_acquire) < BEFORE)
        (void)sched_yield();
}

static void assert_all_differ(const struct taker *takers)
{
    static char seen[TAKERS * TAKES_MAX + 1];

    memset(seen, 0, sizeof seen);
    for (int i = 0; i < TAKERS; i++) {
        for (int k = 0; k < takers[i].count; k++) {
            const int64_t value = takers[i].values[k];

            assert_in_range(value, 1, sizeof seen - 1);
            assert_int_equal(seen[value], 0);
            seen[value] = 1;
        }
    }
}

TEST_WITH(SQLITE_CASE, period_that_is_purged_meanwhile_repeats_nothing)
{
    static struct taker takers[TAKERS];
    struct seqb_backend *backend = sqlite_case_open(files);

    for (int i = 0; i < ROUNDS; i++) {
        struct round round = {.files = files};
        const struct seqb_purge purge = {round.counter, round.next,
                                         BEGINS_MS + 1, 9};
        int32_t deleted;

        round_begin(&round, takers, i);
        assert_ok(backend->ops->purge(backend, &purge, &deleted, NULL));
        atomic_store_explicit(&round.is_purged, true, memory_order_release);
        for (int k = 0; k < TAKERS; k++)
            pthread_join(takers[k].thread, NULL);
        assert_int_equal(deleted, 1);
        assert_all_differ(takers);
        for (int k = 0; k < TAKERS; k++)
            assert_status(takers[k].status, SEQB_EXHAUSTED);
    }
    backend_sqlite.close(backend);
}

/* --- cut off --- */

TEST_WITH(SQLITE_CASE, purge_is_done_whole_or_not_at_all)
{
    struct sqlite_faults *faults = sqlite_faults_install();
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_request request;
    enum seqb_status status;
    int32_t deleted = -7;

    assert_ok(reserve(backend, DAY, &request));
    faults->fails_sync = true;
    assert_status(backend->ops->purge(backend, &day_is_over, &deleted, NULL),
                  SEQB_UNCERTAIN);
    assert_int_equal(deleted, -7);
    faults->fails_sync = false;
    backend_sqlite.close(backend);
    backend = sqlite_case_open(files);
    status = reserve(backend, DAY, &request);
    if (status == SEQB_OK)
        assert_int_equal(request.block.first, 2);
    else
        assert_status(status, SEQB_EXHAUSTED);
    backend_sqlite.close(backend);
}

TEST_WITH(SQLITE_CASE, swap_is_synced_before_it_is_answered)
{
    struct sqlite_faults *faults = sqlite_faults_install();
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_swap swap = {"worker/main/1", "", "mine", NULL};
    char standing[8];

    faults->log_syncs = 0;
    assert_ok(
        backend->ops->swap(backend, &swap, standing, sizeof standing, NULL));
    assert_true(faults->log_syncs >= 1);
    swap = (struct seqb_swap){"worker/main/1", "mine", "next", NULL};
    faults->fails_sync = true;
    assert_status(
        backend->ops->swap(backend, &swap, standing, sizeof standing, NULL),
        SEQB_UNCERTAIN);
    backend_sqlite.close(backend);
}

/* The raise is not told when the period begins. */
TEST_WITH(SQLITE_CASE, purged_period_is_not_raised_into_being)
{
    const struct seqb_raise raise = {
        .counter = DAY, .floor = 3, .gap = 1000, .limit = LIMIT};
    struct seqb_backend *backend = sqlite_case_open(files);
    const struct seqb_purge less = {ORDER, DAY, BEGINS_MS, 9};
    struct seqb_request request;
    struct seqb_error err;
    int32_t deleted;
    int64_t value = -7;

    assert_ok(reserve(backend, DAY, &request));
    assert_ok(backend->ops->purge(backend, &day_is_over, &deleted, NULL));
    assert_ok(backend->ops->purge(backend, &less, &deleted, NULL));
    assert_status(backend->ops->raise(backend, &raise, &value, &err),
                  SEQB_EXHAUSTED);
    assert_non_null(strstr(err.text, "purged"));
    assert_int_equal(value, -7);
    assert_status(reserve(backend, DAY, &request), SEQB_EXHAUSTED);
    backend_sqlite.close(backend);
}

/* --- rows that somebody edited --- */

static void time_damage(const struct sqlite_files *files, const char *name)
{
    char sql[256];

    (void)text_format(sql, sizeof sql,
                      "PRAGMA ignore_check_constraints = 1;"
                      "REPLACE INTO seqb_counters VALUES ('%s', 'soon', '')",
                      name);
    sqlite_files_run(files, sql);
}

TEST_WITH(SQLITE_CASE, damaged_time_fails_what_needs_it_alone)
{
    static const char *const names[] = {"@" ORDER, "@"};
    struct seqb_backend *backend = sqlite_case_open(files);
    int32_t deleted;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct seqb_request requests[2] = {request_of(DAY), request_of(ORDER)};

        requests[1].begins_ms = 0;
        time_damage(files, names[i]);
        assert_ok(backend->ops->reserve(backend, requests, 2, NULL));
        assert_status(requests[0].status, SEQB_CORRUPT);
        assert_ok(requests[1].status);
    }
    assert_status(backend->ops->purge(backend, &day_is_over, &deleted, NULL),
                  SEQB_CORRUPT);
    backend_sqlite.close(backend);
}

/* What docs/guarantees.md says of it: nothing is left that knows. */
TEST_WITH(SQLITE_CASE, row_of_a_period_that_is_deleted_by_hand_begins_again)
{
    struct seqb_backend *backend = sqlite_case_open(files);
    struct seqb_request request;

    assert_ok(reserve(backend, DAY, &request));
    assert_ok(reserve(backend, DAY, &request));
    assert_int_equal(request.block.first, 2);
    sqlite_files_run(files, "DELETE FROM seqb_counters "
                            "WHERE name = '" DAY "'");
    assert_ok(reserve(backend, DAY, &request));
    assert_int_equal(request.block.first, 1);
    backend_sqlite.close(backend);
}
