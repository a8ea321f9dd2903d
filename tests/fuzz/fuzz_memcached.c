/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a memcached server's replies. What must hold: a reply's text
 * lies inside the bytes that it takes; the result is the same for every cut of
 * the input; no partial reply is larger than the limit.
 */
#include "backends/memcached/cell.h"
#include "backends/memcached/reply.h"
#include "fuzz/fuzz.h"

static void check_text(const struct memcached_reply *reply, const char *data,
                       size_t length)
{
    require(reply->size >= 2 && reply->size <= length);
    require((reply->text == NULL) == (reply->rest != 0));
    if (reply->text == NULL) {
        require(reply->code == MEMCACHED_VALUE);
        require(reply->length > MEMCACHED_VALUE_MAX);
        return;
    }
    require(reply->text >= data);
    require(reply->text + reply->length + 2 == data + reply->size);
}

static void check_cell(const struct memcached_reply *reply)
{
    struct memcached_cell cell;

    if (reply->text == NULL ||
        !memcached_cell_read(reply->text, reply->length, reply->flags, &cell))
        return;
    require(reply->length <= MEMCACHED_CELL_TEXT_MAX);
    require(cell.window >= 1 && cell.size >= 1);
    require(cell.offset >= 0 && cell.offset < 2 * cell.size);
    require(memcached_cell_flags(cell.size) == reply->flags);
    require((uint64_t)cell.window * 2 * (uint64_t)cell.size +
                (uint64_t)cell.offset ==
            cell.value);
}

/* Parses a part, as it might arrive, in memory of just its size. */
static void check_part(const char *data, size_t length,
                       enum memcached_parsed whole,
                       const struct memcached_reply *expected)
{
    struct memcached_reply reply;
    char *part = malloc(length + (length == 0));
    enum memcached_parsed parsed = MEMCACHED_PARTIAL;

    require(part != NULL);
    memcpy(part, data, length);
    parsed = memcached_reply_parse(part, length, &reply);
    if (parsed == MEMCACHED_COMPLETE) {
        require(whole == MEMCACHED_COMPLETE && reply.size == expected->size);
        require(reply.code == expected->code && reply.cas == expected->cas);
        require(reply.length == expected->length);
    } else if (parsed == MEMCACHED_BROKEN) {
        require(whole == MEMCACHED_BROKEN);
    } else {
        require(length < MEMCACHED_LINE_MAX + MEMCACHED_VALUE_MAX + 2);
        require(whole != MEMCACHED_COMPLETE || length < expected->size);
    }
    free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *data = (const char *)bytes;

    for (;;) {
        struct memcached_reply reply;
        const enum memcached_parsed parsed =
            memcached_reply_parse(data, size, &reply);
        const size_t step = 1 + size / 64;

        if (parsed == MEMCACHED_COMPLETE) {
            check_text(&reply, data, size);
            check_cell(&reply);
        }
        for (size_t cut = 0; cut <= size; cut += step)
            check_part(data, cut, parsed, &reply);
        if (parsed != MEMCACHED_COMPLETE)
            return 0;
        data += reply.size;
        size -= reply.size;
    }
}
