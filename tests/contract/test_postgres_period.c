/* SPDX-License-Identifier: Apache-2.0 */
/* What is peculiar to counters of periods in PostgreSQL: the locks and rights
 * that purges need, and the order of names. */
#include "contract/postgres_fixture.h"

#include <stdatomic.h>
#include <string.h>

#include "backends/postgres/session.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "support/test.h"

/* --- many at once --- */

struct maker {
    struct fixture *fixture;
    pthread_t thread;
    struct seqb_request request;
    enum seqb_status status;
    _Atomic bool has_ended;
};

static void *maker_run(void *argument)
{
    struct maker *maker = argument;

    maker->status = take_day(maker->fixture, ORDER, 3, &maker->request);
    atomic_store(&maker->has_ended, true);
    return NULL;
}

/* Were the mark only read, what is not committed yet would not be seen. */
TEST_SKIPPABLE(STARTED, counter_is_not_made_while_a_purge_notes)
{
    struct maker maker = {.fixture = f};
    PGconn *noter;
    bool has_waited;

    must_purge(f, ORDER, 2, 10, 0);
    noter = hold(f, "UPDATE seqb_counters SET value = 9000000000000"
                    " WHERE name = '@" ORDER "'");
    assert_ok(thread_start(&maker.thread, "maker", maker_run, &maker, NULL));
    has_waited = is_waited_for(f, "transactionid", &maker.has_ended);
    PQclear(PQexec(noter, "COMMIT"));
    PQfinish(noter);
    pthread_join(maker.thread, NULL);
    assert_true(has_waited);
    assert_status(maker.status, SEQB_EXHAUSTED);
    assert_int_equal(
        number(f, "SELECT count(*) FROM seqb_counters WHERE name LIKE '%@2%'"),
        0);
}

/* Whoever holds an old row delays nobody; it goes another time. */
TEST_SKIPPABLE(STARTED, purge_waits_for_no_row)
{
    PGconn *holder;

    for (int day = 1; day <= 4; day++)
        must_take_day(f, ORDER, day, 1);
    holder = hold(f, "SELECT FROM seqb_counters WHERE name = '" ORDER
                     "@20261102' FOR UPDATE");
    must_purge(f, ORDER, 4, 10, 2);
    PQclear(PQexec(holder, "ROLLBACK"));
    PQfinish(holder);
    must_purge(f, ORDER, 4, 10, 1);
    must_take_day(f, ORDER, 4, 2);
}

/* A dump that is put back under the connection, or another server. */
TEST_SKIPPABLE(STARTED, purge_changes_no_other_store)
{
    int32_t deleted = -1;

    must_take_day(f, ORDER, 1, 1);
    must_take_day(f, ORDER, 2, 1);
    TELL(f, "VACUUM FULL seqb_counters");
    assert_status(purge(f, ORDER, 2, 10, &deleted), SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "open it again"));
    assert_int_equal(
        number(f, "SELECT count(*) FROM seqb_counters WHERE name LIKE '%@2%'"),
        2);
    assert_int_equal(
        number(f, "SELECT count(*) FROM seqb_counters WHERE name LIKE '@m%'"),
        0);
    must_open(f);
    must_purge(f, ORDER, 2, 10, 1);
}

/* Each of the two counts for itself. */
TEST_SKIPPABLE(STARTED, note_that_is_older_in_part_lowers_nothing)
{
    const struct {
        struct seqb_purge note;
        int64_t before_ms;
        int64_t keep;
    } steps[] = {
        {{ORDER, ORDER "@20261102", DAY(6), 0}, DAY(6), 20261102},
        {{ORDER, ORDER "@20261104", DAY(5), 0}, DAY(6), 20261104},
        {{ORDER, ORDER "@20261103", DAY(7), 0}, DAY(7), 20261104},
        {{ORDER, ORDER "@20261101", DAY(1), 0}, DAY(7), 20261104},
    };
    int32_t deleted;

    for (size_t i = 0; i < COUNT(steps); i++) {
        assert_ok(backend_postgres.purge(f->backend, &steps[i].note, &deleted,
                                         &f->err));
        assert_int_equal(number(f, "SELECT value FROM seqb_counters"
                                   " WHERE name = '@" ORDER "'"),
                         steps[i].before_ms);
        assert_int_equal(number(f, "SELECT right(origin, 8) FROM seqb_counters"
                                   " WHERE name = '@" ORDER "'"),
                         steps[i].keep);
    }
}

/* As one that only fell behind the others is: nothing was forgotten. */
TEST_SKIPPABLE(STARTED, raise_of_a_base_that_holds_keeps_nothing_beside_it)
{
    const struct seqb_raise raise = {.counter = ORDER,
                                     .floor = 50,
                                     .limit = LIMIT,
                                     .base_gap = 1000,
                                     .base_floor = 1000,
                                     .base_ms = DAY(9)};
    int64_t value;

    TELL(f, "UPDATE seqb_counters SET value = 70");
    assert_ok(backend_postgres.raise(f->backend, &raise, &value, &f->err));
    assert_int_equal(value, 70);
    must_take_day(f, ORDER, 1, 1);
    assert_int_equal(number(f, "SELECT count(*) FROM seqb_counters "
                               "WHERE name NOT LIKE '@@%%'"),
                     3);
}

/* --- the order of names --- */

/* As in tables that were made before names had an order of their own: in this
 * one '@' and '-' hardly count. */
TEST_SKIPPABLE(STARTED, names_are_purged_in_the_order_of_bytes)
{
    const char *const others[] = {"main/0/ORDER", "main/0/or-der",
                                  "main/0/order-a", "main/0/order2",
                                  "main/0/order.2026"};

    TELL(f, "ALTER TABLE seqb_counters"
            " ALTER name TYPE text COLLATE \"und-x-icu\";"
            "UPDATE seqb_counters SET origin = " POSTGRES_ORIGIN);
    must_open(f);
    for (int day = 1; day <= 2; day++) {
        must_take_day(f, ORDER, day, 1);
        for (size_t i = 0; i < COUNT(others); i++)
            must_take_day(f, others[i], day, 1);
    }
    must_purge(f, ORDER, 2, 10, 1);
    for (size_t i = 0; i < COUNT(others); i++) {
        must_take_day(f, others[i], 1, 2);
        must_purge(f, others[i], 2, 10, 1);
    }
    must_take_day(f, ORDER, 2, 2);
}

/* --- rights and roles --- */

TEST_SKIPPABLE(STARTED, purge_without_the_right_says_what_to_run)
{
    struct seqb_request request;
    int32_t deleted;

    must_take_day(f, ORDER, 1, 1);
    TELL(f, "ALTER TABLE seqb_counters OWNER TO postgres;"
            "GRANT SELECT, INSERT, UPDATE ON seqb_counters TO seq");
    must_open(f);
    for (int i = 0; i < 2; i++) {
        assert_status(purge(f, ORDER, 3, 10, &deleted), SEQB_REFUSED);
        assert_non_null(strstr(f->err.text, "run GRANT DELETE ON"));
        assert_non_null(strstr(f->err.text, ORDER));
        assert_ok(purge(f, ORDER, 3, 0, &deleted));
    }
    assert_status(take_day(f, ORDER, 2, &request), SEQB_EXHAUSTED);
    must_take_day(f, ORDER, 1, 2);
    must_take_day(f, ORDER, 3, 1);
    TELL(f, "GRANT DELETE ON seqb_counters TO seq");
    must_purge(f, ORDER, 3, 10, 1);
}

TEST_SKIPPABLE(STARTED, swap_without_the_right_changes_nothing)
{
    assert_ok(swap_worker(f, "", "a"));
    TELL(f, "ALTER TABLE seqb_claims OWNER TO postgres;"
            "GRANT SELECT, INSERT ON seqb_claims TO seq");
    must_open(f);
    assert_status(swap_worker(f, "a", "b"), SEQB_REFUSED);
    assert_non_null(strstr(f->err.text, "sql/postgres.sql"));
    must_take(f, 5, 0);
    assert_int_equal(
        number(f, "SELECT count(*) FROM seqb_claims WHERE text = 'a'"), 1);
}

TEST_SKIPPABLE(STARTED, server_that_became_read_only_changes_nothing)
{
    int32_t deleted;

    must_take_day(f, ORDER, 1, 1);
    assert_ok(swap_worker(f, "", "a"));
    postgres_alter(f->server, "default_transaction_read_only = on");
    assert_status(swap_worker(f, "a", "b"), SEQB_ROLE);
    assert_status(purge(f, ORDER, 3, 10, &deleted), SEQB_ROLE);
    postgres_alter(f->server, "default_transaction_read_only = off");
    must_open(f);
    assert_ok(swap_worker(f, "a", "b"));
    must_take_day(f, ORDER, 2, 1);
    must_take_day(f, ORDER, 1, 2);
}

/* --- swaps --- */

/* An earlier one may be seen before a standby has it, and this one answers for
 * it. */
TEST_SKIPPABLE(STARTED, text_that_stands_already_is_written_again)
{
    const char *const expected[] = {"x", "", "a"};

    assert_ok(swap_worker(f, "", "a"));
    for (size_t i = 0; i < COUNT(expected); i++) {
        const int64_t before = number(f, "SELECT xmin FROM seqb_claims");

        assert_ok(swap_worker(f, expected[i], "a"));
        assert_string_equal(f->standing, "a");
        assert_int_not_equal(number(f, "SELECT xmin FROM seqb_claims"), before);
    }
}

/* --- clock --- */

TEST_SKIPPABLE(STARTED, clock_is_the_same_in_every_time_zone)
{
    const char *const zones[] = {"Asia/Kolkata", "Pacific/Niue"};

    for (size_t i = 0; i < COUNT(zones); i++) {
        const int64_t before_ms = clock_wall_ms();
        int64_t now_ms = 0;

        TELL(f, "ALTER ROLE seq SET timezone = '%s'", zones[i]);
        must_open(f);
        assert_ok(backend_postgres.clock(f->backend, &now_ms, &f->err));
        assert_in_range(now_ms, before_ms - 1, clock_wall_ms() + 1);
    }
    TELL(f, "ALTER ROLE seq RESET timezone");
}
