/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a period in a SQLite file: what noting, deleting and making them
 * do to each other, and times that somebody edited. */
#include "contract/sqlite_case.h"

#include <string.h>

#include "backends/backends.h"
#include "contract/sqlite_faults.h"
#include "platform/text.h"
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
    backend = sqlite_case_reopen(files, backend);
    status = reserve(backend, DAY, &request);
    if (status == SEQB_OK)
        assert_int_equal(request.block.first, 2);
    else
        assert_status(status, SEQB_EXHAUSTED);
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
}

/* --- purges that overlap --- */

/* By brokers of which one is late: what the first one noted stays. */
TEST_WITH(SQLITE_CASE, purge_does_not_note_less_than_another_one)
{
    const struct seqb_purge more = {ORDER, ORDER "@20261123", BEGINS_MS + 2, 9};
    const struct seqb_purge *const purges[] = {&day_is_over, &more,
                                               &day_is_over};
    struct seqb_backend *backend = sqlite_case_open(files);
    int32_t deleted;

    for (size_t i = 0; i < COUNT_OF(purges); i++)
        assert_ok(backend->ops->purge(backend, purges[i], &deleted, NULL));
    assert_int_equal(sqlite_files_ask(files,
                                      "SELECT count(*) FROM seqb_counters "
                                      "WHERE name = '@" ORDER "' "
                                      "AND origin = '" ORDER "@20261123'"),
                     1);
    assert_int_equal(sqlite_files_ask(files, "SELECT value FROM seqb_counters "
                                             "WHERE name = '@" ORDER "'"),
                     BEGINS_MS + 2);
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
}
