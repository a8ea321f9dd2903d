/* SPDX-License-Identifier: Apache-2.0 */
/* A text that grows, and base64, which etcd's gateway uses for keys and values.
 * Independent of etcd. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct etcd_text {
    char *data; /* always ends with 0; NULL until something is added */
    size_t length;
    size_t size;
    bool has_failed; /* out of memory, or longer than ETCD_TEXT_MAX */
};

#define ETCD_TEXT_MAX ((size_t)16 << 20)

/* Empties the text, and keeps its memory. */
void etcd_text_clear(struct etcd_text *text);

/* Frees the memory. */
void etcd_text_fini(struct etcd_text *text);

void etcd_text_add(struct etcd_text *text, const char *data, size_t length);
void etcd_text_put(struct etcd_text *text, const char *words);

/* Adds `length` bytes as base64. */
void etcd_text_encode(struct etcd_text *text, const char *data, size_t length);

/* Decodes a whole text, and appends a 0. False if it is not base64, does not
 * fit into `size` with the 0, or contains a 0. */
bool etcd_text_decode(const char *base64, char *out, size_t size);
