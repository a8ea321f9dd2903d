/* SPDX-License-Identifier: Apache-2.0 */
/* The differences between the client libraries of MariaDB and of MySQL. One of
 * the files client_mariadb.c and client_mysql.c is built, depending on the
 * library. */
#pragma once

#include <stdbool.h>

#include <mysql.h>
#include <seqbroker/backend.h>

const char *mysql_client_name(void);

/* Sets, before the connection is opened, whether it is encrypted and what is
 * verified. */
bool mysql_client_set_tls(MYSQL *handle, enum seqb_tls tls);
