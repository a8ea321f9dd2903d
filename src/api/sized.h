/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs of the caller that may grow in later versions. A program that was
 * built with another version of the header may know fewer members, or more. The
 * size is the first member, or an argument of the call.
 */
#pragma once

#include <stddef.h>
#include <string.h>

#include <seqbroker/status.h>

/* sized_read for a struct whose size differs from `whole`. */
const void *sized_read_other(const void *from, void *copy, size_t whole,
                             const char *name, struct seqb_error *err);

/*
 * Reads a struct of the caller, which has `whole` bytes in this version.
 * Returns the struct itself, or `copy`, in which members that the caller does
 * not know are 0. NULL for SEQB_INVALID, with `name` in the text: the size is
 * not valid, or the caller sets a member that this library does not know.
 */
static inline const void *sized_read(const void *from, void *copy, size_t whole,
                                     const char *name, struct seqb_error *err)
{
    size_t size;

    memcpy(&size, from, sizeof size);
    return size == whole ? from
                         : sized_read_other(from, copy, whole, name, err);
}

/* Checks the size at the begin of a struct that will be written. SEQB_INVALID:
 * it is not valid. */
enum seqb_status sized_check(const void *to, const char *name,
                             struct seqb_error *err);

/* Copies the `whole` bytes at `from` into the caller's struct. The caller may
 * know fewer members; or more, which become 0. The struct keeps its size. */
void sized_write(const void *from, size_t whole, void *to);

/* Structs that the library writes for the caller, one or an array. */
struct sized_out {
    const char *name; /* of the struct, for errors */
    void *to;         /* the caller's; may be NULL if the capacity is 0 */
    size_t size;      /* of one struct in the caller's version */
    size_t capacity;  /* how many structs fit at `to` */
    size_t whole;     /* size of the struct in this version */
    size_t first;     /* the smallest valid size */
    void *structs;    /* where to write `capacity` structs; it is `to` if both
                         versions have the same size */
};

/* Sets `structs`; the caller has set all other members. SEQB_INVALID: the size
 * is not valid. SEQB_NO_MEMORY. After success, call sized_end. */
enum seqb_status sized_begin(struct sized_out *out, struct seqb_error *err);

/* Copies those of the `count` structs that fit. Members that this library does
 * not know become 0. */
void sized_end(const struct sized_out *out, size_t count);
