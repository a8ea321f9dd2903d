/* SPDX-License-Identifier: Apache-2.0 */
/* Brokers that open an empty store at the same time. */
#pragma once

#include <seqbroker/backend.h>

#define FOUNDERS 8

/* Opens the store by many at once, each of which takes ten values of a counter.
 * They must be of one store: together they have the first values. */
void founders_make_one_store(const struct seqb_backend_ops *ops,
                             const struct seqb_backend_options *options,
                             const char *counter);
