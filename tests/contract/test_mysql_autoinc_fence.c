/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of mysql-autoinc that went back: what is left of them must not repeat
 * an id. */
#include "contract/mysql_fixture.h"

#include <mysql.h>
#include <stdatomic.h>
#include <string.h>

#include "platform/text.h"
#include "platform/thread.h"
#include "support/race.h"
#include "support/test.h"

#define LAST_ROW "SELECT COALESCE(MAX(id), 0) FROM order_code_0"
#define ROWS     "SELECT COUNT(*) FROM order_code_0"
#define NOTED    "SELECT value FROM seqb_counters WHERE name = '" ORDER "'"

static void must_be_fenced(struct fixture *f)
{
    struct seqb_request request;

    for (int i = 0; i < 2; i++) {
        assert_status(take(f, ORDER, 5, &request), SEQB_FENCED);
        assert_non_null(strstr(request.error.text, ORDER));
        assert_non_null(strstr(request.error.text, "order_code_0"));
    }
}

static void must_not_grant(struct fixture *f)
{
    struct seqb_request request;

    assert_true(take(f, ORDER, 1, &request) != SEQB_OK);
    assert_true(strlen(request.error.text) > 0);
}

/* --- tables that went back --- */

/* What a person may do to a table of which 100 ids were acknowledged, 50 of
 * them after the copy. */
static const struct {
    const char *name;
    const char *sql;
    int64_t rows; /* that are left */
} accidents[] = {
    {"TRUNCATE", "TRUNCATE order_code_0", 0},
    {"DELETE of all", "DELETE FROM order_code_0", 0},
    {"DELETE of the newest", "DELETE FROM order_code_0 WHERE id > 90", 90},
    {"an old copy of the table",
     "CREATE TABLE old LIKE order_code_0;"
     "INSERT INTO old SELECT * FROM order_code_0 WHERE id <= 50;"
     "DROP TABLE order_code_0; RENAME TABLE old TO order_code_0",
     50},
    {"old rows, and the next id lower",
     "DELETE FROM order_code_0 WHERE id > 50;"
     "ALTER TABLE order_code_0 AUTO_INCREMENT = 51",
     50},
};

static void accident_do(struct fixture *f, const char *sql)
{
    mariadb_execute(f->server, "USE %s;%s", f->database, sql);
}

static void accident_check(struct fixture *f, const char *sql, int64_t rows)
{
    must_take(f, 100, 0);
    accident_do(f, sql);
    must_be_fenced(f);
    assert_int_equal(number(f, ROWS), rows); /* nothing was changed */
    assert_int_equal(number(f, NOTED), 100);
    must_open(f);
    must_be_fenced(f);
    assert_int_equal(number(f, ROWS), rows);
    assert_int_equal(must_raise(f, 0, 1000), 100);
    must_take(f, 5, 100);
}

TEST_STATE(ON_SERVER, table_that_went_back_is_fenced_and_mended)
{
    for (size_t i = 0; i < COUNT(accidents); i++) {
        struct fixture *f = autoinc_start(state);

        print_message("# %s\n", accidents[i].name);
        accident_check(f, accidents[i].sql, accidents[i].rows);
        (void)fixture_stop(state);
        *state = NULL;
    }
}

TEST_SKIPPABLE(ON_AUTOINC, raise_mends_to_its_floor)
{
    must_take(f, 100, 0);
    TELL(f, "TRUNCATE order_code_0");
    assert_int_equal(must_raise(f, 500, 1000), 500);
    must_take(f, 5, 500);
}

TEST_SKIPPABLE(ON_AUTOINC, emptied_table_is_fenced_after_a_restart)
{
    must_take(f, 100, 0);
    TELL(f, "DELETE FROM order_code_0");
    server_kill(f->server);
    server_start(f->server);
    must_open(f);
    must_be_fenced(f);
    assert_int_equal(must_raise(f, 0, 1000), 100);
    must_take(f, 5, 100);
}

TEST_SKIPPABLE(ON_AUTOINC, dropped_table_is_fenced_and_made_again)
{
    must_take(f, 100, 0);
    TELL(f, "DROP TABLE order_code_0");
    must_be_fenced(f);
    assert_int_equal(must_raise(f, 0, 1000), 100);
    must_take(f, 5, 100);
}

TEST_SKIPPABLE(ON_AUTOINC, next_id_cannot_be_lowered_below_the_last_row)
{
    must_take(f, 100, 0);
    TELL(f, "ALTER TABLE order_code_0 AUTO_INCREMENT = 7");
    must_take(f, 5, 100);
}

/* A trigger stands for a server whose next id lags behind its rows. */
TEST_SKIPPABLE(ON_AUTOINC, ids_not_above_the_value_noted_are_not_granted)
{
    must_take(f, 10, 0);
    TELL(f, "DELETE FROM order_code_0 WHERE id = 5;"
            "CREATE TRIGGER low BEFORE INSERT ON order_code_0 "
            "FOR EACH ROW SET NEW.id = 5");
    must_not_grant(f);
    TELL(f, "DROP TRIGGER low");
    must_take(f, 1, 10);
}

TEST_SKIPPABLE(ON_AUTOINC, changed_ids_are_not_granted_again)
{
    must_take(f, 10, 0);
    TELL(f, "UPDATE order_code_0 SET id = 900 WHERE id = 10");
    must_take(f, 5, 900);
}

TEST_SKIPPABLE(ON_AUTOINC, rows_of_others_make_a_gap)
{
    must_take(f, 10, 0);
    TELL(f, "INSERT INTO order_code_0 (id) VALUES (NULL), (NULL), (40)");
    must_take(f, 5, 40);
    assert_int_equal(number(f, NOTED), 45);
}

/* --- rows of seqb_counters that are gone --- */

TEST_SKIPPABLE(ON_AUTOINC, counter_without_its_row_goes_on_above_its_table)
{
    struct seqb_request request;

    must_take(f, 100, 0);
    TELL(f, "DELETE FROM seqb_counters WHERE name = '" ORDER "'");
    assert_status(take(f, ORDER, 5, &request), SEQB_FENCED);
    must_take(f, 5, 100);
}

TEST_SKIPPABLE(ON_AUTOINC, counters_without_rows_are_raised_above_their_tables)
{
    must_take(f, 100, 0);
    TELL(f, "DELETE FROM seqb_counters");
    must_be_fenced(f);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
    must_take(f, 5, 1100);
}

TEST_SKIPPABLE(ON_AUTOINC, counter_whose_origin_was_emptied_is_raised_above_it)
{
    must_take(f, 100, 0);
    TELL(f, "UPDATE seqb_counters SET origin = '' WHERE name = '" ORDER "';"
            "TRUNCATE order_code_0");
    must_be_fenced(f);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
    must_take(f, 5, 1100);
}

TEST_SKIPPABLE(ON_AUTOINC, damaged_value_is_left_alone)
{
    const struct seqb_raise raise = {ORDER, 0, 1000, LIMIT, 1000,
                                     0,     0, NULL, 0,     NULL};
    struct seqb_request request;
    int64_t value;

    must_take(f, 10, 0);
    TELL(f, "SET check_constraint_checks = 0;"
            "UPDATE seqb_counters SET value = -5 WHERE name = '" ORDER "';"
            "SET check_constraint_checks = 1");
    assert_status(take(f, ORDER, 5, &request), SEQB_CORRUPT);
    assert_status(f->ops->raise(f->backend, &raise, &value, &f->err),
                  SEQB_CORRUPT);
    assert_int_equal(number(f, NOTED), -5);
    assert_int_equal(number(f, ROWS), 10);
}

TEST_SKIPPABLE(ON_AUTOINC, store_that_became_another_is_not_granted_from)
{
    struct seqb_request request;

    must_take(f, 100, 0);
    TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
    assert_status(take(f, ORDER, 5, &request), SEQB_UNREACHABLE);
    must_open(f);
    must_be_fenced(f);
    assert_int_equal(number(f, ROWS), 100);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
    must_take(f, 5, 1100);
}

TEST_SKIPPABLE(ON_AUTOINC, store_that_came_back_trusts_no_idle_row)
{
    must_take(f, 100, 0);
    TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
    must_open(f);
    TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id - 1");
    must_open(f);
    must_be_fenced(f);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
    must_take(f, 5, 1100);
}

TEST_SKIPPABLE(ON_AUTOINC, server_closed_for_writing_changes_nothing)
{
    struct seqb_request request;

    must_take(f, 100, 0);
    /* MariaDB's read_only does not stop those who have this right. */
    TELL(f, "GRANT READ_ONLY ADMIN ON *.* TO seq");
    must_open(f);
    must_take(f, 10, 100);
    TELL(f, "SET GLOBAL read_only = 1");
    assert_status(take(f, ORDER, 5, &request), SEQB_ROLE);
    assert_int_equal(number(f, ROWS), 110);
}

/* --- many at once --- */

#define TURNERS 4
#define TURNS   40
#define BLOCK   INT64_C(25)

struct turner {
    struct seqb_backend *backend;
    int whole; /* blocks of full length */
};

static void turner_run(void *racer)
{
    struct turner *turner = racer;
    const struct seqb_backend_ops *ops = turner->backend->ops;

    for (int i = 0; i < TURNS; i++) {
        struct seqb_request request = {
            .counter = ORDER, .want = BLOCK, .limit = LIMIT};

        if (ops->reserve(turner->backend, &request, 1, NULL) == SEQB_OK &&
            request.status == SEQB_OK && request.block.count == BLOCK)
            turner->whole++;
    }
}

/* Else their ids would alternate, and all blocks be short. */
TEST_SKIPPABLE(ON_AUTOINC, brokers_of_a_counter_take_turns)
{
    struct turner turners[TURNERS] = {0};

    must_take(f, BLOCK, 0);
    for (int i = 0; i < TURNERS; i++)
        turners[i].backend = must_open_other(f);
    RACE(turners, turner_run);
    for (int i = 0; i < TURNERS; i++) {
        f->ops->close(turners[i].backend);
        assert_int_equal(turners[i].whole, TURNS);
    }
    must_take(f, 1, BLOCK * (1 + TURNS * TURNERS));
}

static atomic_bool is_over;

/* Somebody who inserts by hand all the while, with a time of their own. */
static void *stranger_run(void *argument)
{
    const struct fixture *f = argument;
    MYSQL *handle = mysql_init(NULL);

    if (mysql_real_connect(handle, f->options.host, "seq", PASSWORD,
                           f->database, (unsigned)f->options.port, NULL,
                           0) != NULL) {
        while (!atomic_load(&is_over) &&
               mysql_query(handle, "INSERT INTO order_code_0 (generate_time) "
                                   "VALUES ('2000-01-01')") == 0)
            ;
    }
    mysql_close(handle);
    return NULL;
}

/* How many of a block's ids are the stranger's. */
static int64_t strange_ids(struct fixture *f, struct seqb_block block)
{
    char sql[256];

    (void)text_format(sql, sizeof sql,
                      "SELECT COUNT(*) FROM order_code_0 WHERE id BETWEEN "
                      "%lld AND %lld AND generate_time < '2001-01-01'",
                      (long long)block.first,
                      (long long)(block.first + block.count - 1));
    return number(f, sql);
}

/* Until one came between the ids of a block. */
TEST_SKIPPABLE(ON_AUTOINC, ids_of_others_are_in_no_block)
{
    struct seqb_request request;
    pthread_t stranger;

    must_take(f, 1, 0);
    atomic_store(&is_over, false);
    assert_ok(thread_start(&stranger, "stranger", stranger_run, f, NULL));
    do {
        assert_ok(take(f, ORDER, 100, &request));
        assert_int_equal(strange_ids(f, request.block), 0);
    } while (request.block.count == 100);
    atomic_store(&is_over, true);
    pthread_join(stranger, NULL);
}

TEST_BEFORE_ALL(without_sigpipe);
