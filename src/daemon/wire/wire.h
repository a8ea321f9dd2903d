/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Redis protocol: growable bytes, requests parsed (resp.c), replies written
 * (reply.c). The front header of this folder, which knows no session.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

/* --- buffer.c --- */

/*
 * Growable bytes that are taken from the front: what a session holds back of
 * its input and has yet to send. All zero is an empty one, which owns no
 * memory, so that idle sessions are cheap.
 */
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
char *buffer_reserve(struct buffer *buffer, size_t size);
void buffer_extend(struct buffer *buffer, size_t size);

void buffer_append(struct buffer *buffer, const char *data, size_t size);

/* Appends a text, which is cut at 1,023 bytes. */
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Removes `size` bytes, at most the content, from the front. */
void buffer_drop(struct buffer *buffer, size_t size);

void buffer_fini(struct buffer *buffer);

/* The same, and overwrites what it held: it may be a secret. It stays broken.
 */
void buffer_wipe(struct buffer *buffer);

/* A buffer without memory takes that of `spare`, if there is some; and what
 * it needs no more becomes `spare`, its content is dropped. So that busy
 * sessions allocate nothing while idle ones own nothing. */
void buffer_take_spare(struct buffer *buffer, struct buffer *spare);
void buffer_give_spare(struct buffer *buffer, struct buffer *spare);

/* --- resp.c --- */

#define RESP_ARGUMENTS_MAX 64
#define RESP_BULK_MAX      65536  /* bytes of one argument */
#define RESP_INLINE_MAX    4096   /* bytes of an inline command */
#define RESP_REQUEST_MAX   131072 /* bytes of a request in all */

/* A word of a request, among others. */
struct resp_slice {
    const char *data; /* not ended by a 0 */
    size_t length;
};

struct resp_request {
    /* The first `argc` point into the bytes parsed. */
    struct resp_slice argv[RESP_ARGUMENTS_MAX];
    size_t argc;       /* 0: an empty request, which has no reply */
    size_t size;       /* bytes of the request */
    const char *error; /* static; what is wrong with a broken one */
};

enum resp_result {
    RESP_COMPLETE, /* all but `error` is set */
    RESP_PARTIAL,  /* more bytes are needed; nothing is set */
    RESP_BROKEN    /* `error` is set; what follows cannot be understood */
};

/*
 * A request is an array of bulk strings, or an inline command (words between
 * spaces, no quoting). Pure: bytes in, struct out; it allocates nothing,
 * whatever a client claims to send. Parses the one that `data` begins with. The
 * result does not depend on where the input was cut: more bytes change nothing
 * but RESP_PARTIAL, which is never answered to RESP_REQUEST_MAX bytes.
 */
enum resp_result resp_parse(const char *data, size_t length,
                            struct resp_request *out);

/*
 * How often the request of `size` bytes that `data` begins with stands whole
 * behind itself, without a gap. A pipeline is mostly one request many times,
 * which then need not be parsed again.
 */
size_t resp_repeats(const char *data, size_t length, size_t size);

/* Whether a word is `text`, letter case aside. */
bool word_is(struct resp_slice word, const char *text);

/* Parses a whole decimal integer; false if it is anything else. */
bool word_to_integer(struct resp_slice word, long long *out);

/* How many bytes of a client's own word an error shows. */
int word_shown(struct resp_slice word);

/* The word as a string. False if it would lose something: it is too long, or
 * has a 0. */
bool word_copy(struct resp_slice word, char *out, size_t size);

/* Writes a text in lower case, as Redis writes a command's name. */
void word_lower(const char *text, char *out, size_t size);

/* --- reply.c --- */

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
