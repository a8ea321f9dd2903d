/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fault proxy for tests: a thread of the test program between a client and a
 * server, over TCP or unix sockets, whose faults are switched while
 * connections are open. The same seed and the same traffic give the same cuts.
 *
 * What must not fail here fails the test; for its main thread alone.
 */
#pragma once

#include <stdint.h>

#include "support/netns.h"

enum proxy_mode {
    PROXY_PASS,
    PROXY_REFUSE,     /* nobody listens; what was open is reset */
    PROXY_RESET,      /* what was open, and what comes, is reset */
    PROXY_BLACK_HOLE, /* what was open freezes, to go on later; what comes is
                         swallowed without an answer, and reset later */
    PROXY_DELAY,      /* each answer comes `amount` ms later */
    PROXY_DRIP,       /* answers come a byte each `amount` ms, at least 1 */
    PROXY_CUT /* one answer in `amount`, at random, is reset in its midst */
};

/* One of the two: a unix socket, or a port. */
struct proxy_end {
    const char *path;    /* NULL: the port */
    const char *address; /* NULL: 127.0.0.1 */
    int32_t port;        /* of where it listens, 0: a free one */
};

/* Strings are read in proxy_new only. */
struct proxy_options {
    struct proxy_end from;     /* where clients find it */
    struct proxy_end to;       /* the server, which need not be there */
    const struct netns *netns; /* listens in there; NULL: here */
    uint64_t seed;
};

struct proxy;

/* Passes all when it returns. */
struct proxy *proxy_new(const struct proxy_options *options);

/* Closes all connections. Takes NULL. */
void proxy_free(struct proxy *proxy);

int32_t proxy_port(const struct proxy *proxy);

/* In force on return, for what is open and for what comes. */
void proxy_set(struct proxy *proxy, enum proxy_mode mode, int32_t amount);

/* That mode for `span_ms`, then none as long, and so on. */
void proxy_flap(struct proxy *proxy, enum proxy_mode mode, int32_t amount,
                int32_t span_ms);

/* Since the beginning: connections accepted, and answers cut. */
int64_t proxy_accepted(const struct proxy *proxy);
int64_t proxy_cuts(const struct proxy *proxy);
