/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The begin that all texts of a stamp share, cached from one call to the next.
 * A date is the same for a whole period, and writing it takes longer than the
 * rest of a text. Each template has one cache. Any thread reads it; the first
 * thread with a later stamp replaces it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/check_digit.h"

#define STAMPED_PIECES 4  /* at most this many pieces are cached ... */
#define STAMPED_TEXT   32 /* ... and this many bytes */
#define STAMPED_WORDS  ((STAMPED_TEXT + sizeof(struct check)) / 8)
#define STAMPED_LINE   64 /* bytes of a cache line; struct stamped fills one */

#define STAMPED_NONE     (-1)
#define STAMPED_CHANGING INT64_MAX

union stamped_begin {
    struct {
        struct check check; /* the running check, after it was fed with the
                               text */
        char text[STAMPED_TEXT];
    };
    uint64_t words[STAMPED_WORDS];
};

struct stamped {
    /* The stamp of the words. STAMPED_NONE: there are none. STAMPED_CHANGING:
     * they are being written. Stamps only increase, so no stamp comes back. */
    _Alignas(STAMPED_LINE) _Atomic int64_t stamp;
    _Atomic uint64_t words[STAMPED_WORDS];
};

/*
 * False if the cache holds another stamp. If another stamp's words are written
 * during the read, the second load of the stamp shows it: the acquire of each
 * word pairs with its release, which comes after the change of the stamp.
 */
static inline bool stamped_read(const struct stamped *stamped, int64_t stamp,
                                union stamped_begin *out)
{
    if (atomic_load_explicit(&stamped->stamp, memory_order_acquire) != stamp)
        return false;
    for (size_t i = 0; i < STAMPED_WORDS; i++)
        out->words[i] =
            atomic_load_explicit(&stamped->words[i], memory_order_acquire);
    return atomic_load_explicit(&stamped->stamp, memory_order_relaxed) == stamp;
}

/* Stores the begin, unless a later stamp's is stored already or another thread
 * is writing. */
static inline void stamped_write(struct stamped *stamped, int64_t stamp,
                                 const union stamped_begin *begin)
{
    int64_t was = atomic_load_explicit(&stamped->stamp, memory_order_relaxed);

    if (was >= stamp || !atomic_compare_exchange_strong_explicit(
                            &stamped->stamp, &was, STAMPED_CHANGING,
                            memory_order_relaxed, memory_order_relaxed))
        return;
    for (size_t i = 0; i < STAMPED_WORDS; i++)
        atomic_store_explicit(&stamped->words[i], begin->words[i],
                              memory_order_release);
    atomic_store_explicit(&stamped->stamp, stamp, memory_order_release);
}
