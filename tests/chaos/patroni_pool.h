/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of the Patroni scenarios. */
#pragma once

#include "chaos.h"
#include "support/server_patroni.h"

#define PATRONI_POOL_DATABASE "postgres"

/* Empties the database of a settled cluster, and writes the topologies: the
 * even and the odd brokers name the nodes in different orders. */
void patroni_pool_set(struct chaos *chaos, struct patroni *patroni);

/* The same for a cluster that all scenarios of a program share. */
struct patroni *patroni_pool_shared(struct chaos *chaos);
