/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of TLS until their handshakes are done: then they are connections.
 * Until then they hold nothing: there are so many at a time, each for so long,
 * and one step of one of them in a turn of the loop, since a step may compute
 * for a millisecond.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/connection.h"
#include "daemon/listeners/listeners.h"
#include "daemon/transport/transport.h"

struct handshakes;

/* All stay the caller's; the daemon counts those under way. NULL if memory is
 * short. */
struct handshakes *handshakes_new(struct tls_server *server,
                                  struct connections *connections,
                                  struct listeners *listeners);

/* Whether a further one may come. Else the loop looks for no client of TLS
 * until one may. */
bool handshakes_admit(struct handshakes *all);

/* Takes over what a client's transport has, and closes it if its handshake
 * fails or takes too long. Only if one may come. */
void handshakes_add(struct handshakes *all, struct transport *plain);

/* We stop: those that have failed are closed at once, the others become
 * connections as connections_finish has them. The last one that is gone breaks
 * the loop if the daemon is done. NULL is allowed, and does nothing. */
void handshakes_finish(struct handshakes *all, int64_t new_ms);

/* Closes those that are left. NULL is allowed, and does nothing. */
void handshakes_free(struct handshakes *all);
