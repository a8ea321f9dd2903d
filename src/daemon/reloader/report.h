/* SPDX-License-Identifier: Apache-2.0 */
/* What a reload did, or why it did nothing: what SEQ.RELOAD answers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/reload.h>

#define RELOAD_LISTED_MAX 1000 /* changes that a report lists */

struct daemon;

struct reload_line {
    enum seqb_reload_need need;
    char *path, *before, *after, *advice;
};

struct reload_report {
    struct seqb_error err; /* SEQB_OK if the reload succeeded */
    size_t applied, restart;
    struct reload_line *lines; /* at most RELOAD_LISTED_MAX changes */
    size_t count, left_out;
};

/* What the report must know besides the changes. */
struct reload_told {
    bool has_level;             /* the option --log-level decides the level */
    unsigned long long setting; /* a bit for each place of the daemon that the
                                   topology has */
};

/* Notes that the topology has that setting of section `daemon`. */
void reload_told_add(struct reload_told *told, const struct daemon *daemon,
                     const char *setting);

/* Adds a change, or counts it if there are too many. False if memory is
 * short. */
bool reload_report_add(struct reload_report *report,
                       const struct seqb_reload_change *change);

/* Makes the lines say what is in effect: the addresses in use, and what the
 * command line decides. To be called once. False if memory is short. */
bool reload_report_explain(struct reload_report *report,
                           const struct daemon *daemon,
                           const struct reload_told *told);

void reload_report_free(struct reload_report *report);
