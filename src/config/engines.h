/* SPDX-License-Identifier: Apache-2.0 */
/* Which engines a topology may name: those built in, and those that the
 * service brings along. */
#pragma once

#include <seqbroker/backend.h>

#include "config/schema.h"

/* Checks a service's engines (NULL, or ended by NULL): complete, each with a
 * name of its own. SEQB_INVALID with what is wrong. */
enum seqb_status engines_check(const struct seqb_backend_ops *const *engines,
                               struct seqb_error *err);

/* Finds the engine of each backend; its `ops` stay NULL if there is none. */
void engines_resolve(struct draft *draft);

/* ": this build has a, b; the service has c" */
void engines_list(const struct draft *draft, char *out, size_t size);
