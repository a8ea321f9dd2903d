/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between the client libraries of MariaDB and of MySQL: one of
 * the files mysql_client_*.c is built, by which library there is. */
#pragma once

#include <stdbool.h>

#include <mysql.h>
#include <seqbroker/backend.h>

const char *mysql_client_name(void);

/* Whether a connection is encrypted and with whom, before it is opened. */
bool mysql_client_set_tls(MYSQL *handle, enum seqb_tls tls);
