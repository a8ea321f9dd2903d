/* SPDX-License-Identifier: Apache-2.0 */
/* Raising a counter of mysql-autoinc; see the raise of backend.h. */
#pragma once

#include <seqbroker/backend.h>

#include "backends/mysql/autoinc/tables.h"
#include "backends/mysql/mysql.h"

/* Raises the counter of that table, which was found fit within this call. */
enum seqb_status mysql_raise(struct mysql *mysql,
                             const struct mysql_table *table,
                             const struct seqb_raise *raise, int64_t *out,
                             struct seqb_error *err);
