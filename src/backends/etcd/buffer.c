/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that grow. */
#include "backends/etcd/buffer.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_FIRST 4096

void etcd_buffer_clear(struct etcd_buffer *buffer)
{
    buffer->length = 0;
    buffer->has_failed = false;
}

void etcd_buffer_fini(struct etcd_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct etcd_buffer){.data = NULL};
}

static bool is_roomy(struct etcd_buffer *buffer, size_t length)
{
    size_t size = buffer->size > 0 ? buffer->size : SIZE_FIRST;
    uint8_t *data;

    if (buffer->has_failed || length > ETCD_BUFFER_MAX - buffer->length)
        return false;
    while (size < buffer->length + length)
        size *= 2;
    if (size == buffer->size)
        return true;
    data = realloc(buffer->data, size);
    if (data == NULL)
        return false;
    buffer->data = data;
    buffer->size = size;
    return true;
}

uint8_t *etcd_buffer_grow(struct etcd_buffer *buffer, size_t length)
{
    uint8_t *added;

    if (!is_roomy(buffer, length)) {
        buffer->has_failed = true;
        return NULL;
    }
    added = buffer->data + buffer->length;
    buffer->length += length;
    return added;
}

void etcd_buffer_add(struct etcd_buffer *buffer, const uint8_t *data,
                     size_t length)
{
    uint8_t *added = etcd_buffer_grow(buffer, length);

    if (added != NULL)
        memcpy(added, data, length);
}
