/* SPDX-License-Identifier: Apache-2.0 */
/* One connection that posts JSON with libcurl, each post with a time limit. It
 * knows whether a post that failed may have reached the server. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#include "backends/etcd/text.h"

enum etcd_outcome {
    ETCD_ANSWERED, /* http->code and http->answer are set */
    ETCD_NOT_SENT, /* the server cannot have read the post */
    ETCD_LOST,     /* it may have been carried out */
    ETCD_NO_MEMORY
};

struct etcd_http {
    void *easy;      /* libcurl's */
    void *multi;     /* holds the connections */
    long code;       /* HTTP's, of the last answer */
    char error[256]; /* why there was no answer */
    struct etcd_text answer;
};

/* libcurl and its version. Static. */
const char *etcd_http_library(void);

/* Sets up TLS from the options, which must outlive it. False when out of memory
 * or if libcurl lacks a feature; the caller must call etcd_http_close in any
 * case. */
bool etcd_http_open(struct etcd_http *http,
                    const struct seqb_backend_options *options);

/* `token` is sent in the header Authorization; "": none. */
enum etcd_outcome etcd_http_post(struct etcd_http *http, const char *url,
                                 const char *token, const char *body,
                                 int64_t budget_ms);

void etcd_http_close(struct etcd_http *http);
