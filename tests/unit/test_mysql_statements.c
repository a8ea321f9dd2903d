/* SPDX-License-Identifier: Apache-2.0 */
/* What goes out in a packet: all statements, or one. */
#include "backends/mysql/statements.h"

#include <string.h>

#include "support/test.h"

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
    const size_t size = strlen(value) + 1;
    char *space = mysql_statements_space(statements, size);

    assert_non_null(space);
    memcpy(space, value, size);
    mysql_statements_grown(statements, size - 1);
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
