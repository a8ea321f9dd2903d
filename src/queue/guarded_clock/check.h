/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a broker may start by its machine's clock. Pure. Each answers
 * SEQB_CLOCK with by how much the clock is wrong, and what to do. */
#pragma once

#include <stdbool.h>

#include <seqbroker/status.h>

#include "queue/queue.h"

/* It was set. */
enum seqb_status clock_check_set(struct guard_reading now,
                                 struct seqb_error *err);

/* It is no farther ahead of the stores than max_ahead. */
enum seqb_status clock_check_ahead(const struct guard *guard,
                                   struct guard_reading now,
                                   struct seqb_error *err);

/* It is no farther behind what the guard began with than max_rollback. That
 * was kept by the store of the options, or else by their file. */
enum seqb_status clock_check_behind(const struct guard *guard,
                                    const struct queue_clock_options *options,
                                    bool is_of_store, struct guard_reading now,
                                    struct seqb_error *err);
