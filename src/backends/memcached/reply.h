/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a memcached server's bytes apart into replies: one line, and the
 * value that follows it. What a reply means is for who asked. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define MEMCACHED_LINE_MAX  1024            /* with its end */
#define MEMCACHED_VALUE_MAX SEQB_CLAIM_SIZE /* longer ones are passed over */

enum memcached_parsed {
    MEMCACHED_PARTIAL, /* more bytes are needed */
    MEMCACHED_COMPLETE,
    MEMCACHED_BROKEN /* no server says that */
};

enum memcached_code {
    MEMCACHED_VALUE,      /* VA */
    MEMCACHED_DONE,       /* HD */
    MEMCACHED_ABSENT,     /* EN, NF */
    MEMCACHED_NOT_STORED, /* NS: it is there already */
    MEMCACHED_CHANGED,    /* EX: it is another one by now */
    MEMCACHED_ERROR,      /* ERROR, CLIENT_ERROR ..., SERVER_ERROR ... */
    MEMCACHED_LINE        /* anything else: a line of the older commands */
};

struct memcached_reply {
    enum memcached_code code;
    const char *text; /* inside the input, no 0 after it: the value, or the
                         line without its end; NULL: a value that is too long */
    size_t length;    /* of the text, or of the value too long to be shown */
    size_t size;      /* bytes of the input that the reply takes */
    size_t rest;      /* bytes after those that still belong to it: a value
                         that is too long, else 0 */
    bool has_flags;
    bool has_cas;
    uint32_t flags; /* the item's client flags */
    uint64_t cas;   /* the item's version */
};

/* The reply at the begin of `length` bytes. `*out` may be touched whatever it
 * returns. */
enum memcached_parsed memcached_reply_parse(const char *data, size_t length,
                                            struct memcached_reply *out);

/* Whether the text begins with that word: it ends there, or a space
 * follows. */
bool memcached_reply_begins(const struct memcached_reply *reply,
                            const char *word);
