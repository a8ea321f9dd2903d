/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of seqctl that take numbers, or texts of them. */
#pragma once

#include "ctl/ctl.h"

/* Each as `run` of struct command. */
enum ctl_exit numbers_next(const struct ctl_options *options, char **argument);
enum ctl_exit numbers_number(const struct ctl_options *options,
                             char **argument);
