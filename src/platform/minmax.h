/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

static inline int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
