/* SPDX-License-Identifier: Apache-2.0 */
/* What is peculiar to the mysql-row engine: its one statement a counter, and
 * what may happen to the server between two calls or within one. */
#include "contract/mysql_fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/text.h"
#include "support/test.h"

/* --- the one statement --- */

TEST_SKIPPABLE(ON_ROW, value_of_an_update_that_did_nothing_is_never_used)
{
    const char *const counters[] = {"a", ORDER, "b"};
    struct seqb_request requests[COUNT(counters)];

    must_take(f, 7, 0);
    must_take(f, 5, 7);
    TELL(f, "UPDATE seqb_counters SET origin = 'x' "
            "WHERE name = '" ORDER "'");
    for (int i = 0; i < 3; i++)
        must_answer(f, ORDER, SEQB_FENCED);
    memset(requests, 0x5a, sizeof requests);
    for (size_t i = 0; i < COUNT(requests); i++) {
        requests[i].counter = counters[i];
        requests[i].want = 9;
        requests[i].limit = LIMIT;
        requests[i].begins_ms = 0;
        requests[i].guard = NULL;
    }
    for (int64_t before = 0; before < 27; before += 9) {
        assert_ok(
            f->ops->reserve(f->backend, requests, COUNT(requests), &f->err));
        assert_int_equal(requests[0].block.first, before + 1);
        assert_status(requests[1].status, SEQB_FENCED);
        assert_int_equal(requests[2].block.first, before + 1);
    }
    assert_int_equal(must_raise(f, 0, 100), 112);
    must_take(f, 1, 112);
}

TEST_SKIPPABLE(ON_ROW, names_are_bytes_whatever_is_in_them)
{
    const char *const counters[] = {
        "o'r\\d\"er", "o'r\\d\"er\\", "'; --", "%", "_",  "\n",
        "\xc3\xa9",   "\xff\xfe",     "E",     "e", "e ", "`e`"};
    struct seqb_request request;

    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT(counters); i++) {
            const int64_t want = 1 + (int64_t)i;

            assert_ok(take(f, counters[i], want, &request));
            assert_int_equal(request.block.first, 1 + round * want);
        }
    }
    assert_int_equal(number(f, "SELECT COUNT(*) FROM seqb_counters"),
                     2 * COUNT(counters) + 1); /* with their notes */
}

TEST_SKIPPABLE(ON_ROW, largest_batch_is_served_whole_and_in_any_order)
{
    enum { MANY = 1024 };
    static char names[MANY][16];
    struct seqb_request *requests = calloc(MANY, sizeof *requests);

    assert_non_null(requests);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            (void)text_format(names[i], sizeof names[i], "k%d",
                              round == 0 ? i : MANY - 1 - i);
            requests[i] = (struct seqb_request){
                .counter = names[i], .want = 10, .limit = LIMIT};
        }
        assert_ok(f->ops->reserve(f->backend, requests, MANY, &f->err));
        for (int i = 0; i < MANY; i++) {
            assert_ok(requests[i].status);
            assert_int_equal(requests[i].block.first, 1 + 10 * round);
        }
    }
    free(requests);
}

TEST_SKIPPABLE(ON_ROW, rest_below_the_limit_is_one_smaller_grant)
{
    struct seqb_request request = {.counter = ORDER, .want = 10, .limit = 25};
    const struct seqb_block blocks[] = {{1, 10}, {11, 10}, {21, 5}};

    for (size_t i = 0; i < COUNT(blocks); i++) {
        assert_ok(f->ops->reserve(f->backend, &request, 1, &f->err));
        assert_ok(request.status);
        assert_int_equal(request.block.first, blocks[i].first);
        assert_int_equal(request.block.count, blocks[i].count);
    }
    assert_ok(f->ops->reserve(f->backend, &request, 1, &f->err));
    assert_status(request.status, SEQB_EXHAUSTED);
}

TEST_SKIPPABLE(ON_ROW, damaged_counter_fails_alone)
{
    struct seqb_request requests[2] = {
        {.counter = ORDER, .want = 3, .limit = LIMIT},
        {.counter = "main/0/other", .want = 3, .limit = LIMIT},
    };

    must_take(f, 5, 0);
    TELL(f, "SET check_constraint_checks = 0;"
            "UPDATE seqb_counters SET value = -5 WHERE name = '" ORDER "';"
            "SET check_constraint_checks = 1");
    assert_ok(f->ops->reserve(f->backend, requests, 2, &f->err));
    assert_status(requests[0].status, SEQB_CORRUPT);
    assert_ok(requests[1].status);
}

/* What was meant for it in the transaction that is undone is no grant. */
TEST_SKIPPABLE(ON_ROW, row_that_the_server_refuses_fails_alone)
{
    struct seqb_request requests[3] = {
        {.counter = "main/0/a", .want = 5, .limit = LIMIT},
        {.counter = "main/0/bad", .want = 5, .limit = LIMIT},
        {.counter = "main/0/c", .want = 5, .limit = LIMIT},
    };

    TELL(f, "CREATE TRIGGER refuse BEFORE INSERT ON seqb_counters FOR EACH ROW "
            "SET NEW.value = IF(NEW.name = 'main/0/bad', "
            "(SELECT 1 UNION SELECT 2), NEW.value)");
    assert_ok(f->ops->reserve(f->backend, requests, 3, &f->err));
    assert_ok(requests[0].status);
    assert_int_equal(requests[0].block.count, 5);
    assert_status(requests[1].status, SEQB_REFUSED);
    assert_non_null(strstr(requests[1].error.text, "counter main/0/bad: "));
    assert_ok(requests[2].status);
    must_take(f, 1, 0); /* and the connection is well */
    assert_int_equal(number(f, "SELECT SUM(value) FROM seqb_counters "
                               "WHERE name NOT LIKE '@@%'"),
                     11);
}

/* --- rights --- */

static void must_miss_insert(struct fixture *f)
{
    const struct seqb_raise raise = {ORDER, 1, 1,    LIMIT, 0,
                                     0,     0, NULL, 0,     NULL};
    struct seqb_request requests[3] = {
        {.counter = "main/0/new", .want = 3, .limit = LIMIT},
        {.counter = ORDER, .want = 3, .limit = LIMIT},
        {.counter = "main/0/used-up", .want = 3, .limit = 1},
    };
    int64_t value;

    assert_ok(f->ops->reserve(f->backend, requests, 3, &f->err));
    assert_status(requests[0].status, SEQB_REFUSED);
    assert_non_null(strstr(requests[0].error.text, "counter main/0/new: "));
    assert_non_null(strstr(requests[0].error.text, "INSERT command denied"));
    assert_ok(requests[1].status);
    /* Why it was not served at once cannot be found out. */
    assert_status(requests[2].status, SEQB_REFUSED);
    assert_status(f->ops->raise(f->backend, &raise, &value, &f->err),
                  SEQB_REFUSED);
    must_take(f, 1, requests[1].block.first + 2);
}

/* A right on the whole database is seen once it has been missed. */
TEST_SKIPPABLE(ON_ROW, missing_insert_is_missed_by_new_counters_alone)
{
    static const char *const tables[] = {"seqb_counters", "*"};
    struct seqb_request request;

    assert_ok(take(f, ORDER, 1, &request));
    assert_ok(take(f, "main/0/used-up", 1, &request));
    for (size_t i = 0; i < COUNT(tables); i++) {
        char counter[32];

        TELL(f, "CREATE OR REPLACE USER seq IDENTIFIED BY '" PASSWORD "';"
                "GRANT SELECT, UPDATE ON seqb_counters TO seq;"
                "GRANT SELECT, INSERT ON seqb_claims TO seq");
        must_open(f);
        assert_ok(take(f, ORDER, 1, &request));
        must_miss_insert(f);
        mariadb_execute(f->server, "GRANT INSERT ON %s.%s TO seq", f->database,
                        tables[i]);
        (void)text_format(counter, sizeof counter, "main/0/made-%zu", i);
        (void)take(f, counter, 1, &request);
        assert_ok(take(f, counter, 1, &request));
    }
}

/* As after a mistake by hand. The claim stands, so it is not added again. The
 * limit of queries ends a call that would not end. */
TEST_SKIPPABLE(ON_ROW, empty_claim_among_many_is_found)
{
    struct seqb_claim claims[] = {{.name = "a", .text = "t"},
                                  {.name = "b", .text = "t"}};
    size_t done;

    TELL(f, "INSERT INTO seqb_claims (name, text) VALUES ('a', '');"
            "CREATE OR REPLACE USER seq IDENTIFIED BY '" PASSWORD "' "
            "WITH MAX_QUERIES_PER_HOUR 200;"
            "GRANT SELECT, INSERT, UPDATE ON seqb_counters TO seq;"
            "GRANT SELECT, INSERT ON seqb_claims TO seq");
    must_open(f);
    assert_done(
        f->ops->claim_many(f->backend, claims, COUNT(claims), &done, &f->err),
        f->err);
    assert_int_equal(done, COUNT(claims));
    assert_string_equal(claims[0].standing, "");
    assert_string_equal(claims[1].standing, "t");
}

/* --- what a server may do to a call --- */

TEST_SKIPPABLE(ON_ROW, read_only_stops_even_who_may_write_then)
{
    TELL(f, "GRANT READ_ONLY ADMIN ON *.* TO seq");
    must_open(f);
    must_take(f, 5, 0);
    TELL(f, "SET GLOBAL read_only = 1");
    must_fail(f, SEQB_ROLE, "read_only");
    TELL(f, "SET GLOBAL read_only = 0");
    must_open(f);
    TELL(f, "SET GLOBAL read_only = 1");
    assert_status(claim(f, "c", "t"), SEQB_ROLE);
    assert_int_equal(
        number(f, "SELECT COUNT(*) FROM seqb_claims WHERE name = 'c'"), 0);
}

TEST_SKIPPABLE(ON_ROW, killed_connection_is_not_used_again)
{
    int64_t id;

    must_take(f, 5, 0);
    id = number(f, "SELECT ID FROM information_schema.PROCESSLIST "
                   "WHERE USER = 'seq' AND DB = DATABASE()");
    mariadb_execute(f->server, "KILL CONNECTION %" PRId64, id);
    must_fail(f, SEQB_UNCERTAIN, "mysql-a");
    must_open(f);
    must_take(f, 5, 5);
}

TEST_SKIPPABLE(ON_ROW, statement_that_is_killed_is_uncertain)
{
    const char *const kinds[] = {"CONNECTION", "QUERY"};
    const char *const counters[] = {ORDER};
    struct waiter waiter;

    must_take(f, 5, 0);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const int64_t id =
            number(f, "SELECT ID FROM information_schema.PROCESSLIST "
                      "WHERE USER = 'seq' AND DB = DATABASE()");

        TELL(f, "BEGIN; SELECT * FROM seqb_counters FOR UPDATE");
        waiter_start(&waiter, f, counters, 1);
        await_waiting(f, 1);
        mariadb_execute(f->server, "KILL %s %" PRId64 "; ROLLBACK", kinds[i],
                        id);
        waiter_join(&waiter);
        assert_status(waiter.status, SEQB_UNCERTAIN);
        assert_status(waiter.requests[0].status, SEQB_UNCERTAIN);
        must_open(f);
        must_take(f, 5, 5 + 5 * (int64_t)i);
    }
}

/* The other transaction changed more rows, so that the server ends ours. */
TEST_SKIPPABLE(ON_ROW, deadlock_is_a_clean_failure)
{
    const char *const counters[] = {ORDER, "main/0/a"};
    struct seqb_request request;
    struct waiter waiter;

    must_take(f, 5, 0);
    assert_ok(take(f, counters[1], 5, &request));
    TELL(f, "BEGIN; INSERT INTO seqb_counters (name, value, origin) "
            "SELECT seq, 0, 'x' FROM seq_1_to_100;"
            "SELECT * FROM seqb_counters WHERE name = '" ORDER "' FOR UPDATE");
    waiter_start(&waiter, f, counters, COUNT(counters));
    await_waiting(f, 1); /* it holds the other row */
    TELL(f, "SELECT * FROM seqb_counters WHERE name = 'main/0/a' FOR UPDATE");
    waiter_join(&waiter);
    TELL(f, "ROLLBACK");
    assert_status(waiter.status, SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "Deadlock"));
    for (size_t i = 0; i < COUNT(counters); i++)
        assert_status(waiter.requests[i].status, SEQB_UNREACHABLE);
    must_open(f);
    must_take(f, 5, 5);
    assert_ok(take(f, counters[1], 5, &request));
    assert_int_equal(request.block.first, 6);
}

TEST_STATE(ON_SERVER, stopped_server_obeys_the_deadline)
{
    struct fixture *f;
    struct seqb_backend *other;
    char standing[16];

    mariadb_require();
    f = fixture_prepare_on(state, &backend_mysql_row, server_mariadb(NULL));
    must_open(f);
    must_take(f, 5, 0);
    f->options.timeout_ms = 300;
    must_open(f);
    other = must_open_other(f);
    server_pause(f->server);
    must_fail(f, SEQB_UNCERTAIN, "no answer within 300 ms");
    assert_status(
        f->ops->claim(other, "c", NULL, standing, sizeof standing, &f->err),
        SEQB_UNREACHABLE);
    f->ops->close(other);
    f->options.connect_timeout_ms = 300;
    must_not_open(f, SEQB_UNREACHABLE, "mysql-a");
    server_resume(f->server);
    f->options.connect_timeout_ms = 20000;
    f->options.timeout_ms = 20000;
    must_open(f);
    assert_true(must_raise(f, 0, 0) >= 5);
}

TEST_SKIPPABLE(ON_ROW, child_may_not_use_the_connection)
{
    struct seqb_request request;
    pid_t child;
    int ended;

    must_take(f, 5, 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(take(f, ORDER, 1, &request) == SEQB_FORKED ? 0 : 1);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    must_take(f, 5, 5);
}

/* --- cells --- */

#define CELL SEQB_CELL ORDER

static enum seqb_status install(struct fixture *f, int64_t window)
{
    const struct seqb_window lease = {
        .counter = CELL, .window = window, .size = 100};
    int64_t standing;

    return f->ops->install(f->backend, &lease, &standing, &f->err);
}

static enum seqb_status take_cell(struct fixture *f, int64_t window,
                                  struct seqb_request *out)
{
    *out = (struct seqb_request){
        .counter = CELL, .want = 1, .limit = 100, .window = window};
    assert_ok(f->ops->reserve(f->backend, out, 1, &f->err));
    return out->status;
}

/* As in a store that an earlier version made. */
TEST_SKIPPABLE(ON_ROW, table_of_the_incarnation_is_made_when_cells_need_it)
{
    struct seqb_request request;

    TELL(f, "DROP TABLE seqb_incarnation");
    f->options.auto_create = true;
    must_open(f);
    assert_status(take_cell(f, 1, &request), SEQB_FENCED);
    assert_ok(install(f, 1));
    assert_ok(take_cell(f, 1, &request));
    assert_int_equal(request.block.first, 0);
    must_take(f, 5, 0);
}

TEST_SKIPPABLE(ON_ROW, cells_without_their_table_fail_alone)
{
    struct seqb_request requests[] = {
        {.counter = CELL, .want = 1, .limit = 100, .window = 1},
        {.counter = ORDER, .want = 1, .limit = 100}};

    TELL(f, "DROP TABLE seqb_incarnation");
    f->options.auto_create = false;
    must_open(f);
    assert_ok(f->ops->reserve(f->backend, requests, 2, &f->err));
    assert_status(requests[0].status, SEQB_REFUSED);
    assert_non_null(strstr(requests[0].error.text, "sql/mysql.sql"));
    assert_ok(requests[1].status);
    assert_status(install(f, 1), SEQB_REFUSED);
    must_take(f, 1, 1);
}

/* One that outlives a start would make the old cells good again. */
TEST_SKIPPABLE(ON_ROW, incarnation_that_is_kept_on_disk_is_unsafe)
{
    struct seqb_request request;

    TELL(f, "ALTER TABLE seqb_incarnation ENGINE = InnoDB");
    must_open(f);
    assert_status(install(f, 1), SEQB_UNSAFE);
    assert_status(take_cell(f, 1, &request), SEQB_UNSAFE);
    assert_non_null(strstr(request.error.text, "ENGINE = MEMORY"));
    must_take(f, 5, 0);
}

/* A cell that is bound to it would be good in each run of the server. */
TEST_SKIPPABLE(ON_ROW, window_is_not_bound_to_an_empty_nonce)
{
    struct seqb_request request;

    must_open(f);
    assert_ok(install(f, 1));
    TELL(f, "UPDATE seqb_incarnation SET nonce = ''");
    assert_status(take_cell(f, 1, &request), SEQB_FENCED);
    assert_status(install(f, 2), SEQB_REFUSED);
    assert_non_null(strstr(f->err.text, "does not keep its incarnation"));
    assert_status(take_cell(f, 2, &request), SEQB_FENCED);
    must_take(f, 5, 0);
    TELL(f, "DELETE FROM seqb_incarnation");
    assert_ok(install(f, 2));
    assert_ok(take_cell(f, 2, &request));
}

TEST_BEFORE_ALL(without_sigpipe);

/* A trigger may leave a row as it is, without an error. */
TEST_SKIPPABLE(ON_ROW, block_whose_row_a_trigger_kept_is_not_granted)
{
    struct seqb_request request;

    must_take(f, 5, 0);
    TELL(f, "CREATE TRIGGER keep BEFORE UPDATE ON seqb_counters FOR EACH ROW "
            "SET NEW.value = OLD.value");
    assert_status(take(f, ORDER, 5, &request), SEQB_PROTOCOL);
    assert_non_null(strstr(request.error.text, "trigger"));
    TELL(f, "DROP TRIGGER keep");
    must_open(f);
    must_take(f, 5, 5);
}

/* Otherwise the caller has the first ten, and whoever is next has them too. */
TEST_SKIPPABLE(ON_ROW, window_whose_cell_a_trigger_changed_is_not_installed)
{
    int64_t taken = 0;
    int64_t standing;
    const struct seqb_window lease = {.counter = CELL,
                                      .window = 2,
                                      .size = 100,
                                      .over = 1,
                                      .take = 10,
                                      .taken = &taken};

    assert_ok(install(f, 1));
    TELL(f, "CREATE TRIGGER low BEFORE UPDATE ON seqb_counters FOR EACH ROW "
            "SET NEW.value = 0");
    assert_status(f->ops->install(f->backend, &lease, &standing, &f->err),
                  SEQB_PROTOCOL);
    assert_int_equal(taken, 0);
}

/* MariaDB does not answer LAST_INSERT_ID() then, whatever the trigger does. */
TEST_SKIPPABLE(ON_ROW, trigger_that_only_logs_is_named_as_the_reason)
{
    must_take(f, 5, 0);
    TELL(f, "CREATE TRIGGER log AFTER UPDATE ON seqb_counters FOR EACH ROW "
            "SET @logged = NEW.value");
    must_fail(f, SEQB_PROTOCOL, "have a trigger, drop it");
}

TEST_SKIPPABLE(ON_ROW, text_without_room_is_not_read)
{
    const struct seqb_swap swap = {"main", "", "abc", NULL};

    assert_status(f->ops->swap(f->backend, &swap, f->standing, 3, &f->err),
                  SEQB_PROTOCOL);
    assert_non_null(strstr(f->err.text, "is longer than 2 bytes"));
    assert_status(
        f->ops->claim(f->backend, "main", NULL, f->standing, 3, &f->err),
        SEQB_PROTOCOL);
    assert_non_null(strstr(f->err.text, "is longer than 2 bytes"));
}
