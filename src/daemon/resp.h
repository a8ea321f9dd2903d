/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of the Redis protocol: an array of bulk strings, or an inline
 * command (words between spaces, no quoting). Pure: bytes in, struct out; it
 * allocates nothing, whatever a client claims to send.
 */
#pragma once

#include <stddef.h>

#define RESP_ARGUMENTS_MAX 64
#define RESP_BULK_MAX      65536  /* bytes of one argument */
#define RESP_INLINE_MAX    4096   /* bytes of an inline command */
#define RESP_REQUEST_MAX   131072 /* bytes of a request in all */

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
 * Parses the request that `data` begins with. The result does not depend on
 * where the input was cut: more bytes change nothing but RESP_PARTIAL, which
 * is never answered to RESP_REQUEST_MAX bytes.
 */
enum resp_result resp_parse(const char *data, size_t length,
                            struct resp_request *out);

/*
 * How often the request of `size` bytes that `data` begins with stands whole
 * behind itself, without a gap. A pipeline is mostly one request many times,
 * which then need not be parsed again.
 */
size_t resp_repeats(const char *data, size_t length, size_t size);
