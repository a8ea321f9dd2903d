/* SPDX-License-Identifier: Apache-2.0 */
/* What goes out in a packet: all statements, or one. */
#include "backends/mysql/statements.h"

#include <string.h>

#include "support/test.h"
#include "support/wrap.h"

static bool is_full;

WRAPPED(void *, realloc, void *memory, size_t size)
{
    return is_full ? NULL : __real_realloc(memory, size);
}

__attribute__((format(printf, 2, 3))) static void
add(struct mysql_statements *statements, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    mysql_statements_add(statements, format, args);
    va_end(args);
}

/* A value in which a ';' is. */
static void add_value(struct mysql_statements *statements, const char *value)
{
    const size_t size = strlen(value);
    char *space = mysql_statements_space(statements, size);

    assert_non_null(space);
    for (size_t i = 0; i < size; i++)
        space[i] = value[i];
    mysql_statements_grown(statements, size);
}

static void assert_next(struct mysql_statements *statements, const char *text)
{
    size_t length = 0;
    const char *next = mysql_statements_next(statements, &length);

    assert_non_null(next);
    assert_int_equal(length, strlen(text));
    assert_memory_equal(next, text, length);
}

static void assert_end(struct mysql_statements *statements)
{
    size_t length;

    assert_false(mysql_statements_are_left(statements));
    assert_null(mysql_statements_next(statements, &length));
}

static void add_transaction(struct mysql_statements *statements)
{
    add(statements, "BEGIN;%s;SELECT '", "DO 0");
    add_value(statements, "a;b");
    add(statements, "';COMMIT;\n");
    mysql_statements_close(statements);
}

TEST(several_statements_go_together)
{
    struct mysql_statements statements = {.one_by_one = false};

    add_transaction(&statements);
    assert_next(&statements, "BEGIN;DO 0;SELECT 'a;b';COMMIT");
    assert_end(&statements);
    mysql_statements_free(&statements);
}

TEST(each_statement_goes_alone)
{
    struct mysql_statements statements = {.one_by_one = true};

    add_transaction(&statements);
    assert_next(&statements, "BEGIN");
    assert_next(&statements, "DO 0");
    assert_true(mysql_statements_are_left(&statements));
    assert_next(&statements, "SELECT 'a;b'");
    assert_next(&statements, "COMMIT");
    assert_end(&statements);
    mysql_statements_free(&statements);
}

TEST(what_is_left_is_dropped_by_what_is_added)
{
    struct mysql_statements statements = {.one_by_one = true};

    add_transaction(&statements);
    assert_next(&statements, "BEGIN");
    add(&statements, "ROLLBACK");
    assert_end(&statements);
    mysql_statements_close(&statements);
    assert_next(&statements, "ROLLBACK");
    assert_end(&statements);
    mysql_statements_close(&statements);
    assert_end(&statements);
    mysql_statements_free(&statements);
}

/* A value ends without a 0. */
TEST(statement_ends_where_its_last_word_does)
{
    struct mysql_statements statements = {.one_by_one = true};

    memset(mysql_statements_space(&statements, 100), 'x', 100);
    add(&statements, ";DO 0");
    add(&statements, ";DO ");
    add_value(&statements, "1");
    mysql_statements_close(&statements);
    assert_next(&statements, "");
    assert_next(&statements, "DO 0");
    assert_next(&statements, "DO 1");
    assert_end(&statements);
    add(&statements, "COMMIT \n");
    mysql_statements_close(&statements);
    assert_next(&statements, "COMMIT");
    assert_end(&statements);
    mysql_statements_free(&statements);
}

TEST(nothing_but_blanks_is_no_statement)
{
    struct mysql_statements statements = {.one_by_one = true};

    mysql_statements_close(&statements);
    assert_end(&statements);
    add(&statements, ";");
    mysql_statements_close(&statements);
    assert_end(&statements);
    mysql_statements_free(&statements);
}

/* And so does what is added after the memory was given back. */
TEST(text_doubles_and_has_room_for_its_end)
{
    struct mysql_statements statements = {.one_by_one = false};

    for (int i = 0; i < 2; i++) {
        assert_non_null(mysql_statements_space(&statements, 1000));
        mysql_statements_grown(&statements, 1000);
        assert_int_equal(statements.size, 1024);
        assert_non_null(mysql_statements_space(&statements, 24));
        assert_int_equal(statements.size, 2048);
        mysql_statements_free(&statements);
        assert_null(statements.text);
        assert_int_equal(statements.length, 0);
    }
}

/* Half a text may be another statement: nothing of it is sent. */
TEST(text_that_does_not_fit_is_incomplete)
{
    struct mysql_statements statements = {.one_by_one = false};

    is_full = true;
    assert_null(mysql_statements_space(&statements, 1));
    is_full = false;
    assert_true(statements.is_incomplete);
    mysql_statements_free(&statements);
}
