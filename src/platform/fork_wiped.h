/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many small objects in memory that is zero in a forked child. The kernel does
 * that by the page, so pages are divided into pieces here. Thread-safe. It must
 * not be used in the child, whose bookkeeping is a copy of the parent's.
 */
#pragma once

#include <stddef.h>

struct fork_wiped;

/* NULL if out of memory. */
struct fork_wiped *fork_wiped_open(void);

/*
 * `size` zeroed bytes that are zero again in a child after fork(). They are
 * aligned to 64 bytes, or to 128 if `size` is a multiple of 128, as the size of
 * a struct with that alignment is. NULL if out of memory.
 */
void *fork_wiped_take(struct fork_wiped *fork_wiped, size_t size);

/* Gives an object back, with the same size. NULL is allowed. Its page is kept
 * for other pieces, unless the object was too large to be a piece. */
void fork_wiped_give(struct fork_wiped *fork_wiped, void *memory, size_t size);

/* Frees all objects, also those that were not given back. NULL is allowed. */
void fork_wiped_close(struct fork_wiped *fork_wiped);
