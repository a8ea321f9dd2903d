/* SPDX-License-Identifier: Apache-2.0 */
/* What is peculiar to mysql-autoinc: its rows, the names and the making of
 * its tables, and what it refuses. */
#include "contract/mysql_fixture.h"

#include <string.h>
#include <time.h>

#include "platform/text.h"
#include "support/test.h"

#define ROWS     "SELECT COUNT(*) FROM order_code_0"
#define FIRST_ID "SELECT MIN(id) FROM order_code_0"
#define LAST_ID  "SELECT MAX(id) FROM order_code_0"
#define TABLES                                                                 \
    "SELECT COUNT(*) FROM information_schema.TABLES "                          \
    "WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = "

static void must_refuse(struct fixture *f, const char *counter,
                        const char *words)
{
    struct seqb_request request;

    for (int i = 0; i < 2; i++) {
        assert_status(take(f, counter, 1, &request), SEQB_REFUSED);
        assert_status(request.error.status, SEQB_REFUSED);
        if (strstr(request.error.text, words) == NULL ||
            strstr(request.error.text, counter) == NULL)
            fail_msg("%s", request.error.text);
    }
}

/* --- rows --- */

TEST_SKIPPABLE(ON_AUTOINC, each_id_has_a_row_and_a_time)
{
    must_take(f, 7, 0);
    must_take(f, 1, 7);
    assert_int_equal(number(f, ROWS), 8);
    assert_int_equal(number(f, LAST_ID), 8);
    assert_int_equal(number(f, "SELECT COUNT(*) FROM order_code_0 "
                               "WHERE ABS(TIMESTAMPDIFF(HOUR, generate_time, "
                               "UTC_TIMESTAMP)) <= 1"),
                     8);
    assert_int_equal(number(f, "SELECT value FROM seqb_counters "
                               "WHERE name = '" ORDER "'"),
                     8);
}

TEST_SKIPPABLE(ON_AUTOINC, grants_are_small_enough_for_the_time_of_a_call)
{
    enum { MANY = 16 };
    struct seqb_request requests[MANY];
    char names[MANY][SEQB_COUNTER_SIZE];
    int64_t rows = 0;

    for (int i = 0; i < MANY; i++) {
        (void)text_format(names[i], sizeof names[i], "main/0/%d", i);
        requests[i] = (struct seqb_request){
            .counter = names[i], .want = SEQB_GRANT_MAX, .limit = LIMIT};
    }
    for (size_t n = 1; n <= MANY; n *= 4) {
        assert_ok(f->ops->reserve(f->backend, requests, n, &f->err));
        rows = 0;
        for (size_t i = 0; i < n; i++) {
            assert_ok(requests[i].status);
            assert_in_range(requests[i].block.count, 1, 256);
            rows += requests[i].block.count;
        }
        assert_in_range(rows, 256, 1024);
    }
}

TEST_STATE(ON_SERVER, ids_apart_are_granted_one_by_one)
{
    static const char *const args[] = {"--auto-increment-increment=3",
                                       "--auto-increment-offset=2", NULL};
    struct fixture *f;
    struct seqb_request request;

    mariadb_require();
    f = fixture_prepare_on(state, &backend_mysql_autoinc, server_mariadb(args));
    must_open(f);
    for (int64_t id = 2; id <= 302; id += 3) {
        assert_ok(take(f, ORDER, 100, &request));
        assert_int_equal(request.block.first, id);
        assert_int_equal(request.block.count, 1);
    }
    assert_int_equal(must_raise(f, 1000, 0), 1000);
    assert_ok(take(f, ORDER, 100, &request));
    assert_int_equal(request.block.first, 1001);
    assert_int_equal(request.block.count, 1);
}

/* --- purge --- */

static void take_all(struct fixture *f, int64_t count, int64_t before)
{
    struct seqb_request request;

    while (count > 0) {
        assert_ok(take(f, ORDER, count, &request));
        assert_int_equal(request.block.first, before + 1);
        before += request.block.count;
        count -= request.block.count;
    }
}

TEST_SKIPPABLE(ON_AUTOINC, purge_keeps_so_many_rows_and_never_fewer)
{
    f->options.keep_rows = 300;
    must_open(f);
    take_all(f, 5000, 0);
    assert_in_range(number(f, ROWS), 300, 3000);
    assert_in_range(number(f, FIRST_ID), 2, 5000 - 300 + 1);
    assert_int_equal(number(f, LAST_ID), 5000);
    assert_int_equal(number(f, ROWS), 5000 - number(f, FIRST_ID) + 1);
}

/* With as many rows as a step of the purge waits for, and not before. */
TEST_SKIPPABLE(ON_AUTOINC, purge_comes_with_its_last_row)
{
    f->options.keep_rows = 1;
    must_open(f);
    take_all(f, 1023, 0);
    assert_int_equal(number(f, ROWS), 1023);
    take_all(f, 1, 1023);
    assert_int_equal(number(f, ROWS), 1);
    assert_int_equal(number(f, LAST_ID), 1024);
}

TEST_SKIPPABLE(ON_AUTOINC, purge_never_takes_the_last_row)
{
    int64_t last = 0;

    f->options.keep_rows = 1;
    must_open(f);
    for (int i = 0; i < 2; i++) {
        take_all(f, 2100, last);
        last += 2100;
        assert_int_equal(number(f, LAST_ID), last);
        server_kill(f->server);
        server_start(f->server);
        must_open(f);
    }
    take_all(f, 1, last);
}

TEST_SKIPPABLE(ON_AUTOINC, nothing_is_purged_unless_told)
{
    take_all(f, 3000, 0);
    assert_int_equal(number(f, ROWS), 3000);
}

/* --- making tables --- */

/* Runs the statement that the error of `take` ends with. */
static void must_advise(struct fixture *f, const char *counter)
{
    struct seqb_request request;
    const char *advice;

    assert_status(take(f, counter, 1, &request), SEQB_REFUSED);
    advice = strstr(request.error.text, ": run ");
    if (advice == NULL)
        fail_msg("%s", request.error.text);
    else
        mariadb_execute(f->server, "USE %s;%s", f->database, advice + 6);
}

TEST_SKIPPABLE(ON_AUTOINC, missing_table_is_refused_without_auto_create)
{
    f->options.auto_create = false;
    must_open(f);
    must_refuse(f, ORDER, "auto_create");
    assert_int_equal(number(f, TABLES "'order_code_0'"), 0);
    must_advise(f, ORDER);
    must_take(f, 5, 0);
}

TEST_SKIPPABLE(ON_AUTOINC, dropped_table_is_refused_without_auto_create)
{
    const struct seqb_raise raise = {ORDER, 0, 1000, LIMIT, 1000,
                                     0,     0, NULL, 0,     NULL};
    int64_t value;

    f->options.auto_create = false;
    must_open(f);
    must_advise(f, ORDER);
    must_take(f, 5, 0);
    TELL(f, "DROP TABLE order_code_0");
    assert_status(f->ops->raise(f->backend, &raise, &value, &f->err),
                  SEQB_REFUSED);
    must_advise(f, ORDER);
    assert_int_equal(must_raise(f, 0, 1000), 5);
    must_take(f, 5, 5);
}

TEST_SKIPPABLE(ON_AUTOINC, user_without_the_right_is_told_what_to_run)
{
    TELL(f, "REVOKE CREATE ON *.* FROM seq; REVOKE ALL PRIVILEGES, "
            "GRANT OPTION FROM seq");
    mariadb_execute(f->server, "GRANT SELECT, INSERT, UPDATE ON %s.* TO seq",
                    f->database);
    must_open(f);
    must_refuse(f, ORDER, "denied");
    must_advise(f, ORDER);
    must_take(f, 5, 0);
}

/* What sql/mysql.sql grants, and no more. */
TEST_SKIPPABLE(ON_AUTOINC, least_rights_suffice)
{
    struct seqb_request request;

    f->options.auto_create = false;
    must_open(f);
    must_advise(f, ORDER);
    mariadb_execute(f->server,
                    "REVOKE ALL PRIVILEGES, GRANT OPTION FROM seq;"
                    "GRANT SELECT, INSERT, UPDATE ON %s.seqb_counters TO seq;"
                    "GRANT SELECT, INSERT ON %s.seqb_claims TO seq;"
                    "GRANT SELECT, INSERT, DELETE ON %s.order_code_0 TO seq",
                    f->database, f->database, f->database);
    f->options.create = false;
    f->options.keep_rows = 10;
    must_open(f);
    take_all(f, 3000, 0);
    assert_in_range(number(f, ROWS), 10, 2500);
    TELL(f, "TRUNCATE order_code_0");
    assert_status(take(f, ORDER, 1, &request), SEQB_FENCED);
    assert_int_equal(must_raise(f, 0, 0), 3000);
    must_take(f, 5, 3000);
}

TEST_SKIPPABLE(ON_AUTOINC, table_with_rows_is_gone_on_with)
{
    TELL(f, "CREATE TABLE order_code_0 (id BIGINT UNSIGNED NOT NULL "
            "AUTO_INCREMENT PRIMARY KEY, made TIMESTAMP NULL) ENGINE=InnoDB "
            "AUTO_INCREMENT = 5000;"
            "INSERT INTO order_code_0 (made) VALUES (NOW()), (NOW())");
    must_take(f, 5, 5001);
}

TEST_SKIPPABLE(ON_AUTOINC, unfit_tables_are_refused)
{
    static const struct {
        const char *key;
        const char *columns;
        const char *words;
    } cases[] = {
        {"a", "(id INT AUTO_INCREMENT PRIMARY KEY)", "id int"},
        {"b", "(id BIGINT AUTO_INCREMENT PRIMARY KEY) ENGINE=MyISAM", "MyISAM"},
        {"c", "(id BIGINT PRIMARY KEY)", "id bigint PRI"},
        {"d", "(id BIGINT AUTO_INCREMENT, KEY (id))", "id bigint MUL"},
        {"e", "(number BIGINT AUTO_INCREMENT PRIMARY KEY)", "no id"},
        {"f", "AS SELECT 1 AS id", "id int"},
        {"g", "(id BIGINT AUTO_INCREMENT PRIMARY KEY) ENGINE=MEMORY", "MEMORY"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char counter[SEQB_COUNTER_SIZE];

        (void)text_format(counter, sizeof counter, "main/0/%s", cases[i].key);
        mariadb_execute(f->server, "CREATE TABLE %s.%s_code_0 %s", f->database,
                        cases[i].key, cases[i].columns);
        must_refuse(f, counter, cases[i].words);
    }
    TELL(f, "CREATE VIEW view_code_0 AS SELECT 1 AS id");
    must_refuse(f, "main/0/view", "a view");
    must_take(f, 1, 0); /* the others go on */
}

TEST_SKIPPABLE(ON_AUTOINC, refused_table_is_taken_once_it_is_repaired)
{
    TELL(f, "CREATE TABLE order_code_0 (id INT AUTO_INCREMENT PRIMARY KEY) "
            "ENGINE=MyISAM");
    must_advise(f, ORDER);
    must_take(f, 5, 0);
}

TEST_SKIPPABLE(ON_AUTOINC, broken_counter_does_not_stop_others)
{
    struct seqb_request requests[3] = {
        {.counter = "main/0/c", .want = 5, .limit = LIMIT},
        {.counter = "main/0/b", .want = 5, .limit = LIMIT},
        {.counter = "main/0/a", .want = 5, .limit = LIMIT}};

    for (int i = 0; i < 3; i++) {
        const int64_t c = requests[0].block.first;
        const int64_t a = requests[2].block.first;

        assert_ok(f->ops->reserve(f->backend, requests, 3, &f->err));
        assert_ok(requests[0].status);
        assert_status(requests[1].status, i == 0 ? SEQB_OK : SEQB_FENCED);
        assert_ok(requests[2].status);
        assert_true(requests[0].block.first > c);
        assert_true(requests[2].block.first > a);
        if (i == 0)
            TELL(f, "DROP TABLE b_code_0");
    }
}

/* --- names --- */

TEST_SKIPPABLE(ON_AUTOINC, counters_never_share_a_table)
{
    struct seqb_request request;

    must_take(f, 5, 0);
    must_refuse(f, "other/0/order", ORDER);
    f->options.table_format = "%s%d";
    must_open(f);
    assert_ok(take(f, "main/0/a1", 5, &request));
    must_refuse(f, "main/10/a", "main/0/a1");
}

TEST_STATE(ON_SERVER, case_of_a_key_counts_where_that_of_a_table_does_not)
{
    static const char *const args[] = {"--lower-case-table-names=1", NULL};
    static const char *const counters[] = {"main/0/a", "main/0/A"};
    struct seqb_request request;
    struct fixture *f;

    mariadb_require();
    f = fixture_prepare_on(state, &backend_mysql_autoinc, server_mariadb(args));
    f->options.table_format = "T_%s_%d";
    must_open(f);
    for (size_t i = 0; i < 6; i++) {
        assert_ok(take(f, counters[i % 2], 1, &request));
        assert_int_equal(request.block.first, 1 + i / 2);
    }
}

TEST_STATE(ON_SERVER, format_without_its_fields_is_invalid)
{
    struct fixture *f = fixture_prepare(state, &backend_mysql_autoinc);

    f->options.table_format = "%s_code";
    must_not_open(f, SEQB_INVALID, "%s_code");
}

/* --- servers --- */

TEST_STATE(ON_SERVER, server_that_forgets_the_next_id_is_refused)
{
    static const char *const maria[] = {"--version=10.2.3-MariaDB", NULL};
    static const char *const mysql[] = {"--version=5.7.44", NULL};
    static const char *const good[] = {"--version=10.2.4-MariaDB", NULL};
    static const struct {
        const char *const *args;
        const char *words; /* NULL: it opens */
    } cases[] = {{maria, "MariaDB 10.2.4"}, {mysql, "MySQL 8.0"}, {good, NULL}};

    mariadb_require();
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture *f = fixture_prepare_on(state, &backend_mysql_autoinc,
                                               server_mariadb(cases[i].args));

        if (cases[i].words != NULL)
            must_not_open(f, SEQB_UNSAFE, cases[i].words);
        else
            must_open(f);
        (void)fixture_stop(state);
        *state = NULL;
    }
}

#define LOCK_WAITS                                                             \
    "SELECT COUNT(*) FROM information_schema.PROCESSLIST "                     \
    "WHERE DB = DATABASE() AND STATE LIKE '%table metadata lock'"
#define MADE                                                                   \
    "SELECT CREATE_TIME + 0 FROM information_schema.TABLES "                   \
    "WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'seqb_counters'"

/* Whatever was found out about the tables that were there before. The time at
 * which one was made counts seconds. */
TEST_SKIPPABLE(ON_AUTOINC,
               tables_that_are_replaced_amid_a_call_are_not_granted_from)
{
    const char *const counters[] = {ORDER};
    struct waiter waiter;
    int64_t before;

    must_take(f, 100, 0);
    TELL(f, "CREATE TABLE dump AS SELECT * FROM seqb_counters");
    must_take(f, 50, 100);
    before = number(f, MADE);
    TELL(f, "LOCK TABLES seqb_counters WRITE, order_code_0 WRITE, dump READ");
    waiter_start(&waiter, f, counters, COUNT(counters));
    while (number(f, LOCK_WAITS) < 1)
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    while (number(f, MADE) == before)
        TELL(f, "CREATE OR REPLACE TABLE seqb_counters ("
                "name VARBINARY(127) NOT NULL PRIMARY KEY,"
                "value BIGINT NOT NULL, origin VARBINARY(159) NOT NULL)"
                "ENGINE = InnoDB;"
                "INSERT INTO seqb_counters SELECT * FROM dump");
    TELL(f, "DELETE FROM order_code_0 WHERE id > 100;"
            "ALTER TABLE order_code_0 AUTO_INCREMENT = 101; UNLOCK TABLES");
    waiter_join(&waiter);
    assert_status(waiter.status, SEQB_UNREACHABLE);
    assert_status(waiter.requests[0].status, SEQB_UNREACHABLE);
    must_open(f);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
}

TEST_BEFORE_ALL(without_sigpipe);
