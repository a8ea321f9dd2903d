/* SPDX-License-Identifier: Apache-2.0 */
/* When the mysql-row engine takes its counters for another store's: rows that
 * are gone, another server, a table or files put back. */
#include "contract/mysql_fixture.h"

#include <string.h>
#include <time.h>

#include "platform/text.h"
#include "support/race.h"
#include "support/test.h"

static struct fixture *start_on(void **state, struct server *server)
{
    struct fixture *f = fixture_prepare_on(state, &backend_mysql_row, server);

    must_open(f);
    return f;
}

/* --- the base --- */

TEST_SKIPPABLE(ON_ROW, counter_is_new_only_while_the_base_holds)
{
    must_take(f, 5, 0);
    TELL(f, "UPDATE seqb_counters SET origin = 'x' WHERE name = ''");
    must_answer(f, "main/0/new", SEQB_FENCED);
    must_take(f, 5, 5);
    TELL(f, "DELETE FROM seqb_counters WHERE name = ''");
    must_answer(f, "main/0/new", SEQB_FENCED);
    must_take(f, 5, 10);
    assert_int_equal(number(f, "SELECT COUNT(*) FROM seqb_counters "
                               "WHERE name NOT LIKE '@@%'"),
                     1);
}

TEST_SKIPPABLE(ON_ROW, deleted_rows_are_not_made_anew_by_opening)
{
    const char *const ways[] = {"DELETE FROM seqb_counters",
                                "TRUNCATE seqb_counters"};

    must_take(f, 5, 0);
    for (size_t i = 0; i < COUNT(ways); i++) {
        mariadb_execute(f->server, "USE %s; %s", f->database, ways[i]);
        must_open(f); /* may create */
        must_answer(f, ORDER, SEQB_FENCED);
        assert_int_equal(must_raise(f, 0, 1000), 1000);
        must_take(f, 1, 1000);
    }
}

/* Who raises knows of its own grants alone. */
TEST_SKIPPABLE(ON_ROW,
               deleted_counter_begins_at_the_floor_and_others_at_the_gap)
{
    struct seqb_request request;

    must_take(f, 5000, 0);
    TELL(f, "DELETE FROM seqb_counters");
    assert_int_equal(must_raise(f, 5000, 1000), 5000);
    must_take(f, 5, 5000);
    assert_status(take(f, "main/0/other", 1, &request), SEQB_FENCED);
    TELL(f, "DELETE FROM seqb_counters WHERE name = ''");
    assert_int_equal(must_raise(f, 0, 1000), 5005); /* its row holds */
}

/* Whoever comes goes on above all that anybody was granted. */
TEST_SKIPPABLE(ON_ROW, deleted_row_goes_on_above_its_note)
{
    must_take(f, 100, 0);
    TELL(f, "DELETE FROM seqb_counters WHERE name = '" ORDER "'");
    must_open(f);
    must_take(f, 5, 65536);
    assert_int_equal(must_raise(f, 131070, 1000), 131070);
    must_take(f, 10, 131070);
    TELL(f, "DELETE FROM seqb_counters WHERE name = '" ORDER "'");
    assert_int_equal(must_raise(f, 0, 1000), 196608);
    must_take(f, 5, 196608);
}

/* An empty origin is nobody's: the value is to be raised, not forgotten. */
TEST_SKIPPABLE(ON_ROW, counter_whose_origin_was_emptied_is_fenced)
{
    must_take(f, 100, 0);
    TELL(f, "UPDATE seqb_counters SET origin = '' WHERE name = '" ORDER "'");
    must_answer(f, ORDER, SEQB_FENCED);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
    TELL(f, "UPDATE seqb_counters SET origin = ''");
    must_answer(f, ORDER, SEQB_FENCED);
    assert_int_equal(must_raise(f, 0, 1000), 2100);
    must_take(f, 1, 2100);
}

/* --- another server, another table --- */

TEST_SKIPPABLE(ON_ROW, server_that_became_another_ends_the_backend)
{
    struct seqb_backend *other;
    const struct seqb_raise raise = {ORDER, 0, 1000, LIMIT, 1000,
                                     0,     0, NULL, 0,     NULL};
    int64_t value;

    must_take(f, 5, 0);
    TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
    other = must_open_other(f);
    assert_string_not_equal(other->origin, f->backend->origin);
    assert_ok(f->ops->raise(other, &raise, &value, &f->err));
    assert_int_equal(value, 1005);
    f->ops->close(other);
    /* Bound to what the server is now, and yet not this backend's. */
    must_fail(f, SEQB_UNREACHABLE, "another one");
    must_open(f);
    must_take(f, 1, 1005);
}

TEST_SKIPPABLE(ON_ROW, raise_on_a_server_that_became_another_changes_nothing)
{
    const struct seqb_raise raise = {ORDER, 50, 1000, LIMIT, 1000,
                                     0,     0,  NULL, 0,     NULL};
    int64_t value = -7;

    must_take(f, 5, 0);
    TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
    assert_status(f->ops->raise(f->backend, &raise, &value, &f->err),
                  SEQB_UNREACHABLE);
    assert_int_equal(value, -7);
    must_open(f);
    must_answer(f, ORDER, SEQB_FENCED);
    assert_int_equal(must_raise(f, 0, 1000), 1005);
}

/* A store lives elsewhere for a while and returns: what was idle meanwhile
 * still names the first place. */
TEST_SKIPPABLE(ON_ROW, store_that_came_back_trusts_no_idle_row)
{
    const struct seqb_raise raise = {"main/0/a", 0, 1000, LIMIT, 1000,
                                     0,          0, NULL, 0,     NULL};
    int64_t value;

    must_take(f, 100, 0);
    TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
    must_open(f);
    assert_ok(f->ops->raise(f->backend, &raise, &value, &f->err));
    TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id - 1");
    must_open(f);
    must_answer(f, ORDER, SEQB_FENCED);
    must_answer(f, "main/0/a", SEQB_FENCED);
    must_answer(f, "main/0/new", SEQB_FENCED);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
    must_take(f, 5, 1100);
    must_open(f); /* once only */
    must_take(f, 5, 1105);
}

TEST_SKIPPABLE(ON_ROW, store_that_was_only_opened_elsewhere_trusts_no_row)
{
    must_take(f, 100, 0);
    TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
    must_open(f);
    TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id - 1");
    must_open(f);
    must_answer(f, ORDER, SEQB_FENCED);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
}

/* Whoever opens it first binds it; all that come meanwhile go by that. */
TEST_SKIPPABLE(ON_ROW, brokers_that_open_another_store_agree)
{
    struct seqb_backend *other;

    must_take(f, 100, 0);
    TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
    must_open(f);
    other = must_open_other(f);
    assert_string_equal(other->origin, f->backend->origin);
    f->ops->close(other);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
    other = must_open_other(f);
    assert_string_equal(other->origin, f->backend->origin);
    f->ops->close(other);
    must_take(f, 1, 1100);
}

/* As brokers of two versions may do. */
TEST_SKIPPABLE(ON_ROW, store_that_others_bound_again_is_opened_again)
{
    must_take(f, 100, 0);
    TELL(f, "UPDATE seqb_counters SET origin = CONCAT(origin, '#00000000')");
    must_fail(f, SEQB_UNREACHABLE, "open it again");
    must_open(f);
    must_take(f, 1, 100);
}

#define REPLACED_BY_DUMP                                                       \
    "CREATE OR REPLACE TABLE seqb_counters ("                                  \
    "name VARBINARY(127) NOT NULL PRIMARY KEY,"                                \
    "value BIGINT NOT NULL, origin VARBINARY(159) NOT NULL) ENGINE = InnoDB;"  \
    "INSERT INTO seqb_counters SELECT * FROM dump"

/* When the table was made. That counts seconds, so that what is put back is put
 * back until it has another date: a day old, it has. */
static int64_t table_made(struct fixture *f)
{
    return number(f, "SELECT CREATE_TIME + 0 FROM information_schema.TABLES "
                     "WHERE TABLE_SCHEMA = DATABASE() "
                     "AND TABLE_NAME = 'seqb_counters'");
}

#define LOCK_WAITS                                                             \
    "SELECT COUNT(*) FROM information_schema.PROCESSLIST "                     \
    "WHERE DB = DATABASE() AND STATE LIKE '%table metadata lock'"

/* Whatever was found out about the table that was there before. */
TEST_SKIPPABLE(ON_ROW, table_that_is_replaced_amid_a_call_is_not_granted_from)
{
    const char *const counters[] = {ORDER, "main/0/a"};
    struct waiter waiter;
    int64_t before;

    must_take(f, 100, 0);
    TELL(f, "INSERT INTO seqb_counters SELECT 'main/0/a', 7, origin "
            "FROM seqb_counters WHERE name = '';"
            "CREATE TABLE dump AS SELECT * FROM seqb_counters");
    must_take(f, 50, 100);
    before = table_made(f);
    TELL(f, "LOCK TABLES seqb_counters WRITE, dump READ");
    waiter_start(&waiter, f, counters, COUNT(counters));
    while (number(f, LOCK_WAITS) < 1)
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    while (table_made(f) == before)
        TELL(f, REPLACED_BY_DUMP);
    TELL(f, "UNLOCK TABLES");
    waiter_join(&waiter);
    assert_status(waiter.status, SEQB_UNREACHABLE);
    for (size_t i = 0; i < COUNT(counters); i++)
        assert_status(waiter.requests[i].status, SEQB_UNREACHABLE);
    must_open(f);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
}

/* A dump has the tables' definition and rows. */
TEST_SKIPPABLE(ON_ROW, dump_that_is_put_back_on_the_same_server_is_fenced)
{
    int64_t before;

    must_take(f, 100, 0);
    TELL(f, "CREATE TABLE dump AS SELECT * FROM seqb_counters");
    must_take(f, 50, 100);
    before = table_made(f);
    while (table_made(f) == before)
        TELL(f, REPLACED_BY_DUMP);
    must_fail(f, SEQB_UNREACHABLE, "another one");
    must_open(f);
    must_answer(f, ORDER, SEQB_FENCED);
    must_answer(f, "main/0/new", SEQB_FENCED);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
}

/* Waits for the begin of a second, so that what follows is done within it. */
static void await_second(struct fixture *f)
{
    while (number(f, "SELECT MICROSECOND(NOW(6)) DIV 100000") > 0)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
}

/* The date of a table counts seconds. So what is dumped within the second of
 * its table has granted nothing: it was not opened before that was over. */
TEST_SKIPPABLE(ON_ROW, dump_of_the_second_of_its_table_is_fenced)
{
    char incarnation[SEQB_INCARNATION_SIZE];
    int64_t at;

    f->options.needs_incarnation = true;
    must_take(f, 100, 0);
    TELL(f, "CREATE TABLE dump AS SELECT * FROM seqb_counters");
    await_second(f);
    TELL(f, REPLACED_BY_DUMP);
    must_open(f);
    at = must_raise(f, 0, 1000);
    TELL(f, "DELETE FROM dump;"
            "INSERT INTO dump SELECT * FROM seqb_counters");
    must_take(f, 50, at);
    (void)text_copy(incarnation, sizeof incarnation, f->backend->incarnation);
    TELL(f, REPLACED_BY_DUMP);
    must_open(f);
    must_answer(f, ORDER, SEQB_FENCED);
    assert_int_equal(must_raise(f, 0, 1000), at + 1000);
    assert_string_not_equal(f->backend->incarnation, incarnation);
}

TEST_STATE(ON_SERVER, copy_of_the_files_that_is_put_back_is_fenced)
{
    struct server *server;
    struct fixture *f;
    int64_t before;

    mariadb_require();
    server = server_mariadb(NULL);
    f = start_on(state, server);
    must_take(f, 100, 0);
    mariadb_copy_cold(server, "saved");
    must_open(f);
    must_take(f, 50, 100); /* the same files: nothing went back */
    before = table_made(f);
    while (table_made(f) == before)
        mariadb_put_back(server, "saved");
    must_open(f);
    must_answer(f, ORDER, SEQB_FENCED);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
}

/* Nothing is started, and the table keeps its date: see docs/guarantees.md. A
 * new table has another one. */
TEST_STATE(ON_SERVER, imported_file_is_noticed_in_a_new_table_alone)
{
    struct server *server;
    struct fixture *f;
    char saved[64];
    char table[64];

    mariadb_require();
    server = server_mariadb(NULL);
    f = start_on(state, server);
    (void)text_format(saved, sizeof saved, "saved/%s/seqb_counters",
                      f->database);
    must_take(f, 100, 0);
    mariadb_copy_cold(server, "saved");
    must_open(f);
    must_take(f, 50, 100);
    mariadb_import(server, saved, saved + strlen("saved/"));
    must_take(f, 50, 100);
    TELL(f, "CREATE TABLE new_counters LIKE seqb_counters");
    (void)text_format(table, sizeof table, "%s/new_counters", f->database);
    mariadb_import(server, saved, table);
    TELL(f, "RENAME TABLE seqb_counters TO old_counters,"
            "new_counters TO seqb_counters");
    must_fail(f, SEQB_UNREACHABLE, "another one");
    must_open(f);
    must_answer(f, ORDER, SEQB_FENCED);
    assert_int_equal(must_raise(f, 0, 1000), 1100);
}

/* --- claims --- */

#define CLAIMS_REPLACED_BY_DUMP                                                \
    "CREATE OR REPLACE TABLE seqb_claims ("                                    \
    "name VARBINARY(127) NOT NULL PRIMARY KEY,"                                \
    "text VARBINARY(4095) NOT NULL) ENGINE = InnoDB;"                          \
    "INSERT INTO seqb_claims SELECT * FROM old_claims"

static int64_t claims_made(struct fixture *f)
{
    return number(f, "SELECT CREATE_TIME + 0 FROM information_schema.TABLES "
                     "WHERE TABLE_SCHEMA = DATABASE() "
                     "AND TABLE_NAME = 'seqb_claims'");
}

/* A lease that was made after the dump, and that somebody holds. */
static void claims_put_back(struct fixture *f)
{
    const int64_t before = claims_made(f);

    assert_ok(swap_worker(f, "", "free"));
    TELL(f, "CREATE TABLE old_claims AS SELECT * FROM seqb_claims");
    assert_ok(swap_worker(f, "free", "held"));
    while (claims_made(f) == before)
        TELL(f, CLAIMS_REPLACED_BY_DUMP);
}

static void assert_other_claims(struct fixture *f, enum seqb_status status)
{
    assert_status(status, SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "another one"));
}

TEST_SKIPPABLE(ON_ROW, claims_put_back_under_a_connection_are_not_swapped)
{
    claims_put_back(f);
    assert_other_claims(f, swap_worker(f, "free", "taken"));
    must_open(f);
    assert_ok(swap_worker(f, "free", "taken"));
}

TEST_SKIPPABLE(ON_ROW, claims_put_back_under_a_connection_are_not_believed)
{
    claims_put_back(f);
    assert_other_claims(f, claim(f, "worker", NULL));
    must_open(f);
    TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
    assert_other_claims(f, claim(f, "layout", "x"));
    assert_other_claims(f, swap_worker(f, "", "taken"));
    assert_int_equal(number(f, "SELECT COUNT(*) FROM seqb_claims "
                               "WHERE name = 'layout'"),
                     0);
}

#define RAISERS 4

struct raiser {
    struct seqb_backend *backend;
    enum seqb_status status;
    int64_t value;
};

static void raiser_run(void *racer)
{
    struct raiser *raiser = racer;
    const struct seqb_raise raise = {ORDER, 0, 1000, LIMIT, 1000,
                                     0,     0, NULL, 0,     NULL};

    raiser->status = raiser->backend->ops->raise(raiser->backend, &raise,
                                                 &raiser->value, NULL);
}

static void raise_at_once(struct fixture *f, int64_t expected)
{
    struct raiser raisers[RAISERS];

    for (size_t i = 0; i < RAISERS; i++)
        raisers[i].backend = must_open_other(f);
    RACE(raisers, raiser_run);
    for (size_t i = 0; i < RAISERS; i++) {
        assert_ok(raisers[i].status);
        assert_int_equal(raisers[i].value, expected);
        f->ops->close(raisers[i].backend);
    }
}

TEST_SKIPPABLE(ON_ROW, gap_is_added_once_however_many_raise_at_once)
{
    must_take(f, 100, 0);
    for (int64_t round = 1; round <= 10; round++) {
        TELL(f, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
        raise_at_once(f, 100 + 1000 * round);
    }
    TELL(f, "DELETE FROM seqb_counters");
    raise_at_once(f, 1000);
}

TEST_BEFORE_ALL(without_sigpipe);
