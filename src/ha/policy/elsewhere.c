/* SPDX-License-Identifier: Apache-2.0 */
/* Which store of another pool a sequence waits for. */
#include "ha/policy/elsewhere.h"

int32_t elsewhere_awaits(const struct elsewhere *elsewhere)
{
    for (size_t i = 0; i < elsewhere->count && !elsewhere->is_known; i++) {
        if (elsewhere->is_needed[i] && !elsewhere->has_no_such[i])
            return (int32_t)i;
    }
    return -1;
}
