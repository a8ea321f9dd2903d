/* SPDX-License-Identifier: Apache-2.0 */
/* The link of the mysql engines over a scripted client library: what is sent,
 * and the status of each failure, also of those that a server seldom has. */
#include "client_script.h"

#include <errmsg.h>
#include <errno.h>
#include <mysqld_error.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "backends/mysql/connect/connect.h"
#include "backends/mysql/server.h"
#include "platform/text.h"
#include "support/wrap.h"

static bool is_full;

WRAPPED(void *, realloc, void *memory, size_t size)
{
    return is_full ? NULL : __real_realloc(memory, size);
}

WRAPPED(void *, calloc, size_t n, size_t size)
{
    return is_full ? NULL : __real_calloc(n, size);
}

WRAPPED(MYSQL *, mysql_init, MYSQL *in)
{
    (void)in;
    return NULL;
}

static void link_end(struct mysql *mysql)
{
    mysql_link_close(&mysql->link);
}

static enum seqb_status ask(struct mysql_link *link, struct seqb_error *err)
{
    mysql_link_add(link, "DO 1");
    return mysql_link_run(link, SEQB_UNCERTAIN, err);
}

/* --- memory --- */

TEST(memory_that_is_out_ends_the_call)
{
    const struct seqb_backend_options options = {
        .name = "a", .host = "h", .port = 1, .database = "d"};
    struct seqb_backend *backend = NULL;
    struct mysql mysql;
    struct mysql_link link = {.handle = NULL};
    struct seqb_error err;

    is_full = true;
    assert_status(backend_mysql_row.open(&options, &backend, &err),
                  SEQB_NO_MEMORY);
    assert_string_equal(err.text, "a (mysql): out of memory");
    assert_status(backend_mysql_autoinc.open(&options, &backend, &err),
                  SEQB_NO_MEMORY);
    assert_string_equal(err.text, "mysql-autoinc a: out of memory");
    assert_null(backend);
    client_begin(&mysql);
    assert_status(ask(&mysql.link, &err), SEQB_NO_MEMORY);
    assert_string_equal(err.text, "here: out of memory");
    assert_int_equal(client.closed, 1);
    assert_null(mysql.link.handle);
    is_full = false;
    client_must_send("");
    assert_status(mysql_link_open(&link, &options, &err), SEQB_NO_MEMORY);
    link_end(&mysql);
    mysql_link_close(&link);
}

/* --- failures --- */

TEST(closed_link_sends_nothing)
{
    struct mysql mysql;
    struct mysql_link *link = &mysql.link;
    struct seqb_error err;

    client_begin(&mysql);
    mysql_link_close(link);
    assert_int_equal(client.closed, 1);
    mysql_link_quote(link, "a");
    assert_status(ask(link, &err), SEQB_UNREACHABLE);
    assert_string_equal(err.text,
                        "here: the connection was lost before, open it again");
    assert_status(mysql_link_next(link, &err), SEQB_UNCERTAIN);
    assert_string_equal(err.text, "here: the connection was lost before");
    assert_status(mysql_link_begin(link, &err), SEQB_UNREACHABLE);
    assert_status(mysql_rows_abandon(&mysql.sql.base, &err), SEQB_UNREACHABLE);
    assert_string_equal(err.text, "here: the connection was lost");
    client_must_send("");
    assert_int_equal(client.closed, 1);
    link_end(&mysql);
}

TEST(link_of_the_parent_is_not_used_in_a_fork)
{
    struct mysql mysql;
    struct seqb_error err;

    client_begin(&mysql);
    mysql.link.pid++;
    assert_status(mysql_link_begin(&mysql.link, &err), SEQB_FORKED);
    mysql.link.pid--;
    link_end(&mysql);
}

/* The statement before a COMMIT need not have failed: what is not listed may
 * have come behind the commit. */
TEST(each_error_has_its_status)
{
    static const struct {
        unsigned error;
        enum seqb_status status;
        enum seqb_status of_commit;
        bool is_lost;
        bool is_denied;
        const char *text;
    } cases[] = {
        {CR_SERVER_LOST, SEQB_UNCERTAIN, SEQB_UNCERTAIN, true, false,
         "here: connection lost: why"},
        {0, SEQB_UNCERTAIN, SEQB_UNCERTAIN, true, false,
         "here: connection lost: why"},
        {CR_OUT_OF_MEMORY, SEQB_NO_MEMORY, SEQB_NO_MEMORY, true, false,
         "here: out of memory"},
        {1, SEQB_REFUSED, SEQB_UNCERTAIN, false, false, "here: error 1: why"},
        {ER_LOCK_DEADLOCK, SEQB_UNREACHABLE, SEQB_UNREACHABLE, false, false,
         "here: error 1213: why"},
        {ER_DBACCESS_DENIED_ERROR, SEQB_REFUSED, SEQB_REFUSED, false, true,
         "here: error 1044: why; sql/mysql.sql lists the rights"},
    };

    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        const size_t at = i / 2;
        const bool is_commit = i % 2 != 0;
        struct mysql mysql;
        struct mysql_link *link = &mysql.link;
        struct seqb_error err;

        client_begin(&mysql);
        client.replies[0].error = cases[at].error;
        client.sends_fail = cases[at].error == 0;
        mysql_link_add(link, "COMMIT");
        if (mysql_link_send(link, SEQB_UNCERTAIN, &err) == SEQB_OK)
            assert_status(is_commit ? mysql_link_next_commit(link, &err)
                                    : mysql_link_next(link, &err),
                          is_commit ? cases[at].of_commit : cases[at].status);
        assert_string_equal(err.text, cases[at].text);
        assert_int_equal(link->code, cases[at].error);
        assert_int_equal(client.closed, cases[at].is_lost);
        assert_int_equal(link->handle == NULL, cases[at].is_lost);
        assert_int_equal(link->is_denied, cases[at].is_denied);
        link_end(&mysql);
    }
}

TEST(answer_is_awaited_until_the_deadline)
{
    struct mysql mysql;
    struct seqb_error err;

    client_begin(&mysql);
    client.polls[0] = client.polls[1] = -1;
    client.poll_error = EINTR;
    assert_ok(ask(&mysql.link, &err));
    assert_int_equal(client.polled, 3);
    assert_int_equal(client.poll_ms, 980);
    client.now_ms = 5999;
    client.polled = 2;
    assert_ok(ask(&mysql.link, &err));
    assert_int_equal(client.poll_ms, 1);
    client.polled = 0;
    client.poll_error = EBADF; /* the library says what it is */
    assert_ok(mysql_link_begin(&mysql.link, &err));
    assert_int_equal(mysql.link.deadline_ms, 6999);
    assert_ok(ask(&mysql.link, &err));
    assert_int_equal(client.polled, 1);
    client.polled = 0;
    client.polls[0] = TIMES_OUT;
    assert_status(ask(&mysql.link, &err), SEQB_UNCERTAIN);
    assert_string_equal(err.text, "here: no answer within 1000 ms");
    assert_int_equal(client.closed, 1);
    link_end(&mysql);
}

/* --- statements --- */

TEST(rights_are_read_again_after_one_was_missing)
{
    struct mysql mysql;
    struct mysql_link *link = &mysql.link;
    struct seqb_error err;

    client_begin(&mysql);
    link->database = "a`b";
    link->is_denied = true;
    mysql_link_add(link, "left over");
    assert_ok(mysql_link_begin(link, &err));
    client_must_send("USE `a``b`\n");
    assert_ok(mysql_link_begin(link, &err));
    client_must_send("");
    link->is_denied = true;
    client.replies[client.taken].error = ER_DBACCESS_DENIED_ERROR;
    assert_status(mysql_link_begin(link, &err), SEQB_REFUSED);
    assert_true(link->is_denied);
    link_end(&mysql);
}

TEST(call_begins_with_nothing_of_the_last_one)
{
    struct mysql mysql;
    struct mysql_link *link = &mysql.link;
    struct seqb_error err;

    client_begin(&mysql);
    link->statements.one_by_one = true;
    link->statements.is_incomplete = true;
    link->budget_ms = 7;
    link->run = "run";
    assert_ok(mysql_link_begin(link, &err));
    assert_int_equal(link->budget_ms, 1000);
    assert_null(link->run);
    mysql_link_add(link, "DO 1;DO 2");
    assert_ok(mysql_link_send(link, SEQB_UNREACHABLE, &err));
    assert_ok(mysql_link_next(link, &err));
    assert_true(mysql_statements_are_left(&link->statements));
    assert_ok(mysql_link_begin(link, &err));
    assert_false(mysql_statements_are_left(&link->statements));
    link_end(&mysql);
}

/* The next call shows that: it finds no answer of this one. */
TEST(skipped_answers_are_taken_until_one_fails)
{
    for (int fails = 0; fails < 3; fails++) {
        struct mysql mysql;
        struct mysql_link *link = &mysql.link;
        struct seqb_error err;

        client_begin(&mysql);
        if (fails > 0)
            client.replies[fails - 1].error = ER_LOCK_DEADLOCK;
        mysql_link_add(link, "DO 1;DO 2;COMMIT");
        link->code = 9;
        assert_ok(mysql_link_send(link, SEQB_UNREACHABLE, &err));
        assert_int_equal(link->code, 0);
        assert_status(mysql_link_skip(link, 2, &err),
                      fails > 0 ? SEQB_UNREACHABLE : SEQB_OK);
        assert_int_equal(client.taken, fails > 0 ? fails : 2);
        if (fails == 0)
            assert_ok(mysql_link_next_commit(link, &err));
        else
            assert_int_equal(link->code, ER_LOCK_DEADLOCK);
        client.taken = 9;
        assert_ok(ask(link, &err));
        assert_int_equal(link->code, 0);
        link_end(&mysql);
    }
}

TEST(statements_are_sent_together_or_to_a_node_one_by_one)
{
    static const char *const sent[] = {"DO 1;DO 2;DO 3\n",
                                       "DO 1\nDO 2\nDO 3\n"};

    for (int is_node = 0; is_node < 2; is_node++) {
        struct mysql mysql;
        struct mysql_link *link = &mysql.link;
        struct seqb_error err;

        client_begin(&mysql);
        link->statements.one_by_one = is_node;
        mysql_link_add(link, "DO 1;DO 2;DO 3;");
        assert_ok(mysql_link_send(link, SEQB_UNREACHABLE, &err));
        assert_ok(mysql_link_skip(link, 1, &err));
        assert_ok(mysql_link_finish(link, &err));
        client_must_send(sent[is_node]);
        assert_status(mysql_link_next(link, &err), SEQB_PROTOCOL);
        assert_string_equal(err.text, "here: the answer to several statements "
                                      "makes no sense");
        assert_int_equal(client.closed, 1);
        link_end(&mysql);
    }
}

/* What is behind a failed one is not sent. */
TEST(node_that_aborts_a_select_has_failed)
{
    struct mysql mysql;
    struct mysql_link *link = &mysql.link;
    struct seqb_error err;

    client_begin(&mysql);
    mysql_link_add(link, "SELECT 1;DO 2");
    assert_ok(mysql_link_send(link, SEQB_UNREACHABLE, &err));
    assert_ok(mysql_link_finish(link, &err)); /* no node, no cluster */
    link->statements.one_by_one = true;
    client.sent[0] = '\0';
    mysql_link_add(link, "DO 1;SELECT 1;DO 2");
    assert_ok(mysql_link_send(link, SEQB_UNREACHABLE, &err));
    assert_status(mysql_link_finish(link, &err), SEQB_UNREACHABLE);
    assert_int_equal(link->code, ER_LOCK_DEADLOCK);
    assert_non_null(link->handle);
    client_must_send("DO 1\nSELECT 1\n");
    assert_false(mysql_statements_are_left(&link->statements));
    link_end(&mysql);
}

TEST(row_has_the_columns_that_it_has)
{
    struct mysql mysql;
    struct mysql_link *link = &mysql.link;
    struct seqb_error err;
    int64_t number = 0;

    client_begin(&mysql);
    client.replies[0] = (struct reply){
        .rows = 2, .cells = {{"a", "7", NULL, "x", "y", "z"}, {"b"}}};
    assert_false(mysql_link_row(link));
    assert_null(mysql_link_text(link, 0));
    assert_ok(ask(link, &err));
    assert_null(mysql_link_text(link, 0));
    assert_true(mysql_link_row(link));
    assert_string_equal(mysql_link_text(link, 0), "a");
    assert_string_equal(mysql_link_text(link, 5), "z");
    assert_null(mysql_link_text(link, 6));
    assert_true(mysql_link_int64(link, 1, &number));
    assert_int_equal(number, 7);
    assert_false(mysql_link_int64(link, 0, &number));
    assert_false(mysql_link_int64(link, 2, &number));
    assert_true(mysql_link_row(link));
    assert_false(mysql_link_row(link));
    assert_null(mysql_link_text(link, 0));
    client.replies[1] = (struct reply){.changed = 3, .id = 9};
    assert_ok(ask(link, &err));
    assert_null(link->rows);
    assert_int_equal(link->changed, 3);
    assert_int_equal(link->insert_id, 9);
    client.replies[2] = (struct reply){.is_empty = true};
    assert_ok(ask(link, &err));
    mysql_link_add(link, "DO 1");
    assert_ok(mysql_link_send(link, SEQB_UNREACHABLE, &err));
    assert_int_equal(client.held, 0);
    assert_ok(mysql_link_next(link, &err));
    client.keeps_rows = true;
    client.replies[4] = (struct reply){.rows = 1};
    assert_status(ask(link, &err), SEQB_UNCERTAIN);
    link_end(&mysql);
}
