/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of one call of reserve, for engines that learn one answer after
 * the other: SEQB_UNCERTAIN is what has none yet. */
#pragma once

#include <stddef.h>

#include <seqbroker/backend.h>

/* Every request is SEQB_UNCERTAIN, without values and without a window. */
static inline void requests_begin(struct seqb_request *requests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        requests[i].status = SEQB_UNCERTAIN;
        requests[i].block = (struct seqb_block){0, 0};
        requests[i].window = SEQB_NO_WINDOW;
    }
}

/* Gives `status`, and the words of `why`, to the requests that are still
 * SEQB_UNCERTAIN. Copies `why` into `err`, which may be NULL, and returns its
 * status. */
enum seqb_status requests_end(struct seqb_request *requests, size_t n,
                              enum seqb_status status,
                              const struct seqb_error *why,
                              struct seqb_error *err);
