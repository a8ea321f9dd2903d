/* SPDX-License-Identifier: Apache-2.0 */
/* Showing something again and again, until a signal. */
#pragma once

#include "ctl/ctl.h"

/*
 * Calls `show` every `options->interval_s` seconds. A terminal is redrawn,
 * elsewhere it is appended. SIGINT and SIGTERM end it with CTL_OK; if the
 * first call fails, or stdout cannot be written, it ends with that. A daemon
 * that goes away later is told, and may come back.
 */
enum ctl_exit watch_run(const struct ctl_options *options,
                        enum ctl_exit (*show)(const struct ctl_options *));
