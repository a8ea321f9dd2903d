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

void etcd_buffer_wipe(const struct etcd_buffer *buffer)
{
    if (buffer->data != NULL)
        explicit_bzero(buffer->data, buffer->size);
}

void etcd_buffer_fini(struct etcd_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct etcd_buffer){.data = NULL};
}

/* realloc would leave a copy behind, which may hold a password. */
static bool size_set(struct etcd_buffer *buffer, size_t size)
{
    uint8_t *data = malloc(size);

    if (data == NULL)
        return false;
    if (buffer->data != NULL) {
        memcpy(data, buffer->data, buffer->length);
        etcd_buffer_wipe(buffer);
        free(buffer->data);
    }
    buffer->data = data;
    buffer->size = size;
    return true;
}

static bool is_roomy(struct etcd_buffer *buffer, size_t length)
{
    size_t size = buffer->size > 0 ? buffer->size : SIZE_FIRST;

    if (buffer->has_failed || length > ETCD_BUFFER_MAX - buffer->length)
        return false;
    while (size < buffer->length + length)
        size *= 2;
    return size == buffer->size || size_set(buffer, size);
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
