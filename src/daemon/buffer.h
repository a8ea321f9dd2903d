/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Growable bytes that are taken from the front: what a session holds back of
 * its input and has yet to send. An empty buffer owns no memory, so that idle
 * sessions are cheap.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All zero is an empty buffer. */
struct buffer {
    char *data;
    size_t start;  /* the content begins here */
    size_t length; /* of the content */
    size_t capacity;
    bool is_broken; /* memory ran out: something is missing in the content */
};

const char *buffer_content(const struct buffer *buffer);

/* Room for `size` bytes behind the content; NULL when memory ran out, and the
 * buffer is broken. What was written there is kept by buffer_extend. */
char *buffer_room(struct buffer *buffer, size_t size);
void buffer_extend(struct buffer *buffer, size_t size);

void buffer_append(struct buffer *buffer, const char *data, size_t size);

/* Appends a text, which is cut at 1,023 bytes. */
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Removes `size` bytes, at most the content, from the front. */
void buffer_drop(struct buffer *buffer, size_t size);

void buffer_fini(struct buffer *buffer);

/* A buffer without memory takes that of `spare`, if there is some; and what
 * it needs no more becomes `spare`, its content is dropped. So that busy
 * sessions allocate nothing while idle ones own nothing. */
void buffer_take_spare(struct buffer *buffer, struct buffer *spare);
void buffer_give_spare(struct buffer *buffer, struct buffer *spare);
