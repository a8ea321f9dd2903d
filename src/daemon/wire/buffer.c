/* SPDX-License-Identifier: Apache-2.0 */
/* Growable buffers; see wire.h. */
#include "daemon/wire/wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enough for the replies to a usual pipeline, and small enough for malloc's
 * per-thread cache. */
#define FIRST_CAPACITY 1000

#define FORMAT_SIZE 1024

/* Larger memory is not kept as the spare. */
#define SPARE_MAX 262144

const char *buffer_content(const struct buffer *buffer)
{
    return buffer->data == NULL ? "" : buffer->data + buffer->start;
}

static void buffer_compact(struct buffer *buffer)
{
    if (buffer->start == 0)
        return;
    memmove(buffer->data, buffer->data + buffer->start, buffer->length);
    buffer->start = 0;
}

static bool buffer_enlarge(struct buffer *buffer, size_t needed)
{
    size_t capacity = buffer->capacity == 0 ? FIRST_CAPACITY : buffer->capacity;
    char *data = NULL;

    while (capacity < needed)
        capacity *= 2;
    data = realloc(buffer->data, capacity);
    if (data == NULL) {
        buffer->is_broken = true;
        return false;
    }
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

char *buffer_reserve(struct buffer *buffer, size_t size)
{
    size_t needed = buffer->length + size;

    if (buffer->start + needed > buffer->capacity) {
        buffer_compact(buffer);
        if (needed > buffer->capacity && !buffer_enlarge(buffer, needed))
            return NULL;
    }
    return buffer->data + buffer->start + buffer->length;
}

void buffer_extend(struct buffer *buffer, size_t size)
{
    buffer->length += size;
}

void buffer_append(struct buffer *buffer, const char *data, size_t size)
{
    char *room = NULL;

    if (size == 0)
        return;
    room = buffer_reserve(buffer, size);
    if (room == NULL)
        return;
    memcpy(room, data, size);
    buffer_extend(buffer, size);
}

void buffer_append_text(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_format(struct buffer *buffer, const char *format, ...)
{
    char text[FORMAT_SIZE];
    va_list arguments;
    int length = 0;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        buffer_append_text(buffer, text);
}

void buffer_drop(struct buffer *buffer, size_t size)
{
    if (size >= buffer->length) {
        bool is_broken = buffer->is_broken;

        buffer_fini(buffer);
        buffer->is_broken = is_broken;
        return;
    }
    buffer->start += size;
    buffer->length -= size;
}

void buffer_wipe(struct buffer *buffer)
{
    const bool is_broken = buffer->is_broken;

    if (buffer->data != NULL)
        explicit_bzero(buffer->data, buffer->start + buffer->length);
    free(buffer->data);
    *buffer = (struct buffer){.is_broken = is_broken};
}

void buffer_fini(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

void buffer_take_spare(struct buffer *buffer, struct buffer *spare)
{
    if (buffer->data != NULL)
        return;
    buffer->data = spare->data;
    buffer->capacity = spare->capacity;
    *spare = (struct buffer){0};
}

void buffer_give_spare(struct buffer *buffer, struct buffer *spare)
{
    bool is_broken = buffer->is_broken;

    if (spare->data == NULL && buffer->capacity <= SPARE_MAX) {
        spare->data = buffer->data;
        spare->capacity = buffer->capacity;
        buffer->data = NULL;
    }
    buffer_fini(buffer);
    buffer->is_broken = is_broken;
}
