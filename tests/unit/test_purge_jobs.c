/* SPDX-License-Identifier: Apache-2.0 */
/* What each call of a purge asks which store, and what is made of the answers.
 * The test is the store, and runs what is posted. What real stores delete is in
 * test_purge.c and in the contract. */
#include <string.h>

#include "platform/text.h"
#include "support/events.h"
#include "support/wrap.h"
#include "unit/slot_fixture.h"

#define WORKER        1
#define MOST          256
#define AHEAD_MOST_MS INT64_C(1800000)

static struct {
    char log[256];
    int32_t deleted;
    enum seqb_status status;
    int64_t ahead_ms;
    struct seqb_backend backends[PARTITIONS];
} store;

WRAPPED(int64_t, connection_clock_ahead_ms, const struct connection *connection)
{
    (void)connection;
    return store.ahead_ms;
}

static enum seqb_status store_purge(struct seqb_backend *backend,
                                    const struct seqb_purge *purge,
                                    int32_t *deleted, struct seqb_error *err)
{
    (void)text_append(store.log, sizeof store.log, "%d:%s%s-%lld/%d;",
                      (int)(backend - store.backends), purge->counter,
                      strrchr(purge->keep, '@'), (long long)purge->before_ms,
                      (int)purge->most);
    assert_memory_equal(purge->keep, purge->counter, strlen(purge->counter));
    *deleted = store.deleted;
    return store.status == SEQB_OK ? SEQB_OK
                                   : error_set(err, store.status, "it says no");
}

static void store_close(struct seqb_backend *backend)
{
    (void)backend;
}

static const struct seqb_backend_ops store_ops = {
    .engine = "test", .purge = store_purge, .close = store_close};

static int setup_stores(void **state)
{
    struct fixture *f;

    (void)setup_of(state, &store_ops);
    f = *state;
    (void)text_copy(f->pool.name, sizeof f->pool.name, "main");
    memset(&store, 0, sizeof store);
    for (int32_t i = 0; i < PARTITIONS; i++) {
        store.backends[i].ops = &store_ops;
        connect_worker(f, i, &store.backends[i]);
    }
    return 0;
}

#define STORES FIXTURE(struct fixture *f, setup_stores, teardown)

static void purge(struct fixture *f, int64_t digits)
{
    const struct ha_stamp keep = {digits, digits * 1000, digits * 1000 + 999};

    ha_counter_purge(f->counter, &keep);
}

/* What was posted to worker i. A connection that was lost is open again. */
static void run(struct fixture *f, int32_t i)
{
    struct worker_job *job = f->workers[i].first;

    f->workers[i].first = NULL;
    f->workers[i].connection.backend = &store.backends[i];
    while (job != NULL) {
        struct worker_job *next = job->next;

        job->call(&f->workers[i], job);
        job = next;
    }
}

static void run_all(struct fixture *f)
{
    store.log[0] = '\0';
    for (int32_t i = 0; i < PARTITIONS; i++)
        run(f, i);
}

/* What is under way is not posted again. */
TEST_WITH(STORES, each_store_notes_first_what_is_kept)
{
    purge(f, 1);
    purge(f, 2);
    run_all(f);
    assert_string_equal(store.log,
                        "0:main/0/key@0-1000/0;1:main/1/key@0-1000/0;"
                        "2:main/2/key@0-1000/0;3:main/3/key@0-1000/0;");
    purge(f, 2);
    store.log[0] = '\0';
    for (int32_t i = 0; i < PARTITIONS - 1; i++)
        run(f, i);
    assert_string_equal(store.log, "0:main/0/key@1-2000/256;"
                                   "1:main/1/key@1-2000/256;"
                                   "2:main/2/key@1-2000/256;");
    purge(f, 3);
    assert_null(f->workers[0].first);
    run(f, PARTITIONS - 1);
    purge(f, 3);
    assert_non_null(f->workers[0].first);
}

/* One store after the other answers; the next purge is of the same stamp. */
static const struct answer {
    enum seqb_status status;
    int32_t deleted;
    bool goes_on; /* it is asked by the next call as well */
    bool is_told; /* in the log */
    bool fails;   /* the partition */
} answers[] = {
    {SEQB_OK, 0, true, false, false}, /* it noted the stamp */
    {SEQB_OK, MOST, true, false, false},
    {SEQB_UNREACHABLE, 0, true, true, true},
    {SEQB_UNREACHABLE, 0, true, false, true},
    {SEQB_UNCERTAIN, 0, true, true, true},
    {SEQB_CORRUPT, MOST, false, true, false},
    {SEQB_CORRUPT, MOST, false, false, false},
    {SEQB_OK, MOST, true, false, false},
    {SEQB_CORRUPT, 0, false, true, false},
    {SEQB_OK, MOST - 1, true, false, false}, /* of another stamp, as row 0 */
    {SEQB_OK, MOST - 1, false, false, false},
};

TEST_WITH(STORES, store_is_asked_until_nothing_older_is_left)
{
    struct pool_member *member = &f->pool.pool.member[WORKER];
    int64_t digits = 3;

    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        print_message("  row %zu\n", i);
        events_start();
        member->state = SEQB_PARTITION_UP;
        member->slow = 0;
        store.status = answers[i].status;
        store.deleted = answers[i].deleted;
        purge(f, digits);
        run_all(f);
        assert_int_equal(
            events_count("event=purge_failed backend=b key=key", "it says no"),
            answers[i].is_told ? PARTITIONS : 0);
        assert_int_equal(member->state == SEQB_PARTITION_QUARANTINED,
                         answers[i].fails);
        assert_int_equal(member->slow, 0);
        purge(f, digits);
        assert_int_equal(f->workers[WORKER].first != NULL, answers[i].goes_on);
        if (answers[i].goes_on) {
            store.deleted = MOST;
            run_all(f);
        } else {
            digits++;
        }
    }
}

TEST_WITH(STORES, store_is_not_asked_whose_clock_or_claims_forbid_it)
{
    store.ahead_ms = -AHEAD_MOST_MS;
    purge(f, 3);
    run_all(f);
    assert_string_equal(store.log, "");
    store.ahead_ms++;
    for (int i = 0; i < PARTITIONS; i++)
        f->workers[i].connection.serial += i != WORKER;
    purge(f, 3);
    run_all(f);
    assert_string_equal(store.log, "1:main/1/key@0-3000/0;");
    store.ahead_ms = CONNECTION_NO_CLOCK;
    purge(f, 3);
    run_all(f);
    assert_string_equal(store.log, "1:main/1/key@3-3000/256;");
}

/* It counts as answered. */
TEST_WITH(STORES, worker_that_stops_is_not_asked)
{
    f->workers[0].is_stopping = true;
    for (int n = 0; n < 2; n++) {
        purge(f, 3);
        run_all(f);
        assert_non_null(strstr(store.log, "3:main/3/key"));
        assert_null(strstr(store.log, "0:main/0/key"));
    }
}

/* --- cells and their windows --- */

TEST_WITH(STORES, windows_of_a_cell_are_purged_where_they_are_leased)
{
    f->counter->slots[WORKER].is_windowed = true;
    f->pool.authority = &f->workers[3];
    purge(f, 3);
    run_all(f);
    assert_string_equal(store.log, "0:main/0/key@0-3000/0;"
                                   "1:cell:main/1/key@0-3000/0;"
                                   "2:main/2/key@0-3000/0;"
                                   "3:window/main/1/key@0-3000/0;"
                                   "3:main/3/key@0-3000/0;");
}

TEST_WITH(STORES, windows_of_neighbours_are_purged_in_all_of_them)
{
    f->pool.lessors.count = 2;
    f->pool.lessors.lessor[0].member = 2;
    f->pool.lessors.lessor[1].member = 3;
    for (int i = 0; i < PARTITIONS; i++)
        f->counter->slots[i].is_windowed = i == PARTITIONS - 1;
    purge(f, 3);
    run_all(f);
    assert_string_equal(store.log, "0:main/0/key@0-3000/0;"
                                   "1:main/1/key@0-3000/0;"
                                   "2:main/2/key@0-3000/0;"
                                   "2:window/main/3/key@0-3000/0;"
                                   "3:cell:main/3/key@0-3000/0;"
                                   "3:window/main/3/key@0-3000/0;");
}
