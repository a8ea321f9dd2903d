/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of TLS until their handshakes are done; then they become connections.
 * To bound what such a client can use up, the number of handshakes and the time
 * of each are limited, and each turn of the loop does one step of one
 * handshake, since a step may compute for a millisecond.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/connection.h"
#include "daemon/listeners/listeners.h"
#include "daemon/transport/transport.h"

struct handshakes;

/* All arguments stay the caller's. The daemon's handshake_count counts the
 * handshakes in progress. Returns NULL if memory is short. */
struct handshakes *handshakes_new(struct tls_server *server,
                                  struct connections *connections,
                                  struct listeners *listeners);

/* Whether a further handshake may begin. If not, the loop stops accepting
 * clients of TLS until one may. */
bool handshakes_admit(struct handshakes *all);

/* Takes over a client's transport, and closes it if the handshake fails or
 * takes too long. To be called only if handshakes_admit said true. */
void handshakes_add(struct handshakes *all, struct transport *plain);

/* The daemon stops: handshakes that have failed are closed at once, the others
 * become connections, with connections_finish applied. The last one to end
 * breaks the loop if the daemon is done. NULL is allowed, and does nothing. */
void handshakes_finish(struct handshakes *all);

/* Closes all that are left. NULL is allowed, and does nothing. */
void handshakes_free(struct handshakes *all);
