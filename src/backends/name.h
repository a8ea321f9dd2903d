/* SPDX-License-Identifier: Apache-2.0 */
/* Names of counters and claims that are too long for a store. */
#pragma once

#include <seqbroker/status.h>

/* Refuses a name that does not fit, which is the caller's mistake. It is never
 * cut: it would be that of another counter or claim. */
enum seqb_status name_refuse(const char *where, const char *name,
                             struct seqb_error *err);
