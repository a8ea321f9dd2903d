/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fault proxy: a thread of the test program between a client and a server,
 * over TCP or unix sockets. Its faults can be changed while connections are
 * open. The same seed and the same traffic give the same cuts.
 *
 * A failure of these functions fails the test. Call them from the main thread
 * only.
 */
#pragma once

#include <stdint.h>

#include "support/netns.h"

enum proxy_mode {
    PROXY_PASS,
    PROXY_REFUSE,     /* nobody listens; open connections are reset */
    PROXY_RESET,      /* open and new connections are reset */
    PROXY_BLACK_HOLE, /* Open connections freeze and continue later. New ones
                         get no answer, and are reset later. */
    PROXY_DELAY,      /* each answer is `amount` ms late */
    PROXY_DRIP,       /* answers arrive a byte every `amount` ms, at least 1 */
    PROXY_CUT /* one in `amount` answers, at random, is cut by a reset */
};

/* A unix socket or a TCP port. */
struct proxy_end {
    const char *path;    /* NULL: use the port */
    const char *address; /* NULL: 127.0.0.1 */
    int32_t port;        /* if it listens, 0: a free port */
};

/* The strings are used in proxy_new only. */
struct proxy_options {
    struct proxy_end from; /* where clients connect */
    struct proxy_end to;   /* the server, which need not exist */
    /* Where it listens; NULL: in the program's own namespace. */
    const struct netns *netns;
    uint64_t seed;
};

struct proxy;

/* Passes everything on return. */
struct proxy *proxy_new(const struct proxy_options *options);

/* Closes all connections. NULL is allowed. */
void proxy_free(struct proxy *proxy);

int32_t proxy_port(const struct proxy *proxy);

/* In force on return, for open and for new connections. */
void proxy_set(struct proxy *proxy, enum proxy_mode mode, int32_t amount);

/* Alternates: that mode for `span_ms`, then no fault for as long, and so on. */
void proxy_flap(struct proxy *proxy, enum proxy_mode mode, int32_t amount,
                int32_t span_ms);

/* Totals so far: connections accepted, and answers cut. */
int64_t proxy_accepted(const struct proxy *proxy);
int64_t proxy_cuts(const struct proxy *proxy);
