/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers behind the backends: several backends may be one server, which
 * fails for all of them at once, and is not to be flooded with attempts to
 * connect while it is down. Thread-safe.
 */
#pragma once

#include <pthread.h>

#include "ha/ha.h"

#define SERVER_ATTEMPT_MS 500 /* between two attempts at one that is down */

#define SERVER_ADDRESS_SIZE 300

/* When a connection may be tried. Pure; the time is passed in. */
struct server_gate {
    bool is_down;
    int64_t next_ms; /* no attempt before, while it is down; counted from the
                        last one, which may have found it so */
};

/* 0: go on, and this is the attempt; else when to ask again. */
int64_t server_gate_enter(struct server_gate *gate, int64_t now_ms);

struct worker;

struct server {
    char address[SERVER_ADDRESS_SIZE]; /* "": a store of its own */
    pthread_mutex_t lock;              /* guards the gate */
    struct server_gate gate;
    struct worker *first; /* its workers; constant after start */
};

/* How the options name the server: where two are equal, it is one. "" for
 * what is no server, such as a file. */
void server_address(const struct ha_backend_options *options, char *out,
                    size_t size);

/* The one of servers[0 ... *count - 1] that has this address, or a new one at
 * the end, where there must be room. */
struct server *server_find(struct server *servers, size_t *count,
                           const struct ha_backend_options *options);

void server_fini(struct server *server);

/* As server_gate_enter. */
int64_t server_enter(struct server *server, int64_t now_ms);

/* A connection broke, or none could be made; or one was made. */
void server_note(struct server *server, bool is_down);
