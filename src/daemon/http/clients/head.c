/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/http/clients/head.h"

#include <string.h>

/* The three blocks of a header beside its bytes are 112, here rounded up for
 * what is not read yet. */
#define LINE_COST 128

#define PARTS 4 /* of the input, looked at in one step */

static size_t lines_of(const struct evbuffer_iovec *part)
{
    const char *at = part->iov_base;
    const char *end = at + part->iov_len;
    size_t lines = 0;

    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

size_t head_cost(struct evbuffer *input, size_t added)
{
    struct evbuffer_ptr from;
    size_t cost = added;
    size_t left = added;

    if (evbuffer_ptr_set(input, &from, evbuffer_get_length(input) - added,
                         EVBUFFER_PTR_SET) != 0)
        return cost;
    while (left > 0) {
        struct evbuffer_iovec parts[PARTS];
        const int count =
            evbuffer_peek(input, (ev_ssize_t)left, &from, parts, PARTS);
        size_t seen = 0;

        for (int i = 0; i < count && i < PARTS; i++) {
            cost += LINE_COST * lines_of(&parts[i]);
            seen += parts[i].iov_len;
        }
        if (seen == 0 || seen >= left ||
            evbuffer_ptr_set(input, &from, seen, EVBUFFER_PTR_ADD) != 0)
            break;
        left -= seen;
    }
    return cost;
}
