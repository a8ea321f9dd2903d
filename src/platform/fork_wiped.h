/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many small objects in memory that a forked child finds zero: that is by the
 * page, so that here pages are cut into pieces. Thread-safe; not to be used in
 * the child, whose copy of the books is the parent's.
 */
#pragma once

#include <stddef.h>

struct fork_wiped;

/* NULL when out of memory. */
struct fork_wiped *fork_wiped_open(void);

/*
 * `size` zeroed bytes that are zero again in a child after fork(), aligned to
 * 64 bytes; to 128 if `size` is a multiple of 128, as it is of a struct that
 * asks for that. NULL when out of memory.
 */
void *fork_wiped_take(struct fork_wiped *fork_wiped, size_t size);

/* Gives back what was taken, with the same size; takes NULL. The page stays
 * for other pieces, if it is not larger than all that are cut. */
void fork_wiped_give(struct fork_wiped *fork_wiped, void *memory, size_t size);

/* Frees all, also what was not given back. Takes NULL. */
void fork_wiped_close(struct fork_wiped *fork_wiped);
