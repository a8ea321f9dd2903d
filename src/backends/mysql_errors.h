/* SPDX-License-Identifier: Apache-2.0 */
/* What the error numbers of MySQL and MariaDB mean. Pure. */
#pragma once

#include <stdbool.h>

#include <seqbroker/status.h>

struct mysql_error {
    unsigned code;
    enum seqb_status status;
    const char *next; /* what to do about it, or NULL */
};

/* The row of that error of a server, NULL if it has none: then it is
 * SEQB_REFUSED. After an error that has one nothing was committed. */
const struct mysql_error *mysql_error_find(unsigned code);

/* Whether the user lacks a right, which may be granted at any time. */
bool mysql_error_is_of_rights(unsigned code);

/* Whether the client library reports it, and the connection is dead. */
bool mysql_error_is_clients(unsigned code);
