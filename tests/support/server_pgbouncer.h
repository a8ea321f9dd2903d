/* SPDX-License-Identifier: Apache-2.0 */
/* A private PgBouncer. */
#pragma once

#include "support/servers.h"

/* Pools transactions for every database of `server`, over `connections`
 * connections each. Anybody may log in. pgbouncer_lead may direct it to another
 * server later. */
struct server *server_pgbouncer(struct server *server, int connections);

/* Directs it to another server from now on. Clients stay connected. */
void pgbouncer_lead(struct server *pgbouncer, struct server *server);
