/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of seqctl: one table row each. */
#pragma once

#include <stddef.h>

#include "ctl/ctl.h"

struct command {
    const char *name;
    const char *arguments; /* as in its usage line */
    int argument_count;    /* exactly so many, negative: at least; but none with
                              --broker */
    unsigned options;      /* of enum ctl_option; those for all left out */
    const char *summary;   /* one line */
    const char *help;      /* examples first, then what it does */
    /* The arguments are ended by a NULL. */
    enum ctl_exit (*run)(const struct ctl_options *options, char **argument);
};

/* The i-th command, NULL past the last. */
const struct command *command_at(size_t i);

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* The command whose name is likely meant, NULL if none is near. */
const struct command *command_guess(const char *name);
