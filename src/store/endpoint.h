/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers behind the backends. Several backends may be on one server, which
 * fails for all of them at once. While a server is down, a gate limits the
 * attempts to connect to it. Thread-safe.
 */
#pragma once

#include <pthread.h>

#include <stdbool.h>

#include "store/options.h"

#define ENDPOINT_ATTEMPT_MS 500 /* between two attempts, if it is down */

#define ENDPOINT_ADDRESS_SIZE 300

/* When a connection may be tried. Pure; the time is passed in. */
struct endpoint_gate {
    bool is_down;
    int64_t next_ms; /* while the server is down, no attempt before this time;
                        counted from the last attempt, which may have found it
                        down */
};

/* 0: the caller may connect, and this counts as the attempt. Otherwise the time
 * when to ask again. */
int64_t endpoint_gate_enter(struct endpoint_gate *gate, int64_t now_ms);

struct endpoint {
    char address[ENDPOINT_ADDRESS_SIZE]; /* "": a store of its own */
    pthread_mutex_t lock;                /* guards the gate */
    struct endpoint_gate gate;
};

/* The server that the options name: two backends with equal addresses are on
 * one server. "" for a store without a server, such as a file. */
void endpoint_address(const struct store_options *options, char *out,
                      size_t size);

/* The endpoint of endpoints[0 ... *count - 1] that has this address, or a new
 * one at the end, where there must be room. */
struct endpoint *endpoint_find(struct endpoint *endpoints, size_t *count,
                               const struct store_options *options);

void endpoint_fini(struct endpoint *endpoint);

/* As endpoint_gate_enter. */
int64_t endpoint_enter(struct endpoint *endpoint, int64_t now_ms);

/* Notes that a connection broke or could not be made (`is_down`), or that one
 * was made. */
void endpoint_note(struct endpoint *endpoint, bool is_down);
