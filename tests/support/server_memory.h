/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a private server, put back as it was: what a machine does that
 * is resumed from a snapshot. The kernel's side of it, sockets and files, stays
 * as it is, so the server must rest at both times, with the same connections to
 * it. Of the server's first process; for the main thread alone.
 */
#pragma once

#include <stdint.h>

#include "support/servers.h"

struct server_memory;

/* What it may write to. To be freed by server_memory_free, which takes NULL. */
struct server_memory *server_memory_save(struct server *server);
void server_memory_put_back(struct server *server,
                            const struct server_memory *memory);
void server_memory_free(struct server_memory *memory);

/* Writes a number wherever that other one stands; at least once. */
void server_memory_replace(struct server *server, int64_t from, int64_t to);
