/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl workers: who has the worker ids of pools with a snowflake. */
#pragma once

#include "ctl/ctl.h"

/* As `run` of struct command. */
enum ctl_exit workers_show(const struct ctl_options *options, char **argument);
