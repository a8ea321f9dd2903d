/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of seqctl that change something, and the broker's health. */
#pragma once

#include "ctl/ctl.h"

/* Each as `run` of struct command. */
enum ctl_exit operate_quarantine(const struct ctl_options *options,
                                 char **argument);
enum ctl_exit operate_rescue(const struct ctl_options *options,
                             char **argument);
enum ctl_exit operate_drain(const struct ctl_options *options, char **argument);
enum ctl_exit operate_resume(const struct ctl_options *options,
                             char **argument);
enum ctl_exit operate_advance(const struct ctl_options *options,
                              char **argument);
enum ctl_exit operate_health(const struct ctl_options *options,
                             char **argument);
