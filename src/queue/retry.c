/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/retry.h"

#include "platform/minmax.h"

void retry_begin(struct retry *retry, uint64_t usable, int64_t now_ms)
{
    retry->usable = usable;
    retry->rest_ms = RETRY_FIRST_MS;
    retry->at_ms = now_ms + retry->rest_ms;
}

bool retry_is_due(struct retry *retry, uint64_t usable, int64_t now_ms)
{
    if (usable != retry->usable) {
        retry_begin(retry, usable, now_ms);
        return true;
    }
    if (now_ms < retry->at_ms)
        return false;
    retry->rest_ms =
        (int32_t)min_of(2 * (int64_t)retry->rest_ms, RETRY_LONGEST_MS);
    retry->at_ms = now_ms + retry->rest_ms;
    return true;
}
