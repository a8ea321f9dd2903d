/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of seqctl that take numbers and texts apart. */
#pragma once

#include "ctl/ctl.h"

/* Each as `run` of struct command. */
enum ctl_exit apart_decode(const struct ctl_options *options, char **argument);
enum ctl_exit apart_parse(const struct ctl_options *options, char **argument);
