/* SPDX-License-Identifier: Apache-2.0 */
/* A private PgBouncer. */
#pragma once

#include "support/servers.h"

/* Pools transactions for every database of that server, over `connections`
 * connections each; anybody may log in. Its own port may lead to another server
 * later, see pgbouncer_lead. */
struct server *server_pgbouncer(struct server *server, int connections);

/* Leads to another server from now on; open clients stay. */
void pgbouncer_lead(struct server *pgbouncer, struct server *server);
