/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statements that a connection sends: written in order, separated by ';',
 * and sent together, or one after the other to a node of a Galera cluster.
 *
 * A node aborts a transaction when another node was first. Between two
 * statements of one packet it does not always report that: those behind the
 * abort then run outside of the transaction, and the last may be answered with
 * success (seen on MariaDB 10.11.19 with Galera 26.4.23, docs/decisions/0062).
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct mysql_statements {
    bool one_by_one;    /* set before the first is added */
    bool is_incomplete; /* memory ran out while they were written */
    char *text;         /* with a final 0 once it is closed; a 0 instead of each
                           ';' if they are sent one by one */
    size_t length;      /* of what was added since the last send */
    size_t size;        /* of the memory of `text` */
    size_t begin;       /* what of the last send is not yet sent ... */
    size_t end;         /* ... ends here */
};

/* Adds a text; each ';' in it ends a statement. What is added first after a
 * close drops what of that is not yet sent. */
void mysql_statements_add(struct mysql_statements *statements,
                          const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Space for `size` bytes at the end, which mysql_statements_grown makes part of
 * the current statement, whatever they are. NULL: memory ran out. */
char *mysql_statements_space(struct mysql_statements *statements, size_t size);
void mysql_statements_grown(struct mysql_statements *statements, size_t size);

/* What was added is now to be sent. */
void mysql_statements_close(struct mysql_statements *statements);

/* What is to be sent next, and its length; NULL if all is sent. Valid until
 * more is added. */
const char *mysql_statements_next(struct mysql_statements *statements,
                                  size_t *length);
bool mysql_statements_are_left(const struct mysql_statements *statements);

/* What is not yet sent, will not be. */
void mysql_statements_drop(struct mysql_statements *statements);

void mysql_statements_free(struct mysql_statements *statements);
