/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that need no daemon: what they share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/status.h>

#include "ctl/ctl.h"
#include "ctl/terminal/terminal.h"

/* check --probe: every backend of a topology tried. */
enum ctl_exit probe_run(const struct ctl_options *options, char **argument);

/* What migrate and trust tell, before they write and while they do: lines, or
 * members of a JSON object. */
struct plan {
    bool is_json;
    size_t lines;
    struct progress progress; /* a line erases it; zeroed: it is never shown */
};

/* A line; `context` is a struct plan. */
void plan_show(void *context, const char *line);

/* Ends it: complains of the error unless the status is SEQB_OK. */
enum ctl_exit plan_end(struct plan *plan, enum seqb_status status,
                       const struct seqb_error *err);
