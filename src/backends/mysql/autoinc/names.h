/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which counters of the mysql-autoinc engine have a table, and the table's
 * name. Pure: tables.c checks whether another counter has that table already.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define MYSQL_TABLE_SIZE 65 /* the servers' limit, with the final 0 */

/* Whether the counter has a table: a "<pool>/<partition>/<key>" has one.
 * Counters of leases, of the spool, of one period, and those that count in
 * windows are only rows of seqb_counters, as in mysql-row. */
bool mysql_has_table(const char *counter);

/* Whether `format` has %s (the key) and %d (the partition) once each, and
 * otherwise only letters, digits, '_', '$' and '-'. */
bool mysql_format_is_valid(const char *format);

/*
 * The name of the counter's table, the same on every server and for every
 * broker. It follows `format`, which must be valid, for
 * "<pool>/<partition>/<key>" with a pool of the first generation and a
 * lower-case key that keeps the name short enough. The name for any other
 * counter begins with "seqb_", shows a reader which counter it belongs to, and
 * ends with a hash of the counter's whole name.
 */
void mysql_table_name(const char *format, const char *counter,
                      char out[MYSQL_TABLE_SIZE]);
