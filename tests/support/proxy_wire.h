/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection through a fault proxy: bytes both ways, answers late, in
 * drips or cut. For proxy.c, whose thread alone uses it; nothing here blocks.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "support/proxy.h"

struct wire;

/* What befalls the answers of a connection now. */
struct wire_fault {
    enum proxy_mode mode;
    int32_t amount; /* as proxy_set says */
};

/* A connection that was accepted, joined to `server`; both are its own then.
 * `server` -1: there is none, what the client says is swallowed. Ends the
 * program when out of memory. */
struct wire *wire_new(int client, int server);

/* Closes it, or resets it: unsent bytes are lost, the client sees an error. */
void wire_close(struct wire *wire);
void wire_reset(struct wire *wire);

bool wire_is_swallowed(const struct wire *wire);

/* What to poll for (client, server) before the next wire_carry, and the us by
 * which that is due in any case, INT64_MAX if nothing is. */
int64_t wire_watch(const struct wire *wire, const struct wire_fault *fault,
                   struct pollfd out[2]);

enum wire_state {
    WIRE_OPEN,
    WIRE_OVER, /* to be closed */
    WIRE_CUT   /* to be reset */
};

/* Carries what can be. `*random` is a seed, moved on where it is used. */
enum wire_state wire_carry(struct wire *wire, const struct wire_fault *fault,
                           uint64_t *random, int64_t now_us);
