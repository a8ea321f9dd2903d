/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs of the caller that begin with their size, so that they may grow: a
 * program that was built with another version of the header knows fewer
 * members, or more.
 */
#pragma once

#include <stddef.h>

#include <seqbroker/status.h>

/*
 * Copies what the caller knows of a struct into the `whole` bytes at `out`;
 * what it does not know is 0 there. SEQB_INVALID, with `name` in the text: its
 * size is none, or it sets what this library does not know.
 */
enum seqb_status sized_read(const void *from, void *out, size_t whole,
                            const char *name, struct seqb_error *err);

/* Whether the size at the begin of a struct that is to be written can be one;
 * else SEQB_INVALID. */
enum seqb_status sized_check(const void *to, const char *name,
                             struct seqb_error *err);

/* Copies the `whole` bytes at `from` into the caller's struct. The caller may
 * know fewer members, or more, which are 0 then. Its size stays. */
void sized_write(const void *from, size_t whole, void *to);
