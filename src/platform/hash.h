/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a, 64 bits (draft-eastlake-fnv): for hash tables, and for names that a
 * store keeps, so that it never changes. Not against malice. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_add(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Of a text without its end. */
static inline uint64_t hash_text(const char *text)
{
    uint64_t hash = HASH_BEGIN;

    for (; *text != '\0'; text++)
        hash = hash_add(hash, text, 1);
    return hash;
}
