/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the rows that keep what periods need, for the SQL engines. No
 * key contains '@', so these rows are no sequence's counters. Pure.
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>

/* The value of this row: counters of periods that begin after it (ms since
 * 1970) cannot have been forgotten by the store, and need not begin after the
 * base. */
#define SQL_MARK_BASE "@"

/*
 * The name of the mark of a counter, given with its "@STAMP" or without. The
 * mark's value is the highest `before_ms` of its purges, and its origin column
 * is the highest `keep`. False if the counter's name is too long.
 */
bool sql_mark_name(const char *counter, char out[SEQB_COUNTER_SIZE]);

/* The prefix of the note (row.h) of a counter without a period. */
#define SQL_NOTE_PREFIX "@@"

/* Whether the counter has a mark instead of a note: a counter of a period, the
 * base, or a cell, which needs no note. Other counters have a note. */
bool sql_mark_counts(const char *counter);

bool sql_name_is_stamped(const char *counter);

/* Whether `keep` is a stamp of the purge's counter. Then, in the order of
 * bytes, only stamps of that counter are between "<counter>@" and `keep`. */
bool sql_purge_is_sane(const struct seqb_purge *purge);
