/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of seqctl: a table with one row for each, and their
 * functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ctl/ctl.h"

/* Runs a command. The arguments are terminated by a NULL. */
typedef enum ctl_exit command_function(const struct ctl_options *options,
                                       char **argument);

struct command {
    const char *name;
    const char *arguments; /* as in its usage line */
    int argument_count;    /* exactly this many; negative: at least; but none
                              with --broker */
    unsigned options;      /* a set of enum ctl_option, without those that all
                              commands take */
    command_function *run; /* NULL: help, which needs this table */
    const char *summary;   /* one line; the rest of its help is in docs/help */
};

/* The i-th command, NULL past the last. */
const struct command *command_at(size_t i);

/* The command with this name, or NULL. */
const struct command *command_find(const char *name);

/* numbers.c */
command_function numbers_next;
command_function numbers_number;
command_function numbers_decode;
command_function numbers_parse;

/* status/run.c, workers.c */
command_function status_run;
command_function workers_run;

/* show/run.c */
command_function show_run;

/* Whether seqctl show can show it. */
bool show_has(const char *name);

/* operate.c, reload.c */
command_function operate_health;
command_function operate_quarantine;
command_function operate_rescue;
command_function operate_drain;
command_function operate_resume;
command_function operate_advance;
command_function reload_run;

/* credentials.c */
command_function password_run;
command_function token_run;

/* offline/: check also has --probe, which tries every backend */
command_function check_run;
command_function settings_run;
command_function migrate_run;
command_function trust_run;

/* doc.c: docs/configuration.md and docs/status.md, which settings and status
 * print with --markdown */
enum ctl_exit settings_doc_print(void);
enum ctl_exit status_doc_print(void);
