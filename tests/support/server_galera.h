/* SPDX-License-Identifier: Apache-2.0 */
/* A private MariaDB Galera cluster for tests: three nodes on loopback, which
 * are served by mariadb_execute and its kin, each by its own socket. */
#pragma once

#include "support/lan.h"
#include "support/server_mariadb.h"

#define GALERA_NODES 3

/* Skips or fails the test if a part of it is not installed. */
void galera_require(void);
bool galera_is_installed(void);

/* Starts a cluster whose nodes are all synced; server_free each. `args` as
 * server_mariadb, of each node. */
void server_galera_cluster(const char *const *args,
                           struct server *nodes[static GALERA_NODES]);

/* The same without `args`, and with a node on each host of the network. */
void server_galera_cluster_on(const struct lan *lan,
                              struct server *nodes[static GALERA_NODES]);

/* Starts a node that was stopped as the first of its cluster, from the state
 * that its files have. server_start lets one join. */
void galera_bootstrap(struct server *node);

/* Returns when the status variable `name` of the node is `value`. */
void galera_await(struct server *node, const char *name, const char *value);

/* A node that is stopped gets all its files from another one at its start: its
 * own may be ahead of a cluster that was bootstrapped since. */
void galera_drop_files(struct server *node);
