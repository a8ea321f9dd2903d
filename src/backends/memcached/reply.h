/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a memcached server's bytes into replies: one line, and the value that
 * follows it. The caller interprets the reply. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define MEMCACHED_LINE_MAX  1024            /* including its end */
#define MEMCACHED_VALUE_MAX SEQB_CLAIM_SIZE /* longer values are skipped */

enum memcached_parsed {
    MEMCACHED_PARTIAL, /* more bytes are needed */
    MEMCACHED_COMPLETE,
    MEMCACHED_BROKEN /* not a valid reply */
};

enum memcached_code {
    MEMCACHED_VALUE,      /* VA */
    MEMCACHED_DONE,       /* HD */
    MEMCACHED_ABSENT,     /* EN, NF */
    MEMCACHED_NOT_STORED, /* NS: the item exists already */
    MEMCACHED_CHANGED,    /* EX: the item's version has changed */
    MEMCACHED_ERROR,      /* ERROR, CLIENT_ERROR ..., SERVER_ERROR ... */
    MEMCACHED_LINE        /* anything else: a line of an older command */
};

struct memcached_reply {
    enum memcached_code code;
    const char *text; /* inside the input, without a final 0: the value, or the
                         line without its end; NULL: a value that is too long */
    size_t length;    /* of the text, or of the value that is too long */
    size_t size;      /* bytes of the input that the reply takes */
    size_t rest;      /* further bytes that belong to the reply: a value that is
                         too long, else 0 */
    bool has_flags;
    bool has_cas;
    uint32_t flags; /* the item's client flags */
    uint64_t cas;   /* the item's version */
};

/* Parses the reply at the begin of `length` bytes. `*out` may be changed
 * whatever the function returns. */
enum memcached_parsed memcached_reply_parse(const char *data, size_t length,
                                            struct memcached_reply *out);

/* Whether the text begins with that word, followed by the end or a space. */
bool memcached_reply_begins(const struct memcached_reply *reply,
                            const char *word);
