/* SPDX-License-Identifier: Apache-2.0 */
/* One call each. */
#include "bench/outside.h"

int outside_take(_Atomic int64_t *counter, int64_t bound, int64_t *out)
{
    *out = atomic_fetch_add(counter, 1);
    return *out < bound ? 0 : -1;
}

int outside_nothing(int64_t value, int64_t *out)
{
    *out = value;
    return 0;
}
