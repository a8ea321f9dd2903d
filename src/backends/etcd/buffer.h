/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that grow. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etcd_buffer {
    uint8_t *data; /* NULL until something is added */
    size_t length;
    size_t size;
    bool has_failed; /* out of memory, or longer than ETCD_BUFFER_MAX */
};

/* The limit of gRPC's own clients for an answer, which is above etcd's own
 * limit for a request. */
#define ETCD_BUFFER_MAX ((size_t)4 << 20)

/* Empties the buffer, and keeps its memory. */
void etcd_buffer_clear(struct etcd_buffer *buffer);

/* Overwrites the memory, and keeps the length. */
void etcd_buffer_wipe(const struct etcd_buffer *buffer);

/* Frees the memory. */
void etcd_buffer_fini(struct etcd_buffer *buffer);

/* Appends `length` bytes, which the caller must fill. NULL on failure. What the
 * buffer held before it had to grow is overwritten. */
uint8_t *etcd_buffer_grow(struct etcd_buffer *buffer, size_t length);

void etcd_buffer_add(struct etcd_buffer *buffer, const uint8_t *data,
                     size_t length);
