/* SPDX-License-Identifier: Apache-2.0 */
/* What a reload did, or why it did nothing: what SEQ.RELOAD answers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/reload.h>

#define RELOAD_LISTED_MAX  1000 /* changes that a report lists */
#define RELOAD_REASONS_MAX 20

struct daemon;

struct reload_line {
    enum seqb_reload_need need;
    char *path, *before, *after, *advice;
};

struct reload_report {
    struct seqb_error err;     /* SEQB_OK if the reload succeeded */
    size_t applied, restart;   /* 0 if it was refused */
    struct reload_line *lines; /* at most RELOAD_LISTED_MAX changes */
    size_t count, left_out;
    /* Why it was refused, each on a line of its own. */
    char *reasons[RELOAD_REASONS_MAX];
    size_t reason_count, reasons_left_out;
};

/* What the report must know besides the changes: what was given where. */
struct reload_given {
    bool has_level;             /* the option --log-level decides the level */
    bool has_settings;          /* all settings of the topology were noted */
    unsigned long long setting; /* a bit for each place of the daemon that the
                                   topology has */
};

/* Notes that the topology has that setting of section `daemon`. */
void reload_given_add(struct reload_given *given, const struct daemon *daemon,
                      const char *setting);

/* Adds a change, or counts it if there are too many. False if memory is
 * short. */
bool reload_report_add(struct reload_report *report,
                       const struct seqb_reload_change *change);

/* Adds a reason of a refusal, or counts it if there are too many. False if
 * memory is short. */
bool reload_report_reason(struct reload_report *report, const char *reason);

/* Makes the lines say what is in effect: the addresses in use, and what the
 * command line decides. May be called again. False if memory is short. */
bool reload_report_explain(struct reload_report *report,
                           const struct daemon *daemon,
                           const struct reload_given *given);

/* Completes the report of a reload that was refused with `report->err`. NULL:
 * the daemon is not open. */
void reload_report_refuse(struct reload_report *report,
                          const struct daemon *daemon,
                          const struct reload_given *given);

void reload_report_free(struct reload_report *report);
