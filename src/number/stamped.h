/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all texts of a stamp begin with, kept from one call to the next: a date
 * is the same for a whole period, and to write it takes longer than the rest
 * of a text. One of a template. Any thread reads it, and the first one that
 * comes with a later stamp writes it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/check_digit.h"

#define STAMPED_PIECES 4  /* that are kept at most ... */
#define STAMPED_TEXT   32 /* ... and their bytes */
#define STAMPED_WORDS  ((STAMPED_TEXT + sizeof(struct check)) / 8)
#define STAMPED_LINE   64 /* bytes of a cache line, which it fills */

#define STAMPED_NONE     (-1)
#define STAMPED_CHANGING INT64_MAX

union stamped_begin {
    struct {
        struct check check; /* the running one, that was fed with the text */
        char text[STAMPED_TEXT];
    };
    uint64_t words[STAMPED_WORDS];
};

struct stamped {
    /* Of which stamp the words are; STAMPED_NONE; or STAMPED_CHANGING: they are
     * being written. A later one follows always: no stamp comes back. */
    _Alignas(STAMPED_LINE) _Atomic int64_t stamp;
    _Atomic uint64_t words[STAMPED_WORDS];
};

/*
 * False if what is kept is that of another stamp. Words that are read while
 * another stamp's are written are found out by the second look at the stamp:
 * the acquire of each word pairs with its release, which comes after the
 * change of the stamp.
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

/* Keeps it, unless that of a later stamp is kept, or another thread is just
 * writing. */
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
