/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that saturates a server: so many connections, so many requests in
 * flight on each, one epoll thread that only counts line ends. A closed loop:
 * it measures how much, not how long.
 */
#pragma once

#include <stdint.h>

struct saturate_options {
    const char *address; /* "tcp:PORT", "tls:PORT" or "unix:PATH" */
    const char *key;
    int numbers; /* of one request: 1 is INCR, more SEQ.NEXT COUNT */
    int connections;
    int pipeline;
    double seconds;
};

struct saturated {
    double requests_s;
    double p50_us; /* of a batch, one pipeline */
    double p99_us;
    double p999_us;
};

/* On the calling thread. What fails ends the program. */
struct saturated saturate(const struct saturate_options *options);
