/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of another version of the header; see sized.h. */
#include "api/sized.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"

/* No struct of any version is larger: a greater size was never set. */
#define SIZE_LIMIT 4096

static size_t size_of(const void *sized)
{
    size_t size;

    memcpy(&size, sized, sizeof size);
    return size;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool is_zero(const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

static enum seqb_status size_check(size_t size, size_t least_size,
                                   const char *name, struct seqb_error *err)
{
    if (size >= least_size && size <= SIZE_LIMIT)
        return SEQB_OK;
    return error_set(err, SEQB_INVALID,
                     "the size of a struct %s is %zu: it must be its sizeof",
                     name, size);
}

enum seqb_status sized_check(const void *to, const char *name,
                             struct seqb_error *err)
{
    return size_check(size_of(to), sizeof(size_t), name, err);
}

const void *sized_read_other(const void *from, void *copy, size_t whole,
                             const char *name, struct seqb_error *err)
{
    const size_t size = size_of(from);

    if (sized_check(from, name, err) != SEQB_OK)
        return NULL;
    if (size > whole && !is_zero((const char *)from + whole, size - whole)) {
        (void)error_set(err, SEQB_INVALID,
                        "a struct %s sets members that this library does not "
                        "know: it is older than the program",
                        name);
        return NULL;
    }
    memset(copy, 0, whole);
    memcpy(copy, from, least(size, whole));
    return copy;
}

void sized_write(const void *from, size_t whole, void *to)
{
    const size_t size = size_of(to);
    const size_t known = least(size, whole);

    memcpy((char *)to + sizeof size, (const char *)from + sizeof size,
           known - sizeof size);
    memset((char *)to + known, 0, size - known);
}

enum seqb_status sized_begin(struct sized_out *out, struct seqb_error *err)
{
    const enum seqb_status status =
        size_check(out->size, out->first, out->name, err);

    out->structs = out->to;
    if (status != SEQB_OK || out->size == out->whole || out->capacity == 0)
        return status;
    out->structs = calloc(out->capacity, out->whole);
    if (out->structs == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    return SEQB_OK;
}

void sized_end(const struct sized_out *out, size_t count)
{
    const size_t known = least(out->size, out->whole);

    if (out->structs == out->to)
        return;
    for (size_t i = 0; i < least(count, out->capacity); i++) {
        char *to = (char *)out->to + i * out->size;

        memcpy(to, (const char *)out->structs + i * out->whole, known);
        memset(to + known, 0, out->size - known);
    }
    free(out->structs);
}
