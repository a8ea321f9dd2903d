/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that need no daemon share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/status.h>

#include "ctl/ctl.h"
#include "ctl/terminal/terminal.h"

/* A list of which only the first lines about places of a file are printed. */
struct brief {
    bool is_all; /* whatever the library tells is printed */
    size_t printed;
    size_t left_out;
};

/* Whether the line is to be printed. Otherwise it is counted. */
bool brief_passes(struct brief *brief, const char *line);

/* Ends the list: prints how many lines were left out, if any. */
void brief_end(struct brief *brief, const char *kind);

/* check --probe: tries every backend of a topology. */
enum ctl_exit probe_run(const struct ctl_options *options, char **argument);

/* What migrate and trust report before and while they write: lines, or members
 * of a JSON object. */
struct plan {
    bool is_json;
    size_t lines;
    struct progress progress; /* erased before a line is printed; zeroed: never
                                 shown */
};

/* Prints a line; `context` is a struct plan. */
void plan_show(void *context, const char *line);

/* Ends the plan. Reports the error unless the status is SEQB_OK. */
enum ctl_exit plan_end(struct plan *plan, enum seqb_status status,
                       const struct seqb_error *err);
