/* SPDX-License-Identifier: Apache-2.0 */
/* How the requests of a call begin, and what becomes of those that are left
 * without an answer; to answer one is the engine's. */
#include "backends/requests.h"

#include "platform/error.h"

void requests_begin(struct seqb_request *requests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        requests[i].status = SEQB_UNCERTAIN;
        requests[i].block = (struct seqb_block){0, 0};
        requests[i].window = SEQB_NO_WINDOW;
    }
}

enum seqb_status requests_end(struct seqb_request *requests, size_t n,
                              enum seqb_status status,
                              const struct seqb_error *why,
                              struct seqb_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (requests[i].status != SEQB_UNCERTAIN)
            continue;
        requests[i].error = *why;
        requests[i].error.status = status;
        requests[i].status = status;
        requests[i].window = SEQB_NO_WINDOW; /* it may have been seen */
    }
    return error_copy(err, why);
}
