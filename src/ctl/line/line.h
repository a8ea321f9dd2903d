/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: its options and the help. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ctl/commands.h"
#include "ctl/ctl.h"

/* Fills `out` and leaves the other words behind `optind`. False after having
 * said what is wrong. */
bool options_read(int argc, char **argv, struct ctl_options *out);

/* The usage of the first option of the set, NULL if it is empty. */
const char *option_usage(unsigned options);

/* The options of the set, a line each. */
void options_print(unsigned options);

/* Says that there is no such command, and which one is likely meant. */
enum ctl_exit command_unknown(const char *name);

/* seqctl help: of all, or of one command. */
command_function help_run;

void command_help_print(const struct command *command);
