/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs of the caller that may grow: a program that was built with another
 * version of the header knows fewer members, or more. They begin with their
 * size, or it is an argument of the call.
 */
#pragma once

#include <stddef.h>
#include <string.h>

#include <seqbroker/status.h>

/* As sized_read, of what is not as long as here. */
const void *sized_read_other(const void *from, void *copy, size_t whole,
                             const char *name, struct seqb_error *err);

/*
 * What the caller knows of a struct that has `whole` bytes here: the struct
 * itself, or a copy of it in which what it does not know is 0. NULL, which is
 * SEQB_INVALID, with `name` in the text: its size is none, or it sets what this
 * library does not know.
 */
static inline const void *sized_read(const void *from, void *copy, size_t whole,
                                     const char *name, struct seqb_error *err)
{
    size_t size;

    memcpy(&size, from, sizeof size);
    return size == whole ? from
                         : sized_read_other(from, copy, whole, name, err);
}

/* Whether the size at the begin of a struct that is to be written can be one;
 * else SEQB_INVALID. */
enum seqb_status sized_check(const void *to, const char *name,
                             struct seqb_error *err);

/* Copies the `whole` bytes at `from` into the caller's struct. The caller may
 * know fewer members, or more, which are 0 then. Its size stays. */
void sized_write(const void *from, size_t whole, void *to);

/* Where the caller wants structs, one or an array, and where the library writes
 * them. */
struct sized_out {
    const char *name; /* of the struct */
    void *to;         /* the caller's; may be NULL if the capacity is 0 */
    size_t size;      /* of a struct there */
    size_t capacity;  /* how many fit */
    size_t whole;     /* of a struct here */
    size_t first;     /* the least size that a program can have */
    void *structs;    /* `capacity` of them to be written: `to`, if the sizes
                         are the same */
};

/* Sets `structs`; all else is set. SEQB_INVALID: the size is none;
 * SEQB_NO_MEMORY. What succeeds needs a sized_end. */
enum seqb_status sized_begin(struct sized_out *out, struct seqb_error *err);

/* Copies those of the `count` that fit. Members that the library does not know
 * are 0. */
void sized_end(const struct sized_out *out, size_t count);
