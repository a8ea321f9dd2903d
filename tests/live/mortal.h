/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines sqlite and redis as "mortal-sqlite" and "mortal-redis", whose
 * process is killed after a call: so that what they serve can be cut off at
 * every step.
 */
#pragma once

#include <stdint.h>

#include <seqbroker/backend.h>

/* For seqb_open_with and its like. */
extern const struct seqb_backend_ops *const mortal_engines[];

/* SIGKILL to this process after so many calls from now on, of both engines
 * together; 0: never. */
void mortal_set(int64_t calls);
