/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP relay on loopback that counts round trips: how often the client sent
 * something after the server had answered. For one connection at a time. */
#pragma once

#include <stdint.h>

struct relay;

/* Relays from a port of its own to `port`; NULL on failure. */
struct relay *relay_new(int32_t port);

/* After the client has closed its connection. */
void relay_free(struct relay *relay);

int32_t relay_port(const struct relay *relay);

/* Round trips since the beginning. */
int64_t relay_trips(const struct relay *relay);
