/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mysql/statements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE 1024 /* initially */

char *mysql_statements_space(struct mysql_statements *statements, size_t size)
{
    size_t grown = statements->size > 0 ? statements->size : TEXT_SIZE;
    char *text;

    mysql_statements_drop(statements);
    while (grown - statements->length <= size)
        grown *= 2;
    if (grown != statements->size) {
        text = realloc(statements->text, grown);
        if (text == NULL) {
            statements->is_incomplete = true;
            return NULL;
        }
        statements->text = text;
        statements->size = grown;
    }
    return statements->text + statements->length;
}

void mysql_statements_grown(struct mysql_statements *statements, size_t size)
{
    statements->length += size;
}

void mysql_statements_add(struct mysql_statements *statements,
                          const char *format, va_list args)
{
    va_list again;
    int length;
    char *at;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return;
    at = mysql_statements_space(statements, (size_t)length);
    if (at == NULL)
        return;
    (void)vsnprintf(at, (size_t)length + 1, format, args);
    for (int i = 0; i < length && statements->one_by_one; i++) {
        if (at[i] == ';')
            at[i] = '\0';
    }
    mysql_statements_grown(statements, (size_t)length);
}

static bool is_blank(char c)
{
    return c == ';' || c == '\0' || c == '\n' || c == ' ';
}

void mysql_statements_close(struct mysql_statements *statements)
{
    while (statements->length > 0 &&
           is_blank(statements->text[statements->length - 1]))
        statements->length--;
    if (statements->text != NULL)
        statements->text[statements->length] = '\0';
    statements->begin = 0;
    statements->end = statements->length;
    statements->length = 0;
}

bool mysql_statements_are_left(const struct mysql_statements *statements)
{
    return statements->begin < statements->end;
}

const char *mysql_statements_next(struct mysql_statements *statements,
                                  size_t *length)
{
    const char *next = statements->text + statements->begin;

    if (!mysql_statements_are_left(statements))
        return NULL;
    *length = statements->one_by_one ? strlen(next)
                                     : statements->end - statements->begin;
    statements->begin += *length + 1; /* and what ends it */
    return next;
}

void mysql_statements_drop(struct mysql_statements *statements)
{
    statements->begin = statements->end;
}

void mysql_statements_free(struct mysql_statements *statements)
{
    free(statements->text);
    *statements =
        (struct mysql_statements){.one_by_one = statements->one_by_one};
}
