/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that may be for several brokers at once, which are asked one after
 * the other. */
#pragma once

#include "ctl/ctl.h"

/* What is done with one, `options->socket`. If that is one of several: what it
 * prints begins with broker_label_print; with --json it is one value or, after
 * a complaint, nothing. */
typedef enum ctl_exit broker_function(const struct ctl_options *options,
                                      void *context);

/* Does it with each that the command line names, or with the one in the state
 * directory. The worst exit code; one that fails keeps no other from being
 * asked. */
enum ctl_exit brokers_each(const struct ctl_options *options,
                           broker_function *function, void *context);

/* "HOST:PORT: " if it is one of several and a person reads it. */
void broker_label_print(const struct ctl_options *options);
