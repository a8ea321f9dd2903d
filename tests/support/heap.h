/* SPDX-License-Identifier: Apache-2.0 */
/* What the heap holds. */
#pragma once

#include <malloc.h>
#include <stddef.h>

/* Bytes that were allocated and not freed. */
static inline size_t heap_used(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}
