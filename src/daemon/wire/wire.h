/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Redis protocol: growable buffers, parsing of requests (resp.c), writing
 * of replies (reply.c). This is the front header of the folder, which does not
 * know sessions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

/* --- buffer.c --- */

/*
 * A growable buffer that is consumed from the front: the input that a session
 * has not executed yet, and the output that it has not sent yet. A zeroed
 * buffer is empty and owns no memory, so that idle sessions are cheap.
 */
struct buffer {
    char *data;
    size_t start;  /* where the content begins */
    size_t length; /* of the content */
    size_t capacity;
    bool is_broken; /* memory ran out: the content is incomplete */
};

const char *buffer_content(const struct buffer *buffer);

/* Returns room for `size` bytes behind the content; NULL if memory ran out, and
 * the buffer is broken then. buffer_extend adds what was written there to the
 * content. */
char *buffer_reserve(struct buffer *buffer, size_t size);
void buffer_extend(struct buffer *buffer, size_t size);

void buffer_append(struct buffer *buffer, const char *data, size_t size);
void buffer_append_text(struct buffer *buffer, const char *text);

/* Appends a formatted text, truncated at 1,023 bytes. */
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Removes `size` bytes, at most the content, from the front. */
void buffer_drop(struct buffer *buffer, size_t size);

void buffer_fini(struct buffer *buffer);

/* The same, but overwrites the content first, since it may be a secret.
 * is_broken is kept. */
void buffer_wipe(struct buffer *buffer);

/* A buffer without memory takes the memory of `spare`, if it has any. A buffer
 * whose content is not needed any more gives its memory to `spare`. So busy
 * sessions allocate nothing, while idle ones own nothing. */
void buffer_take_spare(struct buffer *buffer, struct buffer *spare);
void buffer_give_spare(struct buffer *buffer, struct buffer *spare);

/* --- resp.c --- */

#define RESP_ARGUMENTS_MAX 64
#define RESP_BULK_MAX      65536  /* bytes of one argument */
#define RESP_INLINE_MAX    4096   /* bytes of an inline command */
#define RESP_REQUEST_MAX   131072 /* bytes of a request in all */

/* A word, as of a request: a part of a larger text. */
struct resp_slice {
    const char *data; /* not NUL-terminated */
    size_t length;
};

struct resp_request {
    /* The first `argc` point into the bytes parsed. */
    struct resp_slice argv[RESP_ARGUMENTS_MAX];
    size_t argc;       /* 0: an empty request, which has no reply */
    size_t size;       /* bytes of the request */
    const char *error; /* static text; set if RESP_BROKEN */
};

enum resp_result {
    RESP_COMPLETE, /* all but `error` is set */
    RESP_PARTIAL,  /* more bytes are needed; nothing is set */
    RESP_BROKEN    /* `error` is set; further input cannot be parsed */
};

/*
 * Parses the request at the begin of `data`. A request is an array of bulk
 * strings, or an inline command (words between spaces, no quoting). Pure: bytes
 * in, struct out; it allocates nothing, whatever size a client announces. The
 * result does not depend on how the input was split: more bytes can only change
 * RESP_PARTIAL, which is never returned for RESP_REQUEST_MAX bytes or more.
 */
enum resp_result resp_parse(const char *data, size_t length,
                            struct resp_request *out);

/*
 * How many complete copies of the request of `size` bytes at the begin of
 * `data` follow it directly. A pipeline is mostly one request many times, whose
 * copies need not be parsed again.
 */
size_t resp_repeats(const char *data, size_t length, size_t size);

/* Whether a word is `text`, ignoring case. */
bool word_is(struct resp_slice word, const char *text);

/* Parses a whole decimal integer; false if it is anything else. */
bool word_to_integer(struct resp_slice word, long long *out);

/* How many bytes of a client's word may be shown in an error. */
int word_shown(struct resp_slice word);

/* Copies the word as a string. False if it is too long or has a NUL byte. */
bool word_copy(struct resp_slice word, char *out, size_t size);

/* Writes a text in lower case, as Redis writes a command's name. */
void word_lower(const char *text, char *out, size_t size);

/* --- reply.c --- */

/* The most bytes of a number's reply: "$20", 19 digits and a sign, two line
 * ends. */
#define REPLY_NUMBER_MAX 27

#define REPLY_CODE_SIZE 32

void reply_simple(struct buffer *out, const char *text);

/* An error: its code ("ERR") and a text. Unprintable bytes, which may come from
 * a client's words, become '?', line ends become spaces. */
void reply_error(struct buffer *out, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The code of a status: its name without underscores, "ERR" for
 * SEQB_INVALID. */
void reply_code(enum seqb_status status, char out[REPLY_CODE_SIZE]);

/* An error of the library. See reply_code. */
void reply_failure(struct buffer *out, const struct seqb_error *err);

void reply_integer(struct buffer *out, int64_t value);

/* `count` replies of one integer each; as bulk strings if `is_text`. */
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

/* The same for a value that may exceed 2^53; a bulk string if `is_text`. */
void reply_field_number(struct buffer *out, const char *name, int64_t value,
                        bool is_text);
