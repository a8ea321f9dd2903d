/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers behind the backends: several backends may be one server, which
 * fails for all of them at once. While it is down, attempts to connect to it
 * pass a gate. Thread-safe.
 */
#pragma once

#include <pthread.h>

#include <stdbool.h>

#include "store/options.h"

#define ENDPOINT_ATTEMPT_MS 500 /* between two attempts at one that is down */

#define ENDPOINT_ADDRESS_SIZE 300

/* When a connection may be tried. Pure; the time is passed in. */
struct endpoint_gate {
    bool is_down;
    int64_t next_ms; /* no attempt before, while it is down; counted from the
                        last one, which may have found it so */
};

/* 0: go on, and this is the attempt; else when to ask again. */
int64_t endpoint_gate_enter(struct endpoint_gate *gate, int64_t now_ms);

struct endpoint {
    char address[ENDPOINT_ADDRESS_SIZE]; /* "": a store of its own */
    pthread_mutex_t lock;                /* guards the gate */
    struct endpoint_gate gate;
};

/* How the options name the server: where two are equal, it is one. "" for
 * what is no server, such as a file. */
void endpoint_address(const struct store_options *options, char *out,
                      size_t size);

/* The one of endpoints[0 ... *count - 1] that has this address, or a new one at
 * the end, where there must be room. */
struct endpoint *endpoint_find(struct endpoint *endpoints, size_t *count,
                               const struct store_options *options);

void endpoint_fini(struct endpoint *endpoint);

/* As endpoint_gate_enter. */
int64_t endpoint_enter(struct endpoint *endpoint, int64_t now_ms);

/* A connection broke, or none could be made; or one was made. */
void endpoint_note(struct endpoint *endpoint, bool is_down);
