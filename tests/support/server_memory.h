/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the memory of a private server back to an earlier state, as when a
 * machine is resumed from a snapshot. The kernel's state (sockets, files) does
 * not change, so the server must be idle both times, with the same connections.
 * Only for the server's first process. Call it from the main thread only.
 */
#pragma once

#include <stdint.h>

#include "support/servers.h"

struct server_memory;

/* Saves its writable memory. Free it by server_memory_free, for which NULL is
 * allowed. */
struct server_memory *server_memory_save(struct server *server);
void server_memory_put_back(struct server *server,
                            const struct server_memory *memory);
void server_memory_free(struct server_memory *memory);

/* Replaces the number `from` by `to` wherever it is in memory, at least
 * once. */
void server_memory_replace(struct server *server, int64_t from, int64_t to);
