/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the SQL engines name the rows, beside those of counters, that keep what
 * periods need. '@' stands in no key, so that they are nobody's counters. Pure.
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>

/* Its value: counters of periods that begin after it (ms since 1970) cannot
 * have been forgotten by the store, and need not begin after the base. */
#define SQL_MARK_BASE "@"

/*
 * The name of the row of a counter, with its "@STAMP" or without: its value is
 * the highest `before_ms` that a purge of it was told, and in the place of an
 * origin it has the highest `keep`. False if the counter's name is too long.
 */
bool sql_mark_name(const char *counter, char out[SEQB_COUNTER_SIZE]);

/* Before a counter without a period: the row that is its note (row.h). */
#define SQL_NOTE_PREFIX "@@"

/* Whether it has a mark: a counter of a period, the base, or a cell, which
 * needs no note. Others have a note. */
bool sql_mark_counts(const char *counter);

bool sql_name_is_stamped(const char *counter);

/* Whether `keep` is a stamp of the purge's counter: between "<counter>@" and it
 * then stand, in the order of bytes, stamps of that counter alone. */
bool sql_purge_is_sane(const struct seqb_purge *purge);
