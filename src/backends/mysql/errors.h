/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of the error numbers of MySQL and MariaDB. Pure. */
#pragma once

#include <stdbool.h>

#include <seqbroker/status.h>

struct mysql_error {
    unsigned code;
    enum seqb_status status;
    const char *next; /* what to do about it, or NULL */
};

/* The entry of that server error; NULL if there is none: then the status is
 * SEQB_REFUSED. After an error that has an entry nothing was committed. */
const struct mysql_error *mysql_error_find(unsigned code);

/* Whether the user lacks a right, which may be granted at any time. */
bool mysql_error_is_of_rights(unsigned code);

/* Whether it is an error of the client library, after which the connection is
 * dead. */
bool mysql_error_is_clients(unsigned code);
