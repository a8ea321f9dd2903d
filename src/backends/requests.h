/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of one call of reserve, for engines that get the answers one by
 * one: a request without an answer yet is SEQB_UNCERTAIN. */
#pragma once

#include <stddef.h>

#include <seqbroker/backend.h>

/* Sets every request to SEQB_UNCERTAIN, without a block and without a
 * window. */
static inline void requests_begin(struct seqb_request *requests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        requests[i].status = SEQB_UNCERTAIN;
        requests[i].block = (struct seqb_block){0, 0};
        requests[i].window = SEQB_NO_WINDOW;
    }
}

/* Sets `status`, and the text of `why`, in the requests that are still
 * SEQB_UNCERTAIN. Copies `why` into `err`, which may be NULL, and returns its
 * status. */
enum seqb_status requests_end(struct seqb_request *requests, size_t n,
                              enum seqb_status status,
                              const struct seqb_error *why,
                              struct seqb_error *err);
