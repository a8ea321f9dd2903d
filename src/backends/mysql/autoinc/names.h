/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which counters of the mysql-autoinc engine have a table, and how it is named.
 * Pure: whether
 * another counter has that table already is found out in tables.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define MYSQL_TABLE_SIZE 65 /* the servers' limit, with the final 0 */

/* Whether the counter has a table: "<pool>/<partition>/<key>" has one. What is
 * leased, kept over a stop, of one period, or counts in windows is a row of
 * seqb_counters and no more, as in mysql-row. */
bool mysql_has_table(const char *counter);

/* Whether `format` holds %s (the key) and %d (the partition) once each, and
 * beside them letters, digits, '_', '$' and '-' alone. */
bool mysql_format_is_valid(const char *format);

/*
 * The name of the counter's table, the same on every server and for every
 * broker: by `format`, which must be valid, for "<pool>/<partition>/<key>"
 * with a pool of the first generation and a key of lower case that leaves the
 * name short enough; for any other counter one that begins with "seqb_", tells
 * a reader whose it is, and ends with a hash of the counter's whole name.
 */
void mysql_table_name(const char *format, const char *counter,
                      char out[MYSQL_TABLE_SIZE]);
