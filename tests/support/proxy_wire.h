/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection through a fault proxy: carries bytes both ways, and delays,
 * drips or cuts answers. Only the thread of proxy.c uses it. Nothing here
 * blocks.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "support/proxy.h"

struct wire;

/* The fault that applies to the answers of a connection. */
struct wire_fault {
    enum proxy_mode mode;
    int32_t amount; /* see enum proxy_mode */
};

/* Connects an accepted connection with `server`, and owns both. If `server` is
 * -1, what the client sends is discarded. Aborts the program when out of
 * memory. */
struct wire *wire_new(int client, int server);

/* wire_close closes the connection. wire_reset resets it: unsent bytes are
 * lost, and the client gets an error. */
void wire_close(struct wire *wire);
void wire_reset(struct wire *wire);

bool wire_is_swallowed(const struct wire *wire);

/* Fills in what to poll (client, server) before the next wire_carry. Returns
 * the time in us at which wire_carry is due in any case; INT64_MAX if it is
 * not. */
int64_t wire_watch(const struct wire *wire, const struct wire_fault *fault,
                   struct pollfd out[2]);

enum wire_state {
    WIRE_OPEN,
    WIRE_OVER, /* close it */
    WIRE_CUT   /* reset it */
};

/* Carries the bytes that can be carried now. `*random` is the state of the
 * random generator. */
enum wire_state wire_carry(struct wire *wire, const struct wire_fault *fault,
                           uint64_t *random, int64_t now_us);
