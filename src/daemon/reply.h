/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replies of the Redis protocol, appended to a buffer. RESP3 differs from
 * RESP2 only in maps, sets and nulls here. Running out of memory shows in the
 * buffer's `is_broken`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

#include "daemon/buffer.h"

/* Bytes of one number at most: "$20", 19 digits and a sign, two line ends. */
#define REPLY_NUMBER_MAX 27

void reply_simple(struct buffer *out, const char *text);

/* An error: its code ("ERR") and a text; unprintable bytes, as a client's own
 * words may hold, become '?', line ends become spaces. */
void reply_error(struct buffer *out, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What the library answered. The code is the status's name without
 * underscores, but "ERR" for SEQB_INVALID. */
void reply_failure(struct buffer *out, const struct seqb_error *err);

void reply_integer(struct buffer *out, int64_t value);

/* So many replies of one integer each; as bulk strings if `is_text`. */
void reply_numbers(struct buffer *out, const int64_t *values, size_t count,
                   bool is_text);

void reply_bulk(struct buffer *out, const char *data, size_t length);
void reply_string(struct buffer *out, const char *text);

/* A text for people: in RESP3 a verbatim string, in RESP2 a bulk string. */
void reply_verbatim(struct buffer *out, const char *text, size_t length,
                    bool is_resp3);

void reply_null(struct buffer *out, bool is_resp3);

/* The head of an array of `count` replies. */
void reply_array(struct buffer *out, size_t count);

/* The head of a set of `count` replies; in RESP2 an array. */
void reply_set(struct buffer *out, size_t count, bool is_resp3);

/* The head of a map of `count` pairs; in RESP2 an array of twice as many. */
void reply_map(struct buffer *out, size_t count, bool is_resp3);

/* One pair of a map. */
void reply_field_string(struct buffer *out, const char *name, const char *text);
void reply_field_integer(struct buffer *out, const char *name, int64_t value);

/* The same of what may pass 2^53; a bulk string if `is_text`. */
void reply_field_number(struct buffer *out, const char *name, int64_t value,
                        bool is_text);
