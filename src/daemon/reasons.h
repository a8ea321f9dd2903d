/* SPDX-License-Identifier: Apache-2.0 */
/* A callback for each reason for which settings are refused. */
#pragma once

#include <stddef.h>

#include <seqbroker/status.h>

struct reasons {
    void (*report)(void *context, const char *reason);
    void *context;
};

/* Reports the reason, unless `reasons` is NULL. The first one, when `status` is
 * still SEQB_OK, becomes the error. Returns the status of the first one. */
static inline enum seqb_status reasons_add(const struct reasons *reasons,
                                           enum seqb_status status,
                                           const struct seqb_error *why,
                                           struct seqb_error *err)
{
    if (reasons != NULL)
        reasons->report(reasons->context, why->text);
    if (status != SEQB_OK)
        return status;
    *err = *why;
    return why->status;
}
