/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: its options and the help. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ctl/commands.h"
#include "ctl/ctl.h"

/* Fills `out`; the other words are left from `optind` on. False, with the error
 * reported. */
bool options_read(int argc, char **argv, struct ctl_options *out);

/* Whether the word of a command line means --json, also as a letter among
 * others. */
bool option_is_json(const char *word);

/* The usage of the first option of the set; NULL if the set is empty. */
const char *option_usage(unsigned options);

/* Prints the options of the set, one on a line. */
void options_print(unsigned options);

/* Reports an unknown command, and the one that was likely meant. */
enum ctl_exit command_unknown(const char *name);

/* seqctl help: for all commands, or for one. */
command_function help_run;

/* The help of one command; see help_run. */
enum ctl_exit command_help(const struct command *command,
                           const struct ctl_options *options);

/* Whether the set has no two options that contradict each other. False: they
 * are reported. */
bool options_agree(const struct command *command, unsigned options);
