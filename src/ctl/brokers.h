/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that may ask several brokers, one after the other. */
#pragma once

#include "ctl/ctl.h"

/* Handles one broker, `options->socket`. If there are several, its output
 * begins with broker_label_print; with --json it is one value or, after a
 * complaint, nothing. */
typedef enum ctl_exit broker_function(const struct ctl_options *options,
                                      void *context);

/* Calls the function for each broker that the command line names, or for the
 * one in the state directory. Returns the worst exit code. If one broker fails,
 * the others are asked all the same. */
enum ctl_exit brokers_each(const struct ctl_options *options,
                           broker_function *function, void *context);

/* "HOST:PORT: " if there are several brokers and the output is for a person. */
void broker_label_print(const struct ctl_options *options);
