/* SPDX-License-Identifier: Apache-2.0 */
/* What is peculiar to counters of periods on a MySQL or MariaDB server: the
 * locks and rights that purges need, and where mysql-autoinc keeps them. */
#include "contract/mysql_fixture.h"

#include <string.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "support/test.h"

/* --- many at once --- */

/* Were the mark only read, what is not committed yet would not be seen. */
TEST_SKIPPABLE(ON_ROW, counter_is_not_made_while_a_purge_notes)
{
    const char *const counters[] = {ORDER "@20261103"};
    struct waiter waiter;
    bool has_waited;

    must_purge(f, ORDER, 2, 0, 0);
    TELL(f, "BEGIN; UPDATE seqb_counters SET value = 9000000000000 "
            "WHERE name = '@" ORDER "'");
    waiter_start_of(&waiter, f, counters, 1, DAY(3));
    has_waited = waiter_waits(&waiter);
    TELL(f, "COMMIT");
    waiter_join(&waiter);
    assert_true(has_waited);
    assert_ok(waiter.status);
    assert_status(waiter.requests[0].status, SEQB_EXHAUSTED);
    assert_int_equal(
        number(f, "SELECT COUNT(*) FROM seqb_counters WHERE name LIKE '%@2%'"),
        0);
}

/* A dump that is put back under the connection, or another server. */
TEST_SKIPPABLE(ON_ROW, purge_changes_no_other_store)
{
    int32_t deleted = -1;

    must_take_day(f, ORDER, 1, 1);
    must_take_day(f, ORDER, 2, 1);
    TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
    assert_status(purge(f, ORDER, 2, 10, &deleted), SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "another one"));
    assert_int_equal(
        number(f, "SELECT COUNT(*) FROM seqb_counters WHERE name LIKE '%@2%'"),
        2);
    assert_int_equal(
        number(f, "SELECT COUNT(*) FROM seqb_counters WHERE name LIKE '@m%'"),
        0);
    must_open(f);
    must_purge(f, ORDER, 2, 10, 1);
}

/* As one that only fell behind the others is: nothing was forgotten. */
TEST_SKIPPABLE(ON_ROW, raise_of_a_base_that_holds_keeps_nothing_beside_it)
{
    const struct seqb_raise raise = {.counter = ORDER,
                                     .floor = 50,
                                     .limit = LIMIT,
                                     .base_gap = 1000,
                                     .base_floor = 1000,
                                     .base_ms = DAY(9)};
    int64_t value;

    TELL(f, "UPDATE seqb_counters SET value = 70");
    assert_ok(f->ops->raise(f->backend, &raise, &value, &f->err));
    assert_int_equal(value, 70);
    must_take_day(f, ORDER, 1, 1);
    assert_int_equal(number(f, "SELECT COUNT(*) FROM seqb_counters "
                               "WHERE name NOT LIKE '@@%'"),
                     3);
}

/* --- rights and roles --- */

TEST_SKIPPABLE(ON_ROW, purge_without_the_right_says_what_to_run)
{
    struct seqb_request request;
    int32_t deleted;

    must_take_day(f, ORDER, 1, 1);
    mariadb_execute(f->server, "REVOKE DELETE ON %s.* FROM seq", f->database);
    must_open(f);
    must_purge(f, ORDER, 3, 0, 0);
    for (int i = 0; i < 2; i++) {
        assert_status(purge(f, ORDER, 3, 10, &deleted), SEQB_REFUSED);
        assert_non_null(strstr(f->err.text, "run GRANT DELETE ON"));
        assert_non_null(strstr(f->err.text, ORDER));
    }
    assert_status(take_day(f, ORDER, 2, &request), SEQB_EXHAUSTED);
    must_take_day(f, ORDER, 1, 2);
    must_take_day(f, ORDER, 3, 1);
    mariadb_execute(f->server, "GRANT DELETE ON %s.seqb_counters TO seq",
                    f->database);
    must_open(f);
    must_purge(f, ORDER, 3, 10, 1);
}

TEST_SKIPPABLE(ON_ROW, swap_without_the_right_changes_nothing)
{
    assert_ok(swap_worker(f, "", "a"));
    mariadb_execute(f->server,
                    "REVOKE UPDATE ON %s.* FROM seq;"
                    "GRANT UPDATE ON %s.seqb_counters TO seq",
                    f->database, f->database);
    must_open(f);
    assert_status(swap_worker(f, "a", "b"), SEQB_REFUSED);
    assert_non_null(strstr(f->err.text, "sql/mysql.sql"));
    must_take(f, 5, 0);
    assert_int_equal(number(f, "SELECT COUNT(*) FROM seqb_claims "
                               "WHERE name = 'worker' AND text = 'a' "
                               "FOR UPDATE NOWAIT"),
                     1);
}

TEST_SKIPPABLE(ON_ROW, read_only_stops_even_who_may_write_then)
{
    int32_t deleted;

    must_take_day(f, ORDER, 1, 1);
    assert_ok(swap_worker(f, "", "a"));
    TELL(f, "GRANT READ_ONLY ADMIN ON *.* TO seq");
    must_open(f);
    TELL(f, "SET GLOBAL read_only = 1");
    assert_status(swap_worker(f, "a", "b"), SEQB_ROLE);
    assert_status(purge(f, ORDER, 3, 10, &deleted), SEQB_ROLE);
    TELL(f, "SET GLOBAL read_only = 0");
    assert_int_equal(
        number(f, "SELECT COUNT(*) FROM seqb_claims WHERE text = 'a'"), 1);
    assert_int_equal(
        number(f, "SELECT COUNT(*) FROM seqb_counters WHERE name LIKE '@%'"),
        0);
    must_open(f);
    must_take_day(f, ORDER, 1, 2);
}

/* --- swaps --- */

/* Its second statement fails: what the first one did is undone. */
TEST_SKIPPABLE(ON_ROW, swap_that_fails_leaves_no_trace_and_no_lock)
{
    assert_ok(swap_worker(f, "", "a"));
    TELL(f, "CREATE TRIGGER no BEFORE UPDATE ON seqb_claims FOR EACH ROW "
            "IF NEW.text = 'b' THEN SIGNAL SQLSTATE '45000'; END IF");
    assert_status(swap_worker(f, "a", "b"), SEQB_REFUSED);
    assert_int_equal(number(f, "SELECT COUNT(*) FROM seqb_claims "
                               "WHERE name = 'worker' AND text = 'a' "
                               "FOR UPDATE NOWAIT"),
                     1);
    TELL(f, "DROP TRIGGER no");
    assert_ok(swap_worker(f, "a", "b"));
    assert_string_equal(f->standing, "b");
}

/* An earlier one may be seen before it is on the disk, and this one answers for
 * it. */
TEST_SKIPPABLE(ON_ROW, text_that_stands_already_is_written_again)
{
    assert_ok(swap_worker(f, "", "a"));
    TELL(f, "CREATE TABLE writes (text VARBINARY(16));"
            "CREATE TRIGGER tell AFTER UPDATE ON seqb_claims FOR EACH ROW "
            "IF NOT NEW.text <=> OLD.text THEN "
            "INSERT INTO writes VALUES (NEW.text); END IF");
    for (int64_t i = 1; i <= 2; i++) {
        assert_ok(swap_worker(f, i == 1 ? "" : "x", "a"));
        assert_string_equal(f->standing, "a");
        assert_int_equal(
            number(f, "SELECT COUNT(*) FROM writes WHERE text = 'a'"), i);
    }
}

/* --- mysql-autoinc --- */

#define TABLES                                                                 \
    "SELECT COUNT(*) FROM information_schema.TABLES "                          \
    "WHERE TABLE_SCHEMA = DATABASE()"

/* A table for each counter of a period would be one a day, or a second. */
TEST_SKIPPABLE(ON_AUTOINC, autoinc_counts_periods_in_rows)
{
    const int64_t tables = number(f, TABLES);
    struct seqb_request request;
    int32_t deleted;

    for (int day = 1; day <= 3; day++)
        must_take_day(f, ORDER, day, 1);
    must_take_day(f, ORDER, 2, 2);
    assert_int_equal(number(f, TABLES), tables);
    assert_ok(purge(f, ORDER, 3, 9, &deleted));
    assert_int_equal(deleted, 2);
    assert_status(take_day(f, ORDER, 2, &request), SEQB_EXHAUSTED);
    must_take_day(f, ORDER, 3, 2);
    must_take(f, 1, 0);
    assert_int_equal(number(f, TABLES), tables + 1);
}

/* Another broker's mysql-row may count periods in the same tables. */
TEST_SKIPPABLE(ON_AUTOINC, autoinc_keeps_what_is_beside_the_base)
{
    struct seqb_raise raise = {
        .counter = ORDER, .limit = LIMIT, .base_gap = 1000, .base_ms = DAY(5)};
    struct seqb_request request;
    int64_t value;

    for (int i = 0; i < 2; i++) {
        TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
        must_open(f);
        assert_ok(f->ops->raise(f->backend, &raise, &value, &f->err));
        raise.base_ms = DAY(4);
    }
    f->ops->close(f->backend);
    f->backend = NULL;
    f->ops = &backend_mysql_row;
    must_open(f);
    assert_status(take_day(f, ORDER, 5, &request), SEQB_FENCED);
    must_take_day(f, ORDER, 6, 1);
}

/* --- clock --- */

TEST_SKIPPABLE(ON_ROW, clock_is_the_same_in_every_time_zone)
{
    const char *const zones[] = {"+05:30", "-11:00"};

    for (size_t i = 0; i < COUNT(zones); i++) {
        const int64_t before_ms = clock_wall_ms();
        int64_t now_ms = 0;

        mariadb_execute(f->server, "SET GLOBAL time_zone = '%s'", zones[i]);
        must_open(f);
        assert_ok(f->ops->clock(f->backend, &now_ms, &f->err));
        assert_in_range(now_ms, before_ms - 1, clock_wall_ms() + 1);
    }
    TELL(f, "SET GLOBAL time_zone = 'SYSTEM'");
}

TEST_BEFORE_ALL(without_sigpipe);
