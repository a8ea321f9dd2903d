/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the status of requests without an answer. The engines answer the
 * others. */
#include "backends/requests.h"

#include "platform/error.h"

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
        requests[i].window = SEQB_NO_WINDOW; /* it may have been set */
    }
    return error_copy(err, why);
}
