/* SPDX-License-Identifier: Apache-2.0 */
/* Checks at the start whether the machine's clock is right enough. Pure. Each
 * check returns SEQB_OK, or SEQB_CLOCK with how wrong the clock is and what to
 * do. */
#pragma once

#include <stdbool.h>

#include <seqbroker/status.h>

#include "queue/queue.h"

/* The clock is set, which means not before 2020. */
enum seqb_status clock_check_set(struct guard_reading now,
                                 struct seqb_error *err);

/* The clock is ahead of the stores' clocks by at most max_ahead. */
enum seqb_status clock_check_ahead(const struct guard *guard,
                                   struct guard_reading now,
                                   struct seqb_error *err);

/* The clock is behind the last issued time that the guard began with by at most
 * max_rollback. `is_of_store`: that time was kept by the options' store, else
 * by their file. */
enum seqb_status clock_check_behind(const struct guard *guard,
                                    const struct queue_clock_options *options,
                                    bool is_of_store, struct guard_reading now,
                                    struct seqb_error *err);
