/* SPDX-License-Identifier: Apache-2.0 */
/* A text that grows, and base64, in which etcd's gateway has keys and values.
 * Knows nothing of etcd. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct etcd_text {
    char *data; /* always ends with 0; NULL until something was added */
    size_t length;
    size_t size;
    bool has_failed; /* out of memory, or longer than ETCD_TEXT_MAX */
};

#define ETCD_TEXT_MAX ((size_t)16 << 20)

/* Keeps the memory. */
void etcd_text_clear(struct etcd_text *text);

/* Frees it. */
void etcd_text_fini(struct etcd_text *text);

void etcd_text_add(struct etcd_text *text, const char *data, size_t length);
void etcd_text_put(struct etcd_text *text, const char *words);

/* Adds `length` bytes as base64. */
void etcd_text_encode(struct etcd_text *text, const char *data, size_t length);

/* Decodes a whole text, and puts a 0 behind it. False if it is no base64, does
 * not fit into `size` with the 0, or has a 0 in it. */
bool etcd_text_decode(const char *base64, char *out, size_t size);
