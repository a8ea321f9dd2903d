/* SPDX-License-Identifier: Apache-2.0 */
/* A text that grows, and base64 in it. */
#include "backends/etcd/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void etcd_text_clear(struct etcd_text *text)
{
    text->length = 0;
    text->has_failed = false;
    if (text->data != NULL)
        text->data[0] = '\0';
}

void etcd_text_fini(struct etcd_text *text)
{
    free(text->data);
    *text = (struct etcd_text){.data = NULL};
}

static bool text_grow(struct etcd_text *text, size_t length)
{
    size_t size = text->size > 0 ? text->size : 4096;
    char *data;

    if (length > ETCD_TEXT_MAX - text->length - 1)
        return false;
    while (size < text->length + length + 1)
        size *= 2;
    if (size == text->size)
        return true;
    data = realloc(text->data, size);
    if (data == NULL)
        return false;
    text->data = data;
    text->size = size;
    return true;
}

void etcd_text_add(struct etcd_text *text, const char *data, size_t length)
{
    if (text->has_failed || !text_grow(text, length)) {
        text->has_failed = true;
        return;
    }
    memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void etcd_text_put(struct etcd_text *text, const char *words)
{
    etcd_text_add(text, words, strlen(words));
}

void etcd_text_encode(struct etcd_text *text, const char *data, size_t length)
{
    for (size_t i = 0; i < length; i += 3) {
        const size_t left = length - i;
        const uint32_t bits =
            (uint32_t)(unsigned char)data[i] << 16 |
            (left > 1 ? (uint32_t)(unsigned char)data[i + 1] << 8 : 0) |
            (left > 2 ? (uint32_t)(unsigned char)data[i + 2] : 0);
        char four[4] = {letters[bits >> 18], letters[bits >> 12 & 63],
                        letters[bits >> 6 & 63], letters[bits & 63]};

        if (left < 3)
            four[3] = '=';
        if (left < 2)
            four[2] = '=';
        etcd_text_add(text, four, sizeof four);
    }
}

/* The value of a letter, or -1. */
static int letter_value(char letter)
{
    const char *at = letter != '\0' ? strchr(letters, letter) : NULL;

    return at != NULL ? (int)(at - letters) : -1;
}

/* Decodes four letters; returns the number of bytes, 0 if they are invalid. */
static size_t four_decode(const char *four, bool is_last, char out[3])
{
    size_t count = 3;
    uint32_t bits = 0;

    if (is_last && four[3] == '=')
        count = four[2] == '=' ? 1 : 2;
    for (size_t i = 0; i < 4; i++) {
        const int value = i <= count ? letter_value(four[i]) : 0;

        if (value < 0)
            return 0;
        bits = bits << 6 | (uint32_t)value;
    }
    out[0] = (char)(bits >> 16 & 255);
    out[1] = (char)(bits >> 8 & 255);
    out[2] = (char)(bits & 255);
    return count;
}

bool etcd_text_decode(const char *base64, char *out, size_t size)
{
    const size_t length = strlen(base64);
    size_t used = 0;

    if (length % 4 != 0)
        return false;
    for (size_t i = 0; i < length; i += 4) {
        char three[3];
        const size_t count = four_decode(base64 + i, i + 4 == length, three);

        if (count == 0 || used + count >= size ||
            memchr(three, '\0', count) != NULL)
            return false;
        memcpy(out + used, three, count);
        used += count;
    }
    if (used >= size)
        return false;
    out[used] = '\0';
    return true;
}
