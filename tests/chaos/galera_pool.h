/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of the Galera scenarios: a database of its own for each scenario. */
#pragma once

#include "chaos.h"
#include "support/server_galera.h"

#define GALERA_PLACE_SIZE 256

/* The settings of the backend whose brokers connect to node `first` first, and
 * the database that they need, made again. */
void galera_pool_place(struct server *const nodes[static GALERA_NODES],
                       int first, char out[static GALERA_PLACE_SIZE]);
void galera_pool_database(struct server *node);

/* Makes the database again, and writes the topologies: the even and the odd
 * brokers connect to different nodes first. */
void galera_pool_set(struct chaos *chaos,
                     struct server *nodes[static GALERA_NODES]);

/* Waits until all nodes are in one cluster, and synced. */
void galera_pool_await(struct server *nodes[static GALERA_NODES]);
